"""Functions of rules that only put their arguments in their places are run: that gives what reading them gives."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from adjoint import ir
from adjoint.differentiation.rules.splice import _only_places, _spliced, splice
from adjoint.ir.builder import Builder
from adjoint.rules.registry import all_rules
from adjoint.rules.typing import type_of_call


def functions_of_rules() -> Iterator[types.FunctionType]:
    for rule in all_rules():
        held = list(vars(rule).values())
        held += [each for value in held if isinstance(value, dict) for each in value.values()]
        yield from (each for each in held if isinstance(each, types.FunctionType) and each is not rule.fn)


def atoms_for(function: types.FunctionType) -> Iterator[list[Any]]:
    count = function.__code__.co_argcount
    yield [ir.Var(f"v{place}", ir.FLOAT) for place in range(count)]
    yield [ir.Var(f"v{place}", ir.Array(None, ("many",))) for place in range(count)]
    yield [ir.Const(float(place)) for place in range(count)]
    yield [(ir.Var(f"v{place}", ir.FLOAT), ir.Const(2), None) for place in range(count)]


def test_all_such_functions_of_the_library_give_the_same_when_they_are_read() -> None:
    placing = [function for function in functions_of_rules() if _only_places(function.__code__)]
    assert len(placing) > 10
    for function in placing:
        for atoms in atoms_for(function):
            run, read = Builder(type_of_call), Builder(type_of_call)
            assert splice(run, function, atoms) == _spliced(read, function, atoms, {})
            assert not run.statements and not read.statements


def kept_as_they_are(a: Any, *rest: Any) -> Any:
    return a, (1.5, None, -2), rest


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a, b: (b, a), lambda a, b: (b, a)),
        (lambda a, b: 1, lambda a, b: ir.Const(1)),
        (lambda a, b: (None, -1.0), lambda a, b: (None, ir.Const(-1.0))),
        (kept_as_they_are, lambda a, b: (a, (ir.Const(1.5), None, ir.Const(-2)), (b,))),
    ],
)
def test_literals_become_constants(function: Callable[..., Any], expected: Callable[..., Any]) -> None:
    a, b = ir.Var("a", ir.FLOAT), ir.Const(3.0)
    assert _only_places(function.__code__)
    assert splice(Builder(type_of_call), function, (a, b)) == expected(a, b)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a + b,
        lambda a, b: a if b else b,
        lambda a, b: -a,
        lambda a, b: a == b,
        lambda a, b: [a, b],
        lambda a, **named: named,
        lambda a, b: lambda: a,
        lambda a, b: ir.Const,
    ],
)
def test_others_are_read(function: Callable[..., Any]) -> None:
    assert not _only_places(function.__code__)
