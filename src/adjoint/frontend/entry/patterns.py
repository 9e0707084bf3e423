"""The entry that finds patterns of zeros: a function on sets of elements of one argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.differentiation.local.walk import Mode, not_local, with_entries
from adjoint.differentiation.sets.walk import most_exact, with_pattern
from adjoint.frontend.data.lists_of_objects import Stacked
from adjoint.frontend.differentiation.inner_functions import lower_inner, name_of
from adjoint.frontend.differentiation.refusals.arguments import check_differentiable
from adjoint.frontend.differentiation.wrt import parameter_names
from adjoint.frontend.entry.entry import entered, finish_entry
from adjoint.frontend.entry.inputs import enter, entered_root
from adjoint.frontend.entry.restarts import Entry, attempt
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.attempts import Settings
from adjoint.frontend.interpreter.values import TupleValue
from adjoint.ir.rebuild import inline
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.differentiation.sets.steering import Reason


def lower_sets(
    function: Any, place: int, args: Sequence[Any], sets: Any, unions: Any, for_all: bool, target: Target
) -> Entry:
    """The entry of a function of ``args``, of the sets of the argument at ``place``, and of the unions.

    It returns the sets of the result, which is a number or an array; up to which number sets are told apart; and what
    decides on them besides whole numbers and shapes: pairs of a level, as in
    :mod:`adjoint.differentiation.sets.steering`, and a text.
    """

    def build(lo: Lowerer) -> Entry:
        fn = entered_root(lo, function)
        names = parameter_names(lo, fn, None)
        params, values, _ = entered(lo, names, args, {})
        given: list[ir.Var] = []
        for number, (value, hint) in enumerate(((sets, "sets"), (unions, "unions"))):
            enter(lo, value, ("tangent", number), hint, given.append)
        check_differentiable(lo, fn, values[place], place, None, values)
        stacked = Stacked(lo, lower_inner(lo, fn, values, {}, [place], None))
        inner = stacked.inner
        if not isinstance(inner.shape, joins.Leaf):
            raise lo.problem("AD0412", None, "the function returns a structure, and not a number or an array")
        outputs = (0,) if ir.carries_derivative(inner.results[0]) else ()
        derived, reasons = with_pattern(inner.function, outputs, lo.settings.target, for_all)
        found = inline(lo.open, derived, (*inner.atoms, *given))
        stacked.put_back()
        said = [(reason.level, _said(reason)) for reason in reasons]
        own = found[-1] if outputs else found[0]
        value = TupleValue((own, ir.Const(most_exact(derived)), ir.Const(tuple(said))))
        return finish_entry(lo, f"{name_of(fn)}_sets", [*params, *given], value)

    return attempt(build, Settings(target=target))


def lower_entries(
    function: Any, place: int, args: Sequence[Any], besides: Sequence[Any], mode: Mode, target: Target
) -> Entry:
    """The entry of a function of ``args`` and of what :func:`with_entries` takes besides."""

    def build(lo: Lowerer) -> Entry:
        fn = entered_root(lo, function)
        names = parameter_names(lo, fn, None)
        params, values, _ = entered(lo, names, args, {})
        given: list[ir.Var] = []
        for number, value in enumerate(besides):
            enter(lo, value, ("tangent", number), f"entries_{number}", given.append)
        inner = lower_inner(lo, fn, values, {}, [place], None)
        if not isinstance(inner.shape, joins.Leaf):
            raise not_local("the function returns a structure")
        made = with_entries(inner.function, mode, lo.settings.target)
        for outside, own in zip(given, made.params[-len(given) :], strict=True):
            outside.type.storage.unite(own.type.storage)  # type: ignore[attr-defined]
        (count,) = inline(lo.open, made, (*inner.atoms, *given))
        return finish_entry(lo, f"{name_of(fn)}_{mode}", [*params, *given], count)

    return attempt(build, Settings(target=target))


def _said(reason: Reason) -> str:
    span = reason.span
    return reason.what if span is None else f"{reason.what} in line {span.line} of {span.file}"
