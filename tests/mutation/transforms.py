"""Broken transforms: the compiler changed in one place, under programs that are checked against differences.

Each mutant is tried in a process of its own, in which the changed module is imported in place of its own. It is killed
where a program of the corpus is refused, crashes or gets a wrong derivative. Where none notices, random programs of
everyday code tell whether it changes a result at all.
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

SOURCE = Path(__file__).parents[2] / "src" / "adjoint"
PACKAGES = ("differentiation", "optimize", "analysis")
MACHINE_ONLY = """
    differentiation/directions differentiation/reverse/residuals/arrays differentiation/reverse/residuals/privatization
    differentiation/reverse/residuals/recomputed_iterations differentiation/reverse/residuals/tapes
    differentiation/reverse/calls/fused_primal_adjoint optimize/redundant_loads optimize/touch_up/zeros_by_shape
    optimize/touch_up/early_checks analysis/shapes/extents
"""
"""Modules that derivatives for Python do not go through."""
SECONDS = 120
EVERY = 16
"""Of how many programs of the corpus one is tried."""
RANDOM_PROGRAMS = 25


@dataclass(frozen=True)
class Change:
    """One place of a module to be changed: its number among all places of the module."""

    module: str
    path: Path
    place: int


@dataclass(frozen=True)
class Result:
    """What became of a mutant: ``killed``, ``same`` or ``survived``; what was changed, and who noticed."""

    change: Change
    fate: str
    what: str
    by: str


def changes() -> list[Change]:
    """All places of the transforms that can be changed."""
    found = []
    for package in PACKAGES:
        for path in sorted((SOURCE / package).rglob("*.py")):
            place = path.relative_to(SOURCE).with_suffix("").as_posix()
            if path.stem == "__init__" or place.startswith(tuple(MACHINE_ONLY.split())):
                continue
            module = "adjoint." + place.replace("/", ".")
            count = sum(1 for _ in _places(ast.parse(path.read_text())))
            found += [Change(module, path, place) for place in range(count)]
    return found


def sampled(count: int, seed: int) -> list[Change]:
    """Some of all changes, by chance."""
    return Random(seed).sample(changes(), count)


def tried(change: Change) -> Result:
    """What becomes of a mutant."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer = _in_child(change)
        except BaseException as problem:
            answer = "killed", "", f"{type(problem).__name__} when Adjoint is imported"
        os.write(writing, pickle.dumps(answer))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    fate, what, by = pickle.loads(told) if told else ("killed", "", "the process ended")
    return Result(change, fate, what, by)


class _TooLong(BaseException):
    pass


def _in_child(change: Change) -> tuple[str, str, str]:
    what = _install(change)

    def late(*_: Any) -> None:
        raise _TooLong

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    warnings.simplefilter("ignore")
    try:
        by = _noticed_by_the_corpus()
        if by is not None:
            return "killed", what, by
        by = _noticed_by_random_programs()
    except _TooLong:
        return "killed", what, "it takes too long"
    return ("same", what, "") if by is None else ("survived", what, by)


def _install(change: Change) -> str:
    """Has the module imported with the change; says what it is."""
    tree = ast.parse(change.path.read_text())
    for place, (what, apply) in enumerate(_places(tree)):
        if place == change.place:
            apply()
            break
    ast.fix_missing_locations(tree)
    code = compile(tree, str(change.path), "exec", dont_inherit=True)
    own = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        return code if fullname == change.module else own(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    return what


def _places(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """What can be changed in the functions of a module: in words, and what changes it."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for holder in ast.walk(function):
            for name in ("body", "orelse"):
                statements = getattr(holder, name, None)
                if isinstance(statements, list):
                    yield from _dropped(statements, function.name)
            if isinstance(holder, (ast.If, ast.IfExp)):
                where = f"{function.name}:{holder.lineno}"
                yield f"swapped branches in {where}", lambda holder=holder: _negate(holder)


def _dropped(statements: list[Any], name: str) -> Iterator[tuple[str, Any]]:
    for index, statement in enumerate(statements):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if isinstance(statement, (ast.Expr, ast.AugAssign)) and not is_text:

            def drop(index: int = index) -> None:
                statements[index] = ast.Pass()

            yield f"a dropped statement in {name}:{statement.lineno}: {ast.unparse(statement)[:80]}", drop


def _negate(holder: Any) -> None:
    holder.test = ast.UnaryOp(ast.Not(), holder.test)


def _noticed_by_the_corpus() -> str | None:
    import numpy as np

    from adjoint.testing import check_grads
    from programs.registry import collect

    with np.errstate(all="ignore"):
        for case in collect()[::EVERY]:
            try:
                check_grads(case.function, case.arguments(), **case.options)
            except Exception as problem:
                return f"{case.name}: {type(problem).__name__}"
    return None


def _noticed_by_random_programs() -> str | None:
    from fuzz.fragments.check import check
    from fuzz.fragments.compose import generate

    for seed in range(500_000, 500_000 + RANDOM_PROGRAMS):
        outcome = check(generate(seed).text, seed, second=False, native=False)
        if outcome.kind == "failed":
            return f"random program {seed}"
    return None


def preload() -> None:
    """Imports what all processes need and no mutant changes."""
    import scipy.linalg
    import scipy.special  # noqa: F401

    assert not any(name.partition(".")[0] == "adjoint" for name in sys.modules)
