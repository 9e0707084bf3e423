"""Arrays of which it depends on the path whether they hold floats or integers.

A sum that starts with ``0`` is an integer where its loop does not run. Its type is that of a float, for that is what
it is otherwise; an array made of it holds integers then, and what is written into it is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.analysis.joins import joins
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import blocks_of, defined_in, statements_in
from adjoint.rules import registry
from adjoint.rules.typing import type_of_call


def unsure_arrays(
    function: ir.Function, items: bool = False, constants: bool = True
) -> tuple[set[ir.Var], set[ir.Var]]:
    """The arrays of a function that may hold integers though floats are expected.

    Parameters
    ----------
    function
        The function.
    items
        Whether an item of a container that holds floats, or numbers of any kind, may be an integer as well.
    constants
        Whether a constant is an integer where paths meet, as the ``0`` that a sum starts with.

    Returns
    -------
    tuple of set of Var
        Those that are made in it and written in place, and those that nobody writes.
    """
    statements = statements_in(function.body)
    if not (items or constants) and not any(map(_meets_an_integer, statements)):
        return set(), set()
    found = _Lesser(statements, items, constants).types
    arrays = {var: var.type.storage for var in found if isinstance(var.type, ir.Array)}
    written = {var for var, storage in arrays.items() if storage.written}
    made = {
        target for each in statements if isinstance(each, ir.Call) and not _is_view(each) for target in each.targets
    }
    return written & made, arrays.keys() - written


def storages_of_integers(function: ir.Function) -> set[ir.Storage]:
    """The storage classes of which some array holds integers: where paths meet, others of them may."""
    variables = [*function.params, *defined_in(function.body)]
    arrays = [var.type for var in variables if isinstance(var.type, ir.Array)]
    return {type_.storage.find() for type_ in arrays if ir.is_whole_dtype(type_.dtype)}


class _Lesser:
    """What is something else where numbers that start as integers stay integers.

    Attributes
    ----------
    types
        What variables are then; only those that are floats, or hold floats, otherwise.
    """

    def __init__(self, statements: Sequence[ir.Statement], items: bool, constants: bool) -> None:
        self._items, self._constants = items, constants
        self.types: dict[ir.Var, ir.Type] = {}
        self._elements: dict[ir.Storage, ir.Type] = {}
        before = -1
        while before != len(self.types) + len(self._elements):
            before = len(self.types) + len(self._elements)
            for statement in statements:
                self._see(statement)

    def _see(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Call(callee=list.append, args=(base, value)) | ir.Store(base=base, value=value):
                self._put(base, value)
            case ir.Call():
                self._call(statement)
            case ir.Load(base=ir.Var() as base, target=target):
                self._note(target, self._part(base, target.type))
            case _ if blocks_of(statement):
                for source, target in joins(statement):
                    if self._constants or isinstance(source, ir.Var):
                        self._note(target, self._known(source) or type_of_atom(source))

    def _known(self, atom: ir.Atom) -> ir.Type | None:
        if not isinstance(atom, ir.Var):
            return None
        if isinstance(atom.type, ir.List) and atom.type.storage.find() in self._elements:
            return ir.List(self._elements[atom.type.storage.find()], is_tuple=atom.type.is_tuple)
        return self.types.get(atom)

    def _note(self, target: ir.Var, type_: ir.Type | None) -> None:
        if target not in self.types and type_ is not None and _is_less(type_, target.type):
            self.types[target] = type_

    def _put(self, base: ir.Atom, value: ir.Atom) -> None:
        """A list that holds one number that may be an integer may hold nothing else."""
        if isinstance(base, ir.Var) and isinstance(base.type, ir.List) and base.type.element is not None:
            type_ = self._known(value) or type_of_atom(value)
            if type_ is not None and _is_less(type_, base.type.element):
                self._elements[base.type.storage.find()] = type_

    def _call(self, call: ir.Call) -> None:
        if call.callee in (max, min):
            for arg in call.args:
                self._note(call.targets[0], self._known(arg) or type_of_atom(arg))
        args = [self._argument(arg) for arg in call.args]
        kwargs = [(name, self._argument(arg)) for name, arg in call.kwargs]
        makes = any(isinstance(target.type, (ir.List, ir.Dict, ir.Tuple)) for target in call.targets)
        if makes or any(new is not old for new, old in zip(args, call.args, strict=True)):
            for target, type_ in zip(call.targets, type_of_call(call.callee, args, kwargs), strict=False):
                self._note(target, type_)

    def _argument(self, atom: ir.Atom) -> ir.Atom:
        type_ = self._known(atom)
        return atom if type_ is None else ir.Var("lesser", type_)

    def _part(self, base: ir.Var, part: ir.Type) -> ir.Type | None:
        if self._items and not isinstance(base.type, ir.Array):
            return _of_integers(part)
        match self._known(base), part:
            case ir.List(element=element), _:
                return element
            case ir.Dict(value=value), _:
                return value
            case ir.Array(dtype=dtype), ir.Array(dims=dims, storage=storage):
                return ir.Array(dtype, dims, storage)
            case ir.Array(dtype=dtype), ir.Scalar():
                return ir.Scalar("int", dtype)
            case _:
                return None


def _meets_an_integer(statement: ir.Statement) -> bool:
    """Whether an integer that is computed is a float behind the place where paths meet."""
    return bool(blocks_of(statement)) and any(
        isinstance(source, ir.Var) and _is_less(source.type, target.type) for source, target in joins(statement)
    )


def _of_integers(type_: ir.Type) -> ir.Type | None:
    """The type of an integer, or of a list of integers, for one of floats."""
    match type_:
        case ir.Scalar(kind="float") | ir.Number():
            return ir.INT
        case ir.List(element=ir.Scalar(kind="float") | ir.Number(), storage=storage, is_tuple=is_tuple):
            return ir.List(ir.INT, storage, is_tuple)
        case _:
            return None


def _is_less(type_: ir.Type, than: ir.Type) -> bool:
    """Whether a type is one of integers where another one is of floats."""
    match type_, than:
        case ir.Scalar(kind="int" | "bool"), ir.Scalar(kind="float" | "complex") | ir.Number():
            return True
        case ir.Array(dtype=one), ir.Array(dtype=other):
            return ir.is_whole_dtype(one) and (other is None or ir.is_float_dtype(other))
        case (ir.List(element=one), ir.List(element=other)) | (ir.Dict(value=one), ir.Dict(value=other)):
            return one is not None and other is not None and _is_less(one, other)
        case ir.Tuple(items=ones), ir.Tuple(items=others):
            return len(ones) == len(others) and any(map(_is_less, ones, others))
        case _:
            return False


def _is_view(call: ir.Call) -> bool:
    rule = registry.rule_for(call.callee)
    return rule is None or rule.view_of is not None
