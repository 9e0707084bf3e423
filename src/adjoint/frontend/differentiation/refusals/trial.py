"""Lowering a function and reversing it, for nothing but what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.differentiation.reverse import split
from adjoint.frontend.differentiation import result_seeds
from adjoint.frontend.differentiation.inner_functions import lower_inner
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves
from adjoint.frontend.differentiation.wrt import parameter_names
from adjoint.frontend.entry.entry import entered
from adjoint.frontend.entry.inputs import entered_root
from adjoint.frontend.entry.restarts import Entry, attempt
from adjoint.frontend.interpreter.core import Lowerer


def look(function: Any, args: Sequence[Any], places: Sequence[int]) -> None:
    """Raises what is refused where a function is differentiated for the arguments in ``places``; runs nothing."""

    def build(lo: Lowerer) -> Entry:
        fn = entered_root(lo, function)
        _, values, _ = entered(lo, parameter_names(lo, fn, None), args, {})
        varying = [place for place in places if any(True for _ in differentiable_leaves(lo, values[place]))]
        inner = lower_inner(lo, fn, values, {}, varying, None)
        result_seeds.refuse_several_kinds(lo, fn, inner.shape, None)
        outputs = tuple(place for place, type_ in enumerate(inner.results) if ir.carries_derivative(type_))
        if not outputs:
            raise lo.problem("AD0407", None, "nothing in its result can vary")
        split(inner.function, tuple(range(inner.count)), outputs)
        return Entry(inner.function, (), ())

    attempt(build)
