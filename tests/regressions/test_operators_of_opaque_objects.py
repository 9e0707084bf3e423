"""Operators of whole numbers, whose results do not vary, may mean anything for an object: sets unite by ``|``."""

import operator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused


def united_sets(v: Any) -> Any:
    return sum(sorted({x * x for x in v} | {v[0]}))


def common_elements(v: Any) -> Any:
    return sum({x * x for x in v} & {v[0] * v[0], v[2] * v[2]})


def left_over(v: Any) -> Any:
    return sum({x * x for x in v} - {v[0] * v[0]})


def unknown_object(v: Any) -> Any:
    return np.sum(operator.or_(frozenset(x * x for x in v), frozenset()).pop())


@pytest.mark.parametrize("program", [united_sets, common_elements, left_over, unknown_object], ids=lambda f: f.__name__)
def test_are_no_constants(program: Any) -> None:
    v = np.array([0.3, -0.7, 1.2])
    for derivative in (ad.grad(program), lambda v: ad.jvp(program, (v,), (v,))):
        assert refused(lambda derivative=derivative: derivative(v)).diagnostics[0].code in (
            "AD0201",
            "AD0202",
            "AD0301",
            "AD0305",
            "AD0307",
            "AD0401",
        )
