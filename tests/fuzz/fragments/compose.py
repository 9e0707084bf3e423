"""A program of a seed: a plan of fragments, some inside others, and the function that they make."""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from fuzz.fragments import (  # noqa: F401
    algorithms,
    aliases,
    arrays,
    calls,
    checkpoints,
    classes,
    complex_numbers,
    control,
    declared,
    function_values,
    inside,
    iteration,
    objects,
    precision,
    questions,
    solvers,
    state,
    surgery,
    ties,
    views,
)
from fuzz.fragments.draft import AROUND, FRAGMENTS, Draft, Fragment

HEAD = """\
import cmath
import collections
import contextlib
import copy
import functools
import heapq
import itertools
import json
import math
import operator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

import adjoint as ad
"""

ARGUMENTS = {
    "float": ("$0", "-$1", "$2"),
    "vec": ("np.array([$NUMBERS])", "np.array([$NUMBERS])", "np.array([$TWICE])[::2]"),
    "mat": (
        "np.array([$ALL]).reshape($M, $N)",
        "np.array([$ALL]).reshape($N, $M).T",
        "np.asfortranarray(np.array([$ALL]).reshape($M, $N))",
    ),
    "list": ("[$0, -$1, $2]", "[$0, $1]"),
    "dict": ('{"a": $0, "b": -$1}', '{"a": $0, "b": $1, "c": $2}'),
    "vecs": ("[np.array([$NUMBERS]), np.array([$NUMBERS])]",),
    "object": ("Body($0, np.array([$NUMBERS]))",),
    "pair": ("($0, -$1)",),
}
NUMBERS = re.compile(r"\$(NUMBERS|TWICE|ALL)\b")
EXTRA = ("float", "float", "mat", "mat", "list", "dict", "vecs", "object", "pair", "vec", "vec")
TERMS = {
    "float": ("$c * $n",),
    "vec": ("np.sum($n * np.linspace(0.5, $c, $N))", "$c * np.sum(np.sin($n))", "$n @ $n * $c"),
    "mat": ("$c * np.sum(np.cos($n) * np.arange(1.0, $N + 1))", "np.sum($n * $n) * $c"),
    "square": ("$c * np.sum($n[0]) + $n[-1, 0]",),
    "list": ("$c * sum($n)", "$n[0] * $c - $n[-1]"),
    "dict": ("$c * sum($n.values())", '$n["a"] * $c + $n["b"]'),
    "vecs": ("$c * sum(np.sum(e) for e in $n)", "np.sum($n[0] * $n[-1]) * $c"),
    "object": ("$c * $n.u + np.sum($n.v)", "$n.energy() * $c"),
    "pair": ("$c * $n[0] - $n[1]",),
    "function": ("$c * $n($c)",),
    "waves": ("$c * np.sum(np.abs($n) ** 2)", "np.sum($n.imag) * $c - np.sum($n.real)", "$c * np.vdot($n, $n).real"),
}
MOST_TERMS = 7
EQUAL = 0.08
"""How often two numbers of an array are equal."""


@dataclass(frozen=True)
class Step:
    """A fragment of a plan, with those inside of it."""

    number: int
    fragment: Fragment
    inner: tuple[Step, ...] = ()

    def numbers(self) -> Iterator[int]:
        yield self.number
        for step in self.inner:
            yield from step.numbers()


@dataclass(frozen=True)
class Program:
    """The text of a module with ``f`` and ``arguments()``."""

    seed: int
    text: str
    features: Counter[str]
    steps: tuple[int, ...]
    """The numbers of its fragments, for those who leave some out."""


def generate(seed: int, without: frozenset[int] = frozenset(), only: str | None = None) -> Program:
    """The program of a seed, perhaps without some of its fragments, or of one fragment only."""
    chosen = random.Random(seed)
    plan = _plan(chosen) if only is None else (Step(0, {**FRAGMENTS, **AROUND}[only]),)
    draft = Draft(size=chosen.choice((2, 3, 3, 4)), rows=chosen.choice((2, 3)))
    draft.random = random.Random(f"{seed} arguments")
    params = _params(draft, chosen)
    for step in plan:
        _write(draft, step, seed, without)
    draft.random = random.Random(f"{seed} result")
    result = _result(draft)
    body = "\n".join(draft.lines)
    head = "\n\n\n".join([HEAD, *draft.head])
    arguments = f"def arguments():\n    return ({', '.join(params.values())},)\n"
    text = f"{head}\n\n\ndef f({', '.join(params)}):\n{body}\n    return {result}\n\n\n{arguments}"
    return Program(seed, text, draft.features, tuple(number for step in plan for number in step.numbers()))


