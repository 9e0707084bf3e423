"""Places where objects are made that must exist at run time."""

from __future__ import annotations

from adjoint.frontend.interpreter.state.attempts import Settings
from adjoint.frontend.interpreter.values import RuntimeSites, Site


def test_a_place_that_is_reached_by_many_ways_counts_as_a_whole() -> None:
    sites = RuntimeSites()
    ways = [Site((7, way)) for way in range(RuntimeSites.MANY + 1)]
    *found, last = ways
    sites.update(found[:-1])
    assert last not in sites
    assert not set(ways) <= sites
    sites.add(found[-1])
    assert last in sites
    assert set(ways) <= sites
    assert Site((8, 0)) not in sites
    sites.clear()
    assert found[0] not in sites


def test_arguments_are_told_apart_however_many_there_are() -> None:
    sites = RuntimeSites()
    sites.update(Site(("input", "argument", place)) for place in range(2 * RuntimeSites.MANY))
    assert Site(("input", "argument", 99)) not in sites


def test_unrolling_forgets_all_that_was_known_of_objects() -> None:
    """What had to exist before its ``__init__`` ran, in a loop that is unrolled from now on, may not have to."""
    settings, made = Settings(), Site((1, None))
    settings.runtime_sites.add(made)
    settings.bare_sites.add(made)
    assert settings.unroll(Site((2, None)))
    assert made not in settings.runtime_sites and made not in settings.bare_sites
