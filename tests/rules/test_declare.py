"""Declarations: what they accept, how calls are bound, which form of a derivative is chosen."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adjoint import ir
from adjoint.rules import registry, topics
from adjoint.rules.declare import elementwise
from adjoint.rules.registry import attribute_of, method_of, rule_for, variadic
from adjoint.rules.topics import ARRAYS, BASICS, STRUCTURES
from adjoint.runtime.array_functions.sequences import concatenate_of


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
    assert rule.bind((), {"a_max": ir.Const(1), "a": ir.Const(2)})[0] == (ir.Const(2), ir.Const(None), ir.Const(1))
    rule = rule_for(np.sum)
    assert rule is not None
    assert rule.bind((), {"a": "x", "axis": 0}) == (("x",), {"axis": 0})
    rule = rule_for(np.bincount)
    assert rule is not None
    assert rule.bind(("x",), {"weights": "w"}) == (("x", "w"), {})


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
    assert rule_for([]) is None


def _loaded_after(code: str) -> list[str]:
    """Which modules of the library a fresh process has imported after running some code."""
    code += "\nimport sys; print(*[name for name in sys.modules if name.startswith('adjoint.rules.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [name.removeprefix("adjoint.rules.") for name in done.stdout.split()]


def test_the_library_is_loaded_late() -> None:
    assert not {*BASICS, *ARRAYS}.intersection(_loaded_after("import adjoint.rules.declare"))


def test_questions_about_numbers_do_not_load_what_is_said_of_arrays() -> None:
    question = "from adjoint.rules.registry import rule_for; import math; assert rule_for(math.sin); rule_for(zip)"
    loaded = _loaded_after(question)
    assert set(BASICS) <= set(loaded)
    assert not set(ARRAYS).intersection(loaded)


def test_a_derivative_of_numbers_does_not_load_what_is_said_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import math\n\ndef f(x):\n    return math.sin(x) * max(x, 1.0)\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import program, adjoint as ad; ad.grad(program.f)(2.0)"
    assert not set(ARRAYS).intersection(_loaded_after(code))


def test_a_declaration_loads_what_it_may_replace() -> None:
    declaration = "from adjoint.rules.declare import constant; import math, numpy as np; constant({})"
    assert not set(ARRAYS).intersection(_loaded_after(declaration.format("math.sin")))
    assert {*BASICS, *ARRAYS} <= set(_loaded_after(declaration.format("np.tanh")))


def test_a_question_about_an_array_loads_all() -> None:
    for callee in ("np.tanh", "np.linalg.inv", "operator.matmul"):
        question = (
            f"from adjoint.rules.registry import rule_for; import numpy as np, operator; assert rule_for({callee})"
        )
        assert {*BASICS, *ARRAYS} <= set(_loaded_after(question)), callee


def test_what_is_said_of_arrays_is_found_by_where_they_come_from() -> None:
    numbers = _declared_by(BASICS)
    for name in sorted(_declared_by((*BASICS, *ARRAYS)) - numbers):
        assert name.split()[-2] == "True", name


def test_what_is_said_of_helpers_for_structures_is_found_by_where_they_come_from() -> None:
    question = (
        "from adjoint.rules.registry import rule_for; from adjoint.runtime{0} import {1} as part; rule_for(part.{2})"
    )
    assert not set(STRUCTURES).intersection(_loaded_after(question.format(".arithmetic", "numbers", "is_real")))
    assert {*BASICS, *STRUCTURES} <= set(_loaded_after(question.format("", "tangents", "pour")))
    for part in (STRUCTURES, topics.SEPARATE["_bisect"]):
        for name in _declared_by((*BASICS, *part)) - _declared_by(BASICS):
            home = name.split()[-1]  # of methods there is none: they are found by their class
            assert home == "None" or topics.SEPARATE[home] is part, name


def test_what_is_said_of_helpers_of_scipy_is_found_by_where_they_come_from() -> None:
    names = {name for names in topics.OF_SCIPY.values() for name in names}
    registry._read(tuple(names))
    names = {name for name in names if not name.startswith("scipy.stats.")}  # definitions of its own call its helpers
    found = 0
    for rule in registry.all_rules():
        place = (getattr(rule.derivative, "__module__", None) or "").removeprefix("adjoint.rules.")
        if place in names and not (getattr(rule.fn, "__module__", None) or "").startswith("adjoint.rules."):
            assert place in registry._about(rule.fn), rule.name
            found += 1
    assert found > 100


def _declared_by(modules: tuple[str, ...]) -> set[str]:
    """The callees of which some modules say something, each with whether that is looked for among arrays."""
    code = f"""
import importlib
from adjoint.rules import registry, topics
registry._unread.clear()
for name in {modules}:
    importlib.import_module(f"adjoint.rules.{{name}}")
callees = [rule.fn for rule in registry._rules.values()]
callees += [entry.fn for entries in registry._definitions.values() for entry in entries]
callees += [fn for fn, _ in registry._variadic.values()]
callees += [cls for cls, _ in (*registry._methods, *registry._attributes)]
callees = [fn for fn in callees if not (getattr(fn, "__module__", None) or "").startswith("adjoint.rules.")]
print(*[f"{{fn!r}} {{registry.is_about_arrays(fn)}} {{getattr(fn, '__module__', None)}}" for fn in callees], sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(re.sub(r" at 0x\w+", "", done.stdout).splitlines())
