"""Lists of lists of numbers, for a compiler in which all rows are of one kind: ``[[1, 1], [0, 1.0]]`` has two.

A row of whole numbers beside a row of floats is written out as floats. NumPy does so when it makes an array of them; of
a list that stays one, its items are floats where they were whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import read_counts, statements_in
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.records import dataclass
from adjoint.runtime import display

_KINDS: tuple[ir.ScalarKind, ...] = ("bool", "int", "float", "complex")
_PYTHON: dict[ir.ScalarKind, type] = {"bool": bool, "int": int, "float": float, "complex": complex}
_DISPLAYS = (display.make_list, display.make_tuple)
_WIDE = tuple(map(np.dtype, (np.bool_, np.int64, np.float64, np.complex128)))


@dataclass(frozen=True, slots=True)
class Nest:
    """The items of a list or tuple that is written out: numbers, or nests.

    Attributes
    ----------
    items
        What stands in it.
    is_list
        Whether it is a list.
    made_for
        The variable that holds it; None for a constant.
    """

    items: tuple[ir.Atom | Nest, ...]
    is_list: bool
    made_for: ir.Var | None

    def inner(self) -> Iterator[Nest]:
        """The nests in it, at any depth."""
        for item in self.items:
            if isinstance(item, Nest):
                yield item
                yield from item.inner()

    def displays(self) -> set[ir.Var]:
        """The variables that hold it and what is in it."""
        return {nest.made_for for nest in (self, *self.inner()) if nest.made_for is not None}

    def is_regular(self) -> bool:
        """Whether all rows are of one length."""
        rows = [item for item in self.items if isinstance(item, Nest)]
        if not rows:
            return True
        same = len(rows) == len(self.items) and len({len(row.items) for row in rows}) == 1
        return same and all(row.is_regular() for row in rows)

    def is_uneven(self) -> bool:
        """Whether its rows are of several kinds: of numbers, or lists and tuples."""
        rows = list(self.inner())
        kinds = {row.kind() for row in rows if not any(isinstance(item, Nest) for item in row.items)}
        return len(kinds) > 1 or len({row.is_list for row in rows}) > 1

    def kind(self) -> ir.ScalarKind:
        """The kind of number that takes all that stand in it."""
        kinds = [item.kind() if isinstance(item, Nest) else _kind_of(item) for item in self.items]
        return max((kind for kind in kinds if kind is not None), key=_KINDS.index, default="float")


def with_rows_of_one_kind(function: ir.Function) -> ir.Function:
    """The function with all rows of a list of lists made of the same kind of numbers."""
    return _Rows().function(function)


class _Rows(Rewriting):
    """A row that becomes part of a list that is written anew is read by nobody else, and left out."""

    def __init__(self) -> None:
        super().__init__()
        self._uneven: dict[ir.Var, Nest] = {}
        self._absorbed: set[ir.Var] = set()

    def function(self, function: ir.Function) -> ir.Function:
        found = _uneven(function)
        self._uneven.update(found)
        for target, nest in found.items():
            self._absorbed |= nest.displays() - {target}
        return super().function(function)

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if not isinstance(statement, ir.Call) or len(statement.targets) != 1:
            return (statement,)
        (target,) = statement.targets
        if target in self._absorbed:
            return ()
        nest = self._uneven.get(target)
        if nest is None:
            return (statement,)
        writing = _Writing(nest.kind(), statement)
        if statement.callee is display.make_list:
            items = tuple(map(writing.item, nest.items))
        else:
            items = (writing.item(nest), *statement.args[1:])
        return (
            *writing.statements,
            ir.Call(statement.targets, statement.callee, items, statement.kwargs, statement.span),
        )


class _Writing:
    """Writes nests out as lists of numbers of one kind."""

    def __init__(self, kind: ir.ScalarKind, call: ir.Call) -> None:
        self.kind = kind
        self.span = call.span
        self.statements: list[ir.Call] = []

    def item(self, item: ir.Atom | Nest) -> ir.Atom:
        if isinstance(item, Nest):
            items = tuple(map(self.item, item.items))
            return self.call(ir.Var("items", ir.List(type_of_atom(items[0]))), display.make_list, *items)
        if isinstance(item, ir.Const):
            return ir.Const(_PYTHON[self.kind](item.value))
        if _kind_of(item) == self.kind:
            return item
        return self.call(ir.Var("number", ir.Scalar(self.kind)), _PYTHON[self.kind], item)

    def call(self, target: ir.Var, callee: object, *args: ir.Atom) -> ir.Var:
        self.statements.append(ir.Call((target,), callee, args, (), self.span))
        return target


def _uneven(function: ir.Function) -> dict[ir.Var, Nest]:
    """What is made of lists whose rows differ."""
    calls = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]
    displays = {call.targets[0]: call for call in calls if call.callee in _DISPLAYS}
    if not displays:
        return {}
    reads = read_counts(function.body)
    once = {var: call for var, call in displays.items() if reads[var] == 1}
    found: dict[ir.Var, Nest] = {}
    part_of_another: set[ir.Var] = set()
    for call in reversed(calls):  # the outermost display comes last
        if len(call.targets) == 1 and call.targets[0] not in part_of_another:
            nest = _root_of(call, once)
            if nest is not None and nest.is_uneven():
                found[call.targets[0]] = nest
                part_of_another |= nest.displays()
    return found


def _root_of(call: ir.Call, displays: Mapping[ir.Var, ir.Call]) -> Nest | None:
    """The lists of which a call makes an array; a list of lists."""
    if call.callee in (np.array, np.asarray) and call.args:
        found = _nest_of(call.args[0], displays)
    elif call.callee is display.make_list:
        found = _nest_of(call.targets[0], {**displays, call.targets[0]: call})
        if isinstance(found, Nest) and not all(row.is_list for row in found.inner()):
            return None
    else:
        return None
    return found if isinstance(found, Nest) and found.is_regular() else None


def _nest_of(atom: ir.Atom, displays: Mapping[ir.Var, ir.Call]) -> ir.Atom | Nest | None:
    """The numbers of which displays make a value; None for other values."""
    call = displays.get(atom) if isinstance(atom, ir.Var) else None
    if call is not None:
        items = [_nest_of(arg, displays) for arg in call.args]
    elif isinstance(atom, ir.Const) and type(atom.value) is tuple:
        items = [_nest_of(ir.Const(value), displays) for value in atom.value]
    else:
        return None if _kind_of(atom) is None else atom
    known = tuple([item for item in items if item is not None])
    if not known or len(known) < len(items):
        return None
    return Nest(
        known, call is not None and call.callee is display.make_list, atom if isinstance(atom, ir.Var) else None
    )


def _kind_of(atom: ir.Atom) -> ir.ScalarKind | None:
    """The kind of a number that computes as those of Python do; None for others."""
    type_ = type_of_atom(atom)
    if isinstance(type_, ir.Scalar) and (type_.dtype is None or type_.dtype in _WIDE):
        return type_.kind
    return None
