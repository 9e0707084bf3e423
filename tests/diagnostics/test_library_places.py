"""What is refused inside of a library is told at the user's line, once, with the way through the library."""

from __future__ import annotations

import fractions
import json

import numpy as np
import pytest

import adjoint as ad
from adjoint.diagnostics.diagnostic import diagnostic
from adjoint.diagnostics.spans import Span
from adjoint.sources.users_places import at_users_places

LIBRARY = json.__file__


def ratio(x):
    return float(fractions.Fraction.from_float(x))


def test_the_users_call_comes_first() -> None:
    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(ratio)(2.0)
    (problem,) = refusal.value.diagnostics
    assert problem.span is not None and problem.span.file == __file__
    assert problem.span.line == ratio.__code__.co_firstlineno + 1
    assert problem.labels[0].text.startswith("in what this calls, the body of ")
    assert len(problem.labels) == 1
    assert problem.notes[0].startswith("in fractions.py:")
    assert problem.notes[-2].endswith("f.as_integer_ratio()")
    assert problem.notes[-1].startswith("differentiated from ")
    assert problem.helps[0].startswith("declare the derivative of what you call")


def test_calls_with_names() -> None:
    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(drawn)(2.0)
    assert refusal.value.diagnostics[0].helps[0].startswith("numbers drawn do not vary smoothly")
    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(of_a_field)(2.0)
    assert refusal.value.diagnostics[0].helps[0] == "declare its derivative: @ad.derivative_of(HOLDER.f)"


def drawn(x):
    return np.random.default_rng(1).poisson(x) * 1.0


class Holder:
    """Its field has the name of a method that draws numbers."""

    f = staticmethod(np.bitwise_count)


HOLDER = Holder()


def of_a_field(x):
    return HOLDER.f(x)


def test_once_for_each_call_of_the_users() -> None:
    own = Span(__file__, 3, 0, 3, 5)
    inside = [Span(LIBRARY, line, 0, line, 3, caller=own) for line in (5, 6, 7)]
    problems = [diagnostic("AD0301", span, "here") for span in inside]
    assert len(at_users_places(problems)) == 1
    assert at_users_places([diagnostic("AD0301", own, "here")] * 2) == (diagnostic("AD0301", own, "here"),)


def test_a_library_that_is_asked_itself() -> None:
    problem = diagnostic("AD0301", Span(LIBRARY, 5, 0, 5, 3), "here")
    assert at_users_places([problem]) == (problem,)
