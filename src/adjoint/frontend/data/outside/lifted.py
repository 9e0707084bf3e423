"""What a function finds outside of itself and writes: objects, lists, dicts and arrays become hidden arguments.

That is lambda lifting. What is captured and only read is entered where it is looked up first, and is the same on every
path. What is written is entered before anything runs, as arguments are, and is asked at each call whether it shares
memory with others. What is put there are plain values, as the function itself would put them.
"""

from __future__ import annotations

from adjoint.frontend.entry.captured import Path
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Site


def way_to(lo: Lowerer, site: Site) -> Path | None:
    """How what lies at a place was captured, by identities; None for arguments, and for what the function makes."""
    if site.place[:1] != ("input",) or site.place[1:2] == ("argument",):
        return None
    place = site.place[1:]
    ways = (place[:count] for count in range(1, len(place) + 1))
    return next((way for way in ways if way in lo.run_data.ways), None)


def lift(lo: Lowerer, site: Site) -> bool:
    """Has what lies at a place be an argument from the next attempt on, if it was captured; whether that is new."""
    way = way_to(lo, site)
    if way is None or way in lo.settings.lifted:
        return False
    lo.settings.lifted[way] = lo.run_data.ways[way]
    return True
