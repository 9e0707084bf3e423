"""A later process finds machine code by the function that it was made of, and only if nothing has changed."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch import specialize
from adjoint.ir.fingerprint import Nameless, fingerprint
from adjoint.ir.nodes import Block, Call, Const, Function, Return, Var
from adjoint.ir.types import FLOAT, INT, Array, Storage
from adjoint.records import replace
from adjoint.runtime.arithmetic import numbers
from adjoint.target import MACHINE
from sampling import IN_DEPTH

pytest.importorskip("numba")

from adjoint.native.compile.signatures import Agreement
from adjoint.native.kept import files as cache
from adjoint.native.kept import known_units, versions
from adjoint.native.kept import machine_code as kept_code

PROGRAM = """
import json, sys
import numpy as np
import adjoint as ad
from helper import slope

def cost(x):
    total = 0.0
    for i in range(len(x)):
        total += slope(x[i])
    return total

found = ad.grad(cost, native="strict")(np.array([1.0, 2.0]))
seldom = ("adjoint.native.legalize.form", "adjoint.native.runtime.declarations")
loaded = [name for name in seldom if name in sys.modules]
print(json.dumps([found.tolist(), loaded]))
"""


@pytest.fixture
def run(tmp_path):
    """Runs the program, whose function calls one of another file; its result, and what it had to load."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def started(helper: str, **settings: str) -> subprocess.Popen:
        (tmp_path / "helper.py").write_text(helper)
        path = os.pathsep.join([str(tmp_path), *sys.path])
        places = {"ADJOINT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [sys.executable, str(tmp_path / "program.py")],
            env={**os.environ, "ADJOINT_SKIP": "llvm", **places, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finished(helper: str, **settings: str) -> tuple[list[float], list[str]]:
        process = started(helper, **settings)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return tuple(json.loads(out.splitlines()[-1]))

    finished.started = started
    finished.folder = tmp_path / "cache"
    return finished


SQUARE = "def slope(x):\n    return x * x\n"


def test_a_later_process_runs_no_pass_and_reads_no_registry(run):
    (first, loaded), (second, none) = run(SQUARE), run(SQUARE)
    assert first == second == [2.0, 4.0] and loaded and not none


@IN_DEPTH
def test_what_is_called_counts_and_where_it_stands_does_not(run):
    run(SQUARE)
    assert run(f"# further down\n\n{SQUARE}") == ([2.0, 4.0], [])
    found, loaded = run(SQUARE.replace("x * x", "5.0 * x"))
    assert found == [5.0, 5.0] and loaded


@IN_DEPTH
def test_options_count(run):
    run(SQUARE)
    _, loaded = run(SQUARE, ADJOINT_SKIP="llvm,vector-math")
    assert loaded
    _, loaded = run(SQUARE, NUMBA_LOOP_VECTORIZE="0")
    assert loaded
    assert run(SQUARE) == ([2.0, 4.0], [])


def _cube(x):
    return x * x * x


@pytest.mark.usefixtures("by_numba")
def test_what_is_harmed_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    harms = (
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[::-1]),
        lambda path: path.write_bytes(path.read_bytes()[:25]),
        lambda path: path.chmod(0o666),
    )
    for pattern in ("*.unit", "*.py", "__pycache__/*.nbc", "__pycache__/*.nbi"):
        for harm in harms:
            specialize.forget()
            assert ad.grad(_cube, native="strict")(2.0) == 12.0
            (path,) = tmp_path.glob(pattern)
            harm(path)
            specialize.forget()
            assert ad.grad(_cube, native="strict")(2.0) == 12.0


def test_the_sources_of_adjoint_and_the_versions_count(monkeypatch):
    found = fingerprint(_function(numbers.quotient))
    names = [known_units.entry_of("f", found, ("float64",), (), "", MACHINE)]
    monkeypatch.setattr(known_units, "digest", lambda: "another")
    names.append(known_units.entry_of("f", found, ("float64",), (), "", MACHINE))
    monkeypatch.setattr(known_units, "circumstances", lambda: ("numba 0",))
    names.append(known_units.entry_of("f", found, ("float64",), (), "", MACHINE))
    names.append(known_units.entry_of("f", found, ("float32",), (), "", MACHINE))
    names.append(known_units.entry_of("f", found, ("float32",), (Agreement((1, 0), (0, 0), 0),), "", MACHINE))
    names.append(known_units.entry_of("f", found, ("float64",), (), "fastmath=True", MACHINE))
    names.append(known_units.entry_of("f", found, ("float64",), (), "", replace(MACHINE, threads=2)))
    names.append(known_units.entry_of("f", found, ("float64",), (), "", replace(MACHINE, skipped=frozenset({"a"}))))
    assert len(set(names)) == len(names)


def test_a_change_of_any_module_changes_the_digest(tmp_path, monkeypatch):
    for folder in ("native", "frontend"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.py").write_text("x = 1\n")
    monkeypatch.setattr(versions, "_PACKAGE", tmp_path)
    monkeypatch.setattr(versions, "_content", versions._content.__wrapped__)
    fresh = versions.digest.__wrapped__
    whole, part = fresh(), fresh("native")
    (tmp_path / "frontend" / "one.py").write_text("x = 2\n")
    assert fresh() != whole and fresh("native") == part
    (tmp_path / "frontend" / "one.py").rename(tmp_path / "frontend" / "two.py")
    assert len({whole, fresh(), fresh("native")}) == 3


def _function(callee, *constants, type_=FLOAT, hint="x"):
    x, y = Var(hint, type_), Var("y", type_)
    call = Call((y,), callee, (x, *map(Const, constants)))
    return Function("f", (x,), Block((call,), Return((y,))))


def test_fingerprints():
    memory = Storage()
    vector = Array(np.dtype(float), ("any",))
    functions = [
        *(_function(numbers.quotient, value) for value in (0.0, -0.0, 0, False, 0j, "0", b"0", None, ..., 1e-300)),
        *(_function(numbers.quotient, value) for value in (np.float64(0), np.float32(0), (0,), (0, 0), ((0,), 0))),
        *(_function(numbers.quotient, value) for value in (float, np.float64, np.dtype("f8"), np.dtype(">f8"), np.add)),
        _function(numbers.quotient, float("nan")),
        _function(numbers.product),
        _function(list.append),
        _function(np.ndarray.copy),
        _function(np.linalg.norm),
        _function(numbers.quotient, type_=INT),
        _function(numbers.quotient, hint="z"),
        _function(numbers.quotient, type_=vector),
        _function(numbers.quotient, type_=Array(np.dtype(float), ("one",))),
        _function(numbers.quotient, type_=Array(np.dtype(float), ("any",), Storage(written=True))),
        replace(_function(numbers.quotient), name="g"),
    ]
    found = [fingerprint(function) for function in functions]
    assert len(set(found)) == len(found)
    assert fingerprint(_function(numbers.quotient, 0.0)) == found[0]
    x, y = Var("x", Array(np.dtype(float), ("any",), memory)), Var("y", vector)
    z = Var("y", Array(np.dtype(float), ("any",), memory))
    apart, together = (Function("f", (x, last), Block((), Return(()))) for last in (y, z))
    assert fingerprint(apart) != fingerprint(together)
    marks = [None, frozenset(), frozenset({memory}), frozenset({vector.storage})]
    assert len({fingerprint(apart, handed) for handed in marks}) == 4


@pytest.mark.parametrize("value", [lambda x: x, test_fingerprints, object(), {1: 2}.keys(), np.zeros(2)])
def test_what_no_name_stands_for_has_no_fingerprint(value):
    with pytest.raises(Nameless):
        fingerprint(_function(numbers.quotient, value))


def test_registries_are_read_where_machine_code_needs_what_they_bring(monkeypatch):
    from numba.core.registry import cpu_target

    assert cpu_target.target_context
    read = []

    class Context:
        def refresh(self):
            read.append(True)

    monkeypatch.setattr(kept_code.CompileResultCacheImpl, "rebuild", lambda *_: "code")
    place = kept_code._Place.__new__(kept_code._Place)
    assert place.rebuild(Context(), (["NRT_Free", "numba_xxgemm", "memcpy"], ())) == "code" and not read
    assert place.rebuild(Context(), (["no_such_function_of_anybody"], ())) == "code" and read


@IN_DEPTH
def test_a_process_that_is_killed_leaves_nothing_that_harms(run):
    process = run.started(SQUARE)
    for _ in range(3000):
        if list(run.folder.glob("*.py")) or process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert run(SQUARE)[0] == [2.0, 4.0]
    assert run(SQUARE) == ([2.0, 4.0], [])


@IN_DEPTH
def test_two_processes_at_once(run):
    running = [run.started(SQUARE) for _ in range(2)]
    for process in running:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0 and json.loads(out.splitlines()[-1])[0] == [2.0, 4.0], err
    assert run(SQUARE) == ([2.0, 4.0], [])


@pytest.mark.usefixtures("by_numba")
def test_entries_are_removed_with_what_they_name(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    ad.grad(lambda x: x * x * 7.0, native="strict")(3.0)
    assert list(tmp_path.glob("*.unit")) and len(cache.entries()) == 1
    assert cache.clear() == 1 and not list(tmp_path.glob("*.*"))
