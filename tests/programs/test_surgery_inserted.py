"""Programs in which the cotangents of half of the variables pass a function that leaves them: the gradient stays."""

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from programs.registry import Case, collect

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")
EACH = 41
CASES = collect()[::EACH]


def as_it_is(ct: Any) -> None:
    """Leaves a cotangent of any structure."""


class _Inserting(ast.NodeTransformer):
    """Puts surgery behind every other assignment."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Assign(self, node: ast.Assign) -> Any:
        (target, *more) = node.targets
        if more or not isinstance(target, ast.Name):
            return node
        self.count += 1
        if self.count % 2 == 0:
            return node
        name = target.id
        after = ast.parse(f"{name} = ad_.with_derivative({name}, as_it_is)").body[0]
        for part in ast.walk(after):
            ast.copy_location(part, node)
        return [node, after]


def with_surgery(function: Callable[..., Any]) -> Callable[..., Any]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    tree.body[0].decorator_list = []  # type: ignore[attr-defined]
    text = ast.unparse(ast.fix_missing_locations(_Inserting().visit(tree)))
    file = f"<surgery {function.__module__}.{function.__name__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {**function.__globals__, "ad_": ad, "as_it_is": as_it_is}
    exec(compile(text, file, "exec"), names)
    made: Callable[..., Any] = names[function.__name__]
    return made


def numbers(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, dict):
        yield from numbers(list(value.values()))
    elif isinstance(value, (float, complex, np.generic, np.ndarray)):
        yield np.asarray(value)
    elif value is not None:
        yield from numbers(getattr(value, "__dict__", {}))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_gradient_stays(case: Case) -> None:
    wrt = case.options.get("wrt", 0)
    if hasattr(case.function, "__wrapped__"):  # its text is that of the function without its decorators
        return
    try:
        expected = ad.grad(case.function, wrt)(*case.arguments())
        found = ad.grad(with_surgery(case.function), wrt)(*case.arguments())
    except ad.DifferentiationError as refusal:
        assert all(problem.code != "AD0901" for problem in refusal.diagnostics), refusal
        return
    except OSError:  # a program that no file holds
        return
    for mine, its in zip(numbers(found), numbers(expected), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-12)
