"""Makes a checkout testable without installing it; every pass is verified."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("ADJOINT_CHECK", "1")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes that tests start would compile all modules anew
SOURCE = str(Path(__file__).resolve().parents[1] / "src")
if SOURCE not in sys.path:
    sys.path.insert(0, SOURCE)

gc.set_threshold(50_000, 20, 100)  # what compilations leave is little; the searches for it took a twentieth of the time


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """Machine code is kept for the tests of one module, and for nobody else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADJOINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def machine_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives that are made with ``native=True`` meanwhile run as Python, in the form for machine code."""
    from native import machine_form

    machine_form.use(monkeypatch)


@pytest.fixture(scope="module", autouse=True)
def objects_of_earlier_modules_are_not_searched() -> Iterator[None]:
    """What modules before made stays: searching all of it for garbage takes seconds, in each test that asks."""
    yield
    gc.collect()
    gc.freeze()
