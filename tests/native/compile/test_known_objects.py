"""A later process finds machine code by the function that it was made of, and only if nothing has changed."""

import numpy as np
import pytest

from adjoint import ir
from adjoint.ir.fingerprint import Nameless, fingerprint
from adjoint.records import replace
from adjoint.runtime.arithmetic import numbers
from adjoint.target import MACHINE

pytest.importorskip("llvmlite")

from adjoint.native.compile.agreements import Agreement
from adjoint.native.kept import known_objects, versions
from adjoint.native.options import PLAIN, Options


def test_the_sources_of_adjoint_and_the_versions_count(monkeypatch):
    found = fingerprint(_function(numbers.quotient))
    names = [known_objects.entry_of("f", found, ("float64",), (), PLAIN, MACHINE)]
    monkeypatch.setattr(known_objects, "digest", lambda: "another")
    names.append(known_objects.entry_of("f", found, ("float64",), (), PLAIN, MACHINE))
    monkeypatch.setattr(known_objects, "circumstances", lambda: ("llvmlite 0",))
    names.append(known_objects.entry_of("f", found, ("float64",), (), PLAIN, MACHINE))
    names.append(known_objects.entry_of("f", found, ("float32",), (), PLAIN, MACHINE))
    names.append(known_objects.entry_of("f", found, ("float32",), (Agreement((1, 0), (0, 0), 0),), PLAIN, MACHINE))
    names.append(known_objects.entry_of("f", found, ("float64",), (), Options("fast"), MACHINE))
    names.append(known_objects.entry_of("f", found, ("float64",), (), PLAIN, replace(MACHINE, threads=2)))
    names.append(
        known_objects.entry_of("f", found, ("float64",), (), PLAIN, replace(MACHINE, skipped=frozenset({"a"})))
    )
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


def _function(callee, *constants, type_=ir.FLOAT, hint="x"):
    x, y = ir.Var(hint, type_), ir.Var("y", type_)
    call = ir.Call((y,), callee, (x, *map(ir.Const, constants)))
    return ir.Function("f", (x,), ir.Block((call,), ir.Return((y,))))


def test_fingerprints():
    memory = ir.Storage()
    vector = ir.Array(np.dtype(float), ("any",))
    functions = [
        *(_function(numbers.quotient, value) for value in (0.0, -0.0, 0, False, 0j, "0", b"0", None, ..., 1e-300)),
        *(_function(numbers.quotient, value) for value in (np.float64(0), np.float32(0), (0,), (0, 0), ((0,), 0))),
        *(_function(numbers.quotient, value) for value in (float, np.float64, np.dtype("f8"), np.dtype(">f8"), np.add)),
        _function(numbers.quotient, float("nan")),
        _function(numbers.product),
        _function(list.append),
        _function(np.ndarray.copy),
        _function(np.linalg.norm),
        _function(numbers.quotient, type_=ir.INT),
        _function(numbers.quotient, hint="z"),
        _function(numbers.quotient, type_=vector),
        _function(numbers.quotient, type_=ir.Array(np.dtype(float), ("one",))),
        _function(numbers.quotient, type_=ir.Array(np.dtype(float), ("any",), ir.Storage(written=True))),
        replace(_function(numbers.quotient), name="g"),
    ]
    found = [fingerprint(function) for function in functions]
    assert len(set(found)) == len(found)
    assert fingerprint(_function(numbers.quotient, 0.0)) == found[0]
    x, y = ir.Var("x", ir.Array(np.dtype(float), ("any",), memory)), ir.Var("y", vector)
    z = ir.Var("y", ir.Array(np.dtype(float), ("any",), memory))
    apart, together = (ir.Function("f", (x, last), ir.Block((), ir.Return(()))) for last in (y, z))
    assert fingerprint(apart) != fingerprint(together)
    marks = [None, frozenset(), frozenset({memory}), frozenset({vector.storage})]
    assert len({fingerprint(apart, handed) for handed in marks}) == 4


@pytest.mark.parametrize("value", [lambda x: x, test_fingerprints, object(), {1: 2}.keys(), np.zeros(2)])
def test_what_no_name_stands_for_has_no_fingerprint(value):
    with pytest.raises(Nameless):
        fingerprint(_function(numbers.quotient, value))
