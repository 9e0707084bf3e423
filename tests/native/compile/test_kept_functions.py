"""Functions that units call are compiled once for all processes, under names that tell them apart."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")

from numba import njit
from numba.core import types
from numba.extending import register_jitable

from adjoint.ir.fingerprint import Nameless
from adjoint.native.kept import functions, versions
from adjoint.native.runtime.overloads.general import _made
from adjoint.runtime.array_functions import plain
from sampling import IN_DEPTH

PROGRAM = """
import json, math, sys
import numpy as np
import adjoint as ad
from adjoint.native.kept import functions

FACTOR = 1.0
found = {True: [], False: []}
read = functions._Cache.load_overload
def noted(cache, signature, context):
    result = read(cache, signature, context)
    found[result is not None].append(cache._dispatcher.py_func.__qualname__)
    return result
functions._Cache.load_overload = noted

def one(a, b):
    c = a @ b
    return np.sum(c * c) + np.max(a)

def other(a, b):
    total = 0.0
    for i in range(len(a)):
        total += np.sum((a @ b)[i]) + np.max(a) * np.linalg.det(a)
    return total

def law(a, b):
    if b < 0.0:
        raise ValueError("b must be positive")
    p = a * b + math.sin(a) * b
    q = p * p - math.cos(p) * a
    r = q * a + p / (1.0 + b * b)
    return math.exp(-r * r) * q + FACTOR * a

def caller(a, b):
    return law(a, b) * law(a * b, 2.0) + law(law(a, b) ** 2, 1.5)

def other_caller(a, b):
    total = 0.0
    for k in (0.5, 1.0, 1.5):
        total += law(a * k, b) * law(b, k)
    return total

def careless_caller(a, b):
    return law(a, b) + law(b, a * a) + law(b, -a)

function = globals()[sys.argv[1]]
args = np.arange(4.0).reshape(2, 2), np.arange(4.0).reshape(2, 2) + 2.0
if "caller" in sys.argv[1]:
    args = 0.3, 0.4
if sys.argv[1] == "careless_caller":
    try:
        ad.grad(function, (0, 1), native="strict")(*args)
    except ValueError as error:
        assert str(error) == "b must be positive"
        print(json.dumps([found[True], found[False]]))
        sys.exit()
native = ad.grad(function, (0, 1), native="strict")(*args)
plain = ad.grad(function, (0, 1))(*args)
assert all(np.allclose(mine, theirs) for mine, theirs in zip(native, plain)), (native, plain)
print(json.dumps([found[True], found[False]]))
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    places = {"ADJOINT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}

    def finished(name: str, **settings: str) -> tuple[list[str], list[str]]:
        process = subprocess.run(
            [sys.executable, str(tmp_path / "program.py"), name],
            env={**os.environ, "ADJOINT_SKIP": "llvm", **places, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stderr
        read, missing = json.loads(process.stdout.splitlines()[-1])
        return read, missing

    finished.folder = tmp_path / "cache"
    return finished


@IN_DEPTH
def test_other_programs_find_them(run):
    read, missing = run("one")
    assert "dot_2_impl.<locals>.<lambda>" in missing and "ol_max.<locals>.impl" in missing
    read, missing = run("other")
    assert "dot_2_impl.<locals>.<lambda>" in read and "ol_max.<locals>.impl" in read and missing
    for path in run.folder.glob("*.unit"):
        path.unlink()
    kept = sorted(run.folder.glob("function_*"))
    for place, path in enumerate(kept):
        path.write_bytes(path.read_bytes()[:50] if place % 2 else b"")
    for path in (run.folder / "__pycache__").glob("*"):
        path.unlink()
    read, missing = run("other")
    assert "dot_2_impl.<locals>.<lambda>" in missing
    kept[0].chmod(0o666)
    run("one")


@IN_DEPTH
def test_functions_of_units_are_found_by_other_programs(run):
    """What stays a function is compiled once, as long as its text is what it was."""
    _, missing = run("caller", ADJOINT_INLINE="2")
    own = {name for name in missing if name.startswith("law")}
    assert own
    read, missing = run("other_caller", ADJOINT_INLINE="2")
    assert own <= set(read) and own.isdisjoint(missing)
    read, missing = run("careless_caller", ADJOINT_INLINE="2")
    assert "law" in {*read, *missing}
    program = run.folder.parent / "program.py"
    program.write_text(program.read_text().replace("math.cos(p) * a", "math.cos(p) * a * 3.0"))
    read, missing = run("other_caller", ADJOINT_INLINE="2")
    assert own <= set(missing) and own.isdisjoint(read)
    read, _ = run("caller", ADJOINT_INLINE="2")
    assert own <= set(read)


def _describe(value) -> str:
    words: list[str] = []
    functions._describe(value, words, {})
    return "\n".join(words)


def _closure(cell):
    def inner(x=1):
        return cell

    inner.__module__ = "adjoint.native.runtime.overloads.general"
    return inner


def test_names_tell_contents_apart():
    made = [
        *(_closure(cell) for cell in (1, 1.0, True, -0.0, 0.0, "1", b"1", None, (1,), (1, 1), {1: 2}, types.float64)),
        *(_closure(cell) for cell in (types.float32, types.float64[:], types.float64[::1], np.dtype("f8"), np.float64)),
        *(_closure(cell) for cell in (np.sum, plain.zeros, njit(plain.zeros), np.float32(1), np.dtype(">f8"))),
        _made("x", ["    return x + 1"]),
        _made("x", ["    return x + 2"]),
        _made("x", ["    return x + k"], k=1),
        _made("x", ["    return x + k"], k=2),
        _made("x", ["    return k(x)"], k=register_jitable(_closure(1))),
        _made("x", ["    return k(x)"], k=register_jitable(_closure(2))),
        _made("x, y=1", ["    return x"]),
        _made("x, y=2", ["    return x"]),
    ]
    found = [_describe(function) for function in made]
    assert len(set(found)) == len(found)
    assert _describe(_closure(1)) == found[0]
    assert _describe(_made("x", ["    return x + k"], k=2)) == _describe(made[-5])


def test_what_has_no_name_is_not_kept():
    for cell in (object(), test_names_tell_contents_apart, np.zeros(3), iter(()), np.zeros):
        if cell is np.zeros:
            assert _describe(_closure(cell))
            continue
        with pytest.raises(Nameless):
            _describe(_closure(cell))
    keeper = functions._Keeper(None)
    assert keeper.number_of(_closure(object())) is None
    assert keeper.number_of(test_names_tell_contents_apart) is None
    assert keeper.number_of(_closure(3)) >= functions._FIRST


def test_versions_and_sources_are_in_the_name(monkeypatch):
    dispatcher = njit(_closure(1))
    keeper = functions._Keeper(None)
    names = [functions._Cache(dispatcher, keeper)._name_for((types.float64,))]
    names.append(functions._Cache(dispatcher, keeper)._name_for((types.float32,)))
    names.append(functions._Cache(njit(fastmath=True)(_closure(1)), keeper)._name_for((types.float64,)))
    monkeypatch.setattr(functions, "circumstances", lambda: ("changed",))
    names.append(functions._Cache(dispatcher, keeper)._name_for((types.float64,)))
    assert None not in names and len(set(names)) == len(names)
    assert functions._Cache(dispatcher, keeper)._name_for((types.Dispatcher(dispatcher),)) is None
    assert str(Path(functions.__file__)) in set(versions.sources(*versions.MEANING))
