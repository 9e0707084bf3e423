"""Declarations: what they accept, how calls are bound, which form of a derivative is chosen."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from adjoint.ir.nodes import Const
from adjoint.rules.declare import elementwise
from adjoint.rules.registry import attribute_of, binary_form, method_of, rule_for, variadic
from adjoint.runtime.sequences import concatenate_of


def test_exactly_one_form() -> None:
    with pytest.raises(TypeError, match="exactly one"):
        elementwise(lambda x: x)


def test_user_rule() -> None:
    def cube(x: float) -> float:
        return x**3

    rule = elementwise(cube, lambda x, y: 3 * x * x)
    assert rule_for(cube) is rule
    assert rule.arity == 1


def test_bind() -> None:
    rule = rule_for(np.clip)
    assert rule is not None
    assert rule.bind(("x",), {"a_max": "hi"}, lambda value: value) == (("x", None, "hi"), {})
    assert rule.bind((), {"a_max": Const(1), "a": Const(2)})[0] == (Const(2), Const(None), Const(1))
    rule = rule_for(np.sum)
    assert rule is not None
    assert rule.bind((), {"a": "x", "axis": 0}) == (("x",), {"axis": 0})


def test_unsupported() -> None:
    rule = rule_for(np.sum)
    assert rule is not None
    assert rule.unsupported(1, ["axis", "where"]) == ("where",)
    add = rule_for(np.add)
    assert add is not None
    assert add.unsupported(2, []) == ()
    assert add.unsupported(3, []) == ("out",)


def test_forms() -> None:
    rule = rule_for(np.matmul)
    assert rule is not None
    assert rule.form((2, 2)) is rule.by_rank[2, 2]
    assert rule.form((2, None)) is rule.derivative
    assert rule.form((3, 2)) is rule.derivative
    reshape = rule_for(np.reshape)
    assert reshape is not None
    assert reshape.form((2, None)) is not reshape.derivative
    assert reshape.form((0, None)) is reshape.derivative


def test_lookups() -> None:
    assert method_of(np.ndarray, "sum") is np.sum
    assert method_of(np.float64, "sum") is np.sum
    assert attribute_of(np.ndarray, "T") is np.transpose
    assert method_of(np.ndarray, "missing") is None
    assert variadic(np.concatenate) is concatenate_of
    assert concatenate_of.display is np.concatenate  # type: ignore[attr-defined]
    import operator

    assert binary_form(operator.iadd) is operator.add
    assert rule_for([]) is None


def test_the_library_is_loaded_late() -> None:
    code = "import sys, adjoint.rules.declare; print('adjoint.rules.operators' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
