"""Programs in the syntax of later versions of Python: texts, as this one may not be able to read them."""

import itertools
import linecache
import sys

import pytest

import adjoint as ad

PROGRAMS = {
    (3, 12): """
def alias(x):
    type Number = float
    y: Number = x * x
    return y * x

def generic[T](x: T) -> T:
    return x * x

def quotes_in_texts(x):
    return x * x * len(f"{f'{x:.2f}'!r:>{10}} {"a"}")

def in_batches(x):
    return sum(sum(part) * len(part) for part in itertools.batched([x, x * x, x, 1.0], 3))
""",
    (3, 14): """
def template(x):
    t = t"value {x:.2f} and {2 * x!r}"
    return x * x * len(t.strings) * len(t.interpolations[1].expression)

def without_parentheses(x):
    try:
        return x / 0.0
    except ValueError, ZeroDivisionError:
        return x * x
""",
    (3, 15): """
def starred_list(x):
    rows = [[x, 1.0], [x * x]]
    return sum([*row for row in rows])

def starred_generator(x):
    rows = [[x, 1.0], [x * x]]
    return sum((*row for row in rows if len(row) > 1))
""",
}


def _made(version: tuple[int, int]) -> dict[str, object]:
    name, text = f"<syntax of Python {version}>", PROGRAMS[version]
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, object] = {"itertools": itertools, "__name__": __name__}
    exec(compile(text, name, "exec"), namespace)
    return namespace


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (version, line.split()[1].partition("(")[0].partition("[")[0])
        for version, text in PROGRAMS.items()
        for line in text.splitlines()
        if line.startswith("def")
    ],
)
def test_programs(version: tuple[int, int], name: str) -> None:
    if sys.version_info < version:
        pytest.skip("this Python cannot read it")
    ad.testing.check_grads(_made(version)[name], (1.3,))


@pytest.mark.skipif(sys.version_info < (3, 14), reason="this Python has no templates")
def test_what_varies_and_comes_back_from_a_template_is_refused() -> None:
    text = "def back(x):\n    return t'{x}'.values[0] * x\n"
    linecache.cache["<template>"] = (len(text), None, text.splitlines(True), "<template>")
    namespace: dict[str, object] = {}
    exec(compile(text, "<template>", "exec"), namespace)
    with pytest.raises(ad.DifferentiationError, match="AD0201"):
        ad.grad(namespace["back"])(2.0)
