"""``jvp`` in code that is lowered: the forward derivative is inlined."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from adjoint import ir
from adjoint.analysis.draws import draws, may_give_something_else
from adjoint.analysis.effects import written_places
from adjoint.differentiation.forward.forward import forward
from adjoint.differentiation.memory.copying import can_be_copied, copied
from adjoint.frontend.calls.definitions import is_for_a_rule
from adjoint.frontend.data.lists_of_objects import Stacked
from adjoint.frontend.differentiation.changed_parts import settle_changes, take_over
from adjoint.frontend.differentiation.inner_functions import Inner, copy_as, lower_inner
from adjoint.frontend.differentiation.refusals.arguments import check_differentiable
from adjoint.frontend.differentiation.result_seeds import first_of_pair, refuse_several_kinds
from adjoint.frontend.differentiation.result_tangents import owned_tangents, result_tangent
from adjoint.frontend.differentiation.tangent_values import paired
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Operator, TupleValue, Value
from adjoint.ir.rebuild import inline
from adjoint.runtime.numerical_methods import jacobians
from adjoint.runtime.tangents import to_shadow
from adjoint.types.structure import CONTAINERS


def is_column(lo: Lowerer) -> bool:
    """Whether what is lowered takes a column of a matrix of derivatives, and not the last one."""
    return lo.frame is not None and lo.frame.closure.function is jacobians._column


def refuse_what_columns_share(lo: Lowerer, inner: Inner, args: list[Value], node: ast.AST | None) -> None:
    """Refuses a function that would find something else in each of its runs, or gives objects; arguments are copies."""
    if any(shape.record.cls not in CONTAINERS for shape in _containers(inner.shape)):
        label = "a matrix of derivatives inside other code is of numbers, arrays, tuples, lists and dicts"
        raise lo.problem("AD0301", node, label, helps=("let the function return the fields of the object",))
    if draws(inner.function):
        label = "each column is of a function that draws other numbers"
        raise lo.problem("AD0301", node, label, helps=("draw beforehand what it needs",))
    if may_give_something_else(inner.function) and not is_for_a_rule(lo):
        label = "each column is of a function that calls what is not looked into, and may find something else"
        raise lo.problem("AD0301", node, label, helps=("call beforehand what gives it, and hand that on",))
    written = [inner.atoms[place] for place in written_places(inner.function)]
    if any(all(atom is not arg for arg in args) for atom in written):
        label = "the function changes what it finds outside, and runs once for each column"
        raise lo.problem("AD0303", node, label, helps=("let it return what it changes, or work on a copy",))


def _containers(shape: joins.Shape) -> Iterator[joins.RefShape]:
    """The objects, lists and dicts in the structure of a result."""
    parts: Iterable[joins.Shape] = ()
    if isinstance(shape, joins.RefShape):
        yield shape
        parts = shape.record.items
    elif isinstance(shape, joins.TupleShape):
        parts = shape.items
    for part in parts:
        yield from _containers(part)


def _lent(
    lo: Lowerer, direction: ir.Atom, of: ir.Atom, param: ir.Var, node: ast.AST | None, *, written: bool
) -> ir.Atom:
    """A tangent ``of`` an argument, which forward mode writes where the function writes that."""
    match param.type:
        case ir.Array() if written and ir.has_one_layout(param.type):
            return copy_as(lo, direction, param)
        case ir.Array() if written and lo.regions:  # else it is laid out like the argument already
            own = ir.Var(param.hint, param.type, param.named)
            lo.emit(ir.Call((own,), to_shadow, (direction, of)))
            return own
        case ir.List() | ir.Dict() | ir.Tuple() | ir.Instance() as type_ if written and lo.regions:
            if isinstance(direction, ir.Var) and type(direction.type) is type(type_) and can_be_copied(direction.type):
                return copied(lo.open, direction, type_)
            raise lo.problem("AD0303", node, f"the function changes {param.hint!r}, and its tangent with it")
    if isinstance(direction, ir.Var):
        _unite(direction, param)
    return direction


def _unite(one: ir.Var, other: ir.Var) -> None:
    mine, theirs = getattr(one.type, "storage", None), getattr(other.type, "storage", None)
    if mine is not None and theirs is not None and type(one.type) is type(other.type):
        mine.unite(theirs)


def jvp(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    tangents: list[Value],
    node: ast.AST | None,
    has_aux: bool = False,
) -> Value:
    """The value of a function and its derivative in one direction; ``aux`` behind them."""
    if len(args) != len(tangents):
        raise lo.problem("AD0409", node, f"{len(args)} primals, but {len(tangents)} tangents")
    places = [i for i, tangent in enumerate(tangents) if tangent != NONE]
    for place in places:
        check_differentiable(lo, function, args[place], place, node, args)
    inner = lower_inner(lo, function, args, {}, places, node, hands_out=True)
    runs_again = is_column(lo)
    if runs_again:
        refuse_what_columns_share(lo, inner, args, node)
    refuse_several_kinds(lo, function, inner.shape, node)
    directions: list[ir.Atom] = []
    chosen: list[int] = []
    leaves = [pair for place in places for pair in paired(lo, args[place], tangents[place], node)]
    for index, tangent in enumerate(leaves):
        if tangent != NONE:
            chosen.append(index)
            directions.append(tangent)
    own = sum(1 for _ in joins.leaf_types(inner.shape, ""))
    varying = range(first_of_pair(lo, function, inner, node) if has_aux else own)
    outputs = tuple(i for i in varying if ir.carries_derivative(inner.results[i]))
    stacked = Stacked(lo, inner)
    inner = stacked.inner
    chosen, directions = stacked.directions(chosen, directions)
    derivative = forward(
        inner.function, tuple(chosen), outputs, keep_derived=bool(lo.regions), target=lo.settings.target
    )
    written = written_places(inner.function)
    for number, (place, param) in enumerate(zip(chosen, derivative.params[len(inner.atoms) :], strict=True)):
        of = inner.atoms[place]
        directions[number] = _lent(lo, directions[number], of, param, node, written=place in written)
    atoms = inline(lo.open, derivative, (*inner.atoms, *directions))
    stacked.put_back()
    count = len(inner.results)
    results = iter(atoms[:count])
    value = joins.build(inner.shape, results, lo.store)
    if runs_again:  # what it changes of objects is as it was
        lo.run_data.changed.clear()
    else:
        take_over(lo, inner.handed_out, results, node)
    dots = dict(zip(outputs, atoms[count:], strict=True))
    settle_changes(lo)
    if not lo.regions:
        dots = owned_tangents(lo, inner.shape, atoms[:own], dots)
    dot = result_tangent(lo, inner.shape, atoms[:own], dots)
    if has_aux:
        assert isinstance(value, TupleValue) and isinstance(dot, TupleValue)
        return TupleValue((value.items[0], dot.items[0], value.items[1]))
    return TupleValue((value, dot))


def hvp(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    tangents: list[Value],
    node: ast.AST | None,
    has_aux: bool = False,
) -> Value:
    """The derivative of the gradient in one direction, for the arguments that move; ``aux`` behind it."""
    places = tuple([place for place, tangent in enumerate(tangents) if tangent != NONE])
    options = (("has_aux", has_aux), ("wrt", places))
    found = jvp(lo, Operator("grad", function, options), args, tangents, node, has_aux)
    assert isinstance(found, TupleValue) and isinstance(found.items[1], TupleValue)
    parts = iter(found.items[1].items)
    product = TupleValue(tuple([next(parts) if place in places else NONE for place in range(len(args))]))
    return TupleValue((product, found.items[2])) if has_aux else product
