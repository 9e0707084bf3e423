"""Makes a checkout testable without installing it; every pass is verified."""

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

os.environ.setdefault("ADJOINT_CHECK", "1")  # it counts when Adjoint is imported: by the next line, at the latest
import sampling

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes that tests start would compile all modules anew
SOURCE = str(Path(__file__).resolve().parents[1] / "src")
if SOURCE not in sys.path:
    sys.path.insert(0, SOURCE)

gc.set_threshold(50_000, 20, 100)  # what compilations leave is little; the searches for it took a twentieth of the time


_CACHE = "ADJOINT_CACHE_DIR"


def pytest_configure(config: pytest.Config) -> None:
    """Machine code is kept for one run, in one place for all of its processes; unless somebody names another."""
    if _CACHE not in os.environ:
        os.environ[_CACHE] = tempfile.mkdtemp(prefix="adjoint_tests_")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(_CACHE), ignore_errors=True))


def pytest_report_header() -> str:
    """Which share of the tests runs: `ADJOINT_TESTS_OF` asks for the same one again."""
    return "all variants of tests" if sampling.THOROUGH else f"variants of tests: those of {sampling.DAY or 'no day'}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what a run takes a share of; whoever names single tests gets them, who names files all tests."""
    if any("::" in argument for argument in config.args):
        return
    named = {(config.invocation_params.dir / argument).resolve() for argument in config.args}
    files = {item.nodeid.partition("::")[0] for item in items if item.path in named}
    out = sampling.left_out([item.nodeid for item in items if item.get_closest_marker("each_time") is None], files)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in out])
    items[:] = [item for item in items if item.nodeid not in out]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, Any, Any]:
    """Modules of tests are collected as such alone: one of doctests that cannot be imported would be left out."""
    found = yield
    if not file_path.name.startswith("test_"):
        return found
    return [each for each in found if not isinstance(each, DoctestModule)]


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