def _plan(chosen: random.Random) -> tuple[Step, ...]:
    count = chosen.choice((2, 3, 3, 3, 4, 4, 5))
    numbers = iter(range(100))
    plan: list[Step] = []
    while count > 0:
        if chosen.random() < 0.22:
            number = next(numbers)
            inner = tuple(Step(next(numbers), _chosen(chosen, FRAGMENTS)) for _ in range(chosen.choice((1, 1, 2))))
            plan.append(Step(number, _chosen(chosen, AROUND), inner))
            count -= 1 + len(inner)
        else:
            plan.append(Step(next(numbers), _chosen(chosen, FRAGMENTS)))
            count -= 1
    return tuple(plan)


def _chosen(chosen: random.Random, registry: dict[str, Fragment]) -> Fragment:
    options = list(registry.values())
    return chosen.choices(options, [option.weight for option in options])[0]


def _params(draft: Draft, chosen: random.Random) -> dict[str, str]:
    """The parameters of the function, each with an expression for its value."""
    kinds = ["float", "vec", *chosen.sample(EXTRA, chosen.choice((0, 1, 1, 2)))]
    params = {}
    for kind in kinds:
        name = {"float": "x", "vec": "v", "mat": "A"}.get(kind, kind[0])
        name = name if name not in params else draft.fresh(name)
        draft.names = {}
        if kind == "object":
            draft.object_class()
        text = NUMBERS.sub(lambda found: _numbers(draft, found[1]), draft.random.choice(ARGUMENTS[kind]))
        params[name] = draft.filled(text)
        draft.define(kind, name)
    return params


def _numbers(draft: Draft, what: str) -> str:
    """Random numbers; seldom equal ones, where sorting and choosing have kinks."""
    count = {"NUMBERS": draft.size, "TWICE": 2 * draft.size, "ALL": draft.size * draft.rows}[what]
    found = [f"{draft.random.uniform(-1.2, 1.2):.3f}" for _ in range(count)]
    if draft.random.random() < EQUAL:
        found[draft.random.randrange(count)] = found[0]
    return ", ".join(found)


def _write(draft: Draft, step: Step, seed: int, without: frozenset[int]) -> None:
    """Writes a fragment, and what is inside of it in the place of its body."""
    if step.number in without:
        for inner in step.inner:
            _write(draft, inner, seed, without)
        return
    draft.random = random.Random(f"{seed} {step.number}")
    draft.bind(step.fragment)
    text = draft.filled(textwrap.dedent(step.fragment.text(draft)).strip("\n"))
    if "$BODY" in text:
        _write_around(draft, step, text, seed, without)
    else:
        draft.raw(text)
    for (_, kind), name in zip(step.fragment.leaves, _names_left(step.fragment, draft), strict=True):
        draft.define(kind, name)


def _names_left(fragment: Fragment, draft: Draft) -> list[str]:
    return [draft.names[hole] for hole, _ in fragment.leaves]


def _write_around(draft: Draft, step: Step, text: str, seed: int, without: frozenset[int]) -> None:
    names, scope = draft.names, {kind: list(known) for kind, known in draft.scope.items()}
    visible = {name for known in scope.values() for name in known}
    lines, indent = draft.lines, draft.indent
    draft.lines, draft.indent = [], 0
    bound = [pair for pair in (("float", "inner"),) if "inner" in names]
    for kind, hole in bound:
        draft.define(kind, names[hole])
    for inner in step.inner:
        _write(draft, inner, seed, without)
    body = draft.lines or ["pass"]
    draft.lines, draft.indent, draft.names, draft.scope = lines, indent, names, scope
    if "nonlocal" in text:
        rebound = sorted(_rebound("\n".join(body)) & visible)
        text = _completed(text, rebound)
    where = next(line for line in text.split("\n") if line.strip() == "$BODY")
    draft.raw(text.replace(where, "\n".join(where.replace("$BODY", line) for line in body)))


def _completed(text: str, names: list[str]) -> str:
    """The line ``nonlocal`` of a function completed with what its body rebinds, or without it."""
    lines = []
    for line in text.split("\n"):
        if line.strip() == "nonlocal":
            line = f"{line} {', '.join(names)}" if names else ""
        if line:
            lines.append(line)
    return "\n".join(lines)


def _rebound(body: str) -> set[str]:
    """The names that statements bind, but for those inside functions of their own."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            if not isinstance(node, ast.Lambda):
                found.add(node.name)
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(body))
    return found


def _result(draft: Draft) -> str:
    """What depends on most of what was computed; mostly a number."""
    known = [(kind, name) for kind, names in draft.scope.items() for name in names]
    draft.random.shuffle(known)
    terms = []
    for kind, name in known[:MOST_TERMS]:
        draft.names = {"n": name, "c": f"{draft.random.uniform(0.3, 1.2):.2f}"}
        terms.append(draft.filled(draft.random.choice(TERMS[kind])))
    total = " + ".join(terms)
    form = draft.random.random()
    if form < 0.8:
        return total
    vector, number = draft.random.choice(draft.known("vec")), draft.random.choice(draft.known("float"))
    if form < 0.88:
        return f"({total}, {vector})"
    if form < 0.93:
        return f"{vector} * ({total})"
    return f'{{"total": {total}, "last": {number}}}'
