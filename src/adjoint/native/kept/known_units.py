"""Units that are found by the function that they were made of: then no pass runs, and Numba's registries stay unread.

An entry of the cache names a unit. It is itself named by all that decides the text of the unit: the function, the types
of its arguments, the options of the compiler, the sources of Adjoint and the versions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjoint.native.compile.written_units import Loaded, Written
from adjoint.native.kept import files as cache
from adjoint.native.kept.versions import circumstances, digest, own_circumstances
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.native.compile.signatures import Agreement


def entry_of(
    name: str,
    found: str | None,
    signature: Sequence[Any],
    agreeing: Sequence[Agreement],
    flags: str,
    target: Target,
    own: bool = False,
) -> str | None:
    """The name of the entry for a function of this name and fingerprint; None where there can be none.

    ``own``: of object code that is Adjoint's own, not Numba's.
    """
    if found is None or target.watch is not None:
        return None
    options = (target.machine, repr(target.checked), target.threads, sorted(target.skipped), flags)
    around = own_circumstances() if own else circumstances()
    facts = (found, tuple(map(str, signature)), agreeing, options, *around, digest())
    ending = cache.OBJECT if own else cache.ENTRY
    return f"{name[:60]}_{hashlib.sha256(repr(facts).encode()).hexdigest()[:24]}{ending}"


def known_unit(entry: str, signature: Sequence[Any]) -> Loaded | None:
    """The unit that an entry names, if it and its machine code are there."""
    folder = cache.directory()
    content = None if folder is None else cache.read(folder / entry)
    if folder is None or content is None:
        return None
    try:
        stem, name, places = json.loads(content)
        path = Path(folder, f"{stem}.py")
        text = cache.read(path)
        if text is None:
            return None
        unit = Written(text.decode(), name, None if places is None else tuple(places))
    except (ValueError, TypeError):  # damaged
        return None
    if unit.stem != stem:
        return None
    taken = signature if unit.places is None else [signature[place] for place in unit.places]
    return unit.known(path, taken)


def keep_unit(entry: str, unit: Written) -> None:
    """Notes which unit was made for a function."""
    cache.keep(entry, json.dumps([unit.stem, unit.name, unit.places]))
