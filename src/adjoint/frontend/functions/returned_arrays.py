"""Arrays that functions return which stay ones: their callers get them as values, where nobody can tell.

What a function is given and returns is no result: its callers have it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import GivenValue, Record, TupleValue, Value
from adjoint.records import dataclass, replace

if TYPE_CHECKING:
    from adjoint.frontend.functions.called import Called


@dataclass(frozen=True, eq=False, slots=True)
class HandedOut:
    """An array that a recursive function returns, and the name under which the caller gets it.

    Attributes
    ----------
    function, place
        Who returns it, and by which ``return``.
    home, result
        The memory that it lies in, and that which the result counts as.
    others
        For a copy: the memory that the function had not made itself.
    is_own
        Whether the function made the memory itself.
    strict
        The caller makes copies of the results: nobody may ever have seen that they are something else.
    value, view
        The array, and the variable that is returned for it.
    """

    function: ast.AST
    place: object
    home: ir.Storage
    result: ir.Storage
    others: set[ir.Storage] | None
    is_own: bool
    strict: bool
    value: ir.Var
    view: ir.Var

    def is_told_apart(self, found: Sequence[HandedOut]) -> bool:
        """Whether somebody could see that the result is not the array itself."""
        changes = self.strict or self.result.written
        if self.others is None:
            return changes or self.home.written
        together = [each for each in found if each.place is self.place]
        is_there_twice = sum(each.home.find() is self.home.find() for each in together) > 1
        return (is_there_twice and changes) or any(each.find() is self.home.find() for each in self.others)


def value_of_its_own(lo: Lowerer, called: Called, place: int, target: ir.Var) -> ir.Var:
    """What a call gets for a result that the function makes anew each time and hands to nobody else."""
    source = called.sources.get(place)
    if source is None:
        return target
    own = ir.fresh(target.type)
    assert isinstance(own, ir.Array)
    lo.run_data.handed_out.append(replace(source, result=own.storage))
    return ir.Var(target.hint, own)


def is_copied(lo: Lowerer, function: ast.AST) -> bool:
    """Whether each call of a function gets arrays of its own."""
    return function in lo.settings.copied_results and function not in lo.settings.shared_results


def own_copy(lo: Lowerer, value: Value) -> Value:
    """What the caller may write, of arrays that a recursive function returns."""
    if isinstance(value, TupleValue):
        return TupleValue(tuple(own_copy(lo, item) for item in value.items), value.cls)
    if not isinstance(value, ir.Var) or not isinstance(value.type, ir.Array) or not ir.carries_derivative(value.type):
        return value
    result = ir.Var(value.hint, ir.Array(value.type.dtype, value.type.dims))
    lo.emit(ir.Call((result,), np.copy, (value,), (), lo.open.span))
    return result


def storages_of(values: Iterable[Any]) -> set[ir.Storage]:
    """The classes of memory that can be reached from these values."""
    found: set[ir.Storage] = set()
    for value in values:
        if isinstance(value, (Record, TupleValue)):
            found |= storages_of(value.items)
        elif isinstance(value, ir.Var):
            found |= ir.storages(value.type)
    return found


def handed_out_as_value(lo: Lowerer, value: Value, outside: set[ir.Storage], function: ast.AST, place: object) -> Value:
    """What a call gets for an array that is returned: an array that nobody writes.

    Of memory that the function has made itself and written that is a copy, of other memory another name;
    :func:`results_are_settled` sees to it that nobody can tell.
    """
    if isinstance(value, TupleValue):
        items = tuple(handed_out_as_value(lo, item, outside, function, place) for item in value.items)
        return TupleValue(items, value.cls)
    if not isinstance(value, ir.Var) or not isinstance(value.type, ir.Array) or not ir.carries_derivative(value.type):
        return value
    home, type_ = value.type.storage, ir.Array(value.type.dtype, value.type.dims)
    is_own = all(storage.find() is not home.find() for storage in outside)
    strict = function in lo.settings.copied_results
    is_copied = is_own and (home.written or strict)
    result = ir.Var(value.hint, type_, value.named)
    if is_copied:
        lo.emit(ir.Call((result,), np.copy, (value,), (), lo.open.span))
    else:
        lo.emit(ir.Load(result, value, ir.WHOLE, lo.open.span))
    others = outside if is_copied else None
    lo.run_data.handed_out.append(
        HandedOut(function, place, home, type_.storage, others, is_own, strict, value, result)
    )
    return result


def with_values_returned(lo: Lowerer, called: Called) -> ir.Function:
    """The function, which returns arrays that it has made under their own name where nobody writes them."""
    function = called.definition.function
    assert function is not None
    made = {each.view: each for each in lo.run_data.handed_out if each.is_own and each.others is None}
    end = function.body.terminator
    if not isinstance(end, ir.Return):
        return function
    found = {
        place: made[value] for place, value in enumerate(end.values) if isinstance(value, ir.Var) and value in made
    }
    called.sources.update(found)
    values = tuple(found[place].value if place in found else value for place, value in enumerate(end.values))
    body = ir.Block(function.body.statements, ir.Return(values, end.span))
    return ir.Function(function.name, function.params, body, function.doc)


def without_arguments_returned(lo: Lowerer, called: Called) -> ir.Function:
    """The function without those of its results that are arrays or containers which it is given."""
    function = called.definition.function
    assert function is not None and called.result is not None
    end = function.body.terminator
    if not isinstance(end, ir.Return) or joins.has_options(called.result):
        return function
    made = {each.target: each for each in function.body.statements if isinstance(each, ir.Load)}
    given: dict[int, int] = {}
    for place, value in enumerate(end.values):
        if isinstance(value, ir.Var) and (isinstance(value.type, ir.Array) or ir.is_handle(value.type)):
            view = made.get(value)
            source = view.base if view is not None and view.key == ir.WHOLE else value
            if source in function.params:
                given[place] = function.params.index(source)
    gone: set[int] = set()
    called.result = _with_given(called.result, given, iter(range(len(end.values))), gone)
    if not gone:
        return function
    left_out = {end.values[place] for place in gone}
    lo.run_data.handed_out = [each for each in lo.run_data.handed_out if each.view not in left_out]
    values = tuple(value for place, value in enumerate(end.values) if place not in gone)
    body = ir.Block(function.body.statements, ir.Return(values, end.span))
    return ir.Function(function.name, function.params, body, function.doc)


def _with_given(shape: joins.Shape, given: Mapping[int, int], places: Iterator[int], gone: set[int]) -> joins.Shape:
    """What a function returns, as far as it is no argument; ``gone`` takes the places of what is."""
    match shape:
        case joins.Leaf():
            place = next(places)
            if place not in given:
                return shape
            gone.add(place)
            return joins.Same(GivenValue(given[place]))
        case joins.TupleShape(items=items, cls=cls) if cls is not slice:
            return joins.TupleShape(cls, tuple(_with_given(item, given, places, gone) for item in items))
        case _:
            for _ in joins.leaf_types(shape, "t"):
                next(places)
            return shape


def with_arguments(value: Value, given: Sequence[ir.Atom]) -> Value:
    """What a call gives, with its arguments where the function returns these."""
    match value:
        case GivenValue(place=place):
            return given[place]
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(with_arguments(item, given) for item in items), cls)
        case _:
            return value


def results_are_settled(lo: Lowerer) -> bool:
    """Whether nobody can tell what recursive functions return from what the callers get; else what to do is noted."""
    found = lo.run_data.handed_out
    told_apart = [each for each in found if each.is_told_apart(found)]
    for each in told_apart:
        to_be_copied = each.is_own and not each.strict
        (lo.settings.copied_results if to_be_copied else lo.settings.shared_results).add(each.function)
    return not told_apart
