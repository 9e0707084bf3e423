"""Searches for garbage: none while a derivative is compiled, and what is needed for good is not looked through."""

import gc

import pytest

from adjoint.gc_pause import Compilation, Uncollected


@pytest.fixture(autouse=True, scope="module")
def nothing_is_frozen():
    gc.unfreeze()
    yield
    gc.freeze()  # what earlier modules made is not searched again


class Link:
    """An object that nothing but a search for garbage finds, once nobody refers to it."""

    def __init__(self):
        self.itself = self


def searched(generation):
    """How many objects of this age there are."""
    return len(gc.get_objects(generation))


def test_no_search_interrupts_and_searches_go_on_afterwards():
    gc.enable()
    with Uncollected():
        assert not gc.isenabled()
        with Uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_the_first_compilation_makes_is_old_at_once(monkeypatch):
    gc.collect(1)  # none is due for a while
    monkeypatch.setattr(Compilation, "_first", True)
    with Compilation():
        made = [Link() for _ in range(100)]
    assert not Compilation._first
    assert searched(0) < 100 and gc.isenabled()
    with Compilation():
        more = [Link() for _ in range(100)]
    assert any(link in more for link in gc.get_objects(0) + gc.get_objects(1) if type(link) is Link)
    assert len(made) == 100


def test_what_somebody_keeps_frozen_stays_so(monkeypatch):
    monkeypatch.setattr(Compilation, "_first", True)
    gc.freeze()
    try:
        with Compilation():
            pass
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
