"""What recursive calls keep for each other, as tables: in machine code a tuple has a fixed size.

A recursive function keeps a tuple in which the tuples of its inner calls lie. Here such a tuple becomes a row of a
table: one list per item, made by the outermost function and handed to all; what is handed around is the number of
the row.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence

from adjoint import ir
from adjoint.differentiation.definitions import called_by
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_leaves, rebuild, rebuild_terminator, with_values
from adjoint.ir.walk import leaves, operands, statements_in
from adjoint.native.legalize.undefined_values import sample_of
from adjoint.runtime import display
from adjoint.runtime.lists import no_items

_NONE = ir.Const(-1)
_SAME = (list.copy, operator.mul, display.make_list, list.append, list.pop)
Node = object


def with_records(function: ir.Function) -> ir.Function:
    """The function with tables for the tuples of recursive functions; itself where there are none."""
    definitions = called_by(function)
    if not any(definition in called_by(_body_of(definition)) for definition in definitions):
        return function
    try:
        flow = _Flow(function, definitions)
        return _Rewriter(flow).main(function) if flow.tables else function
    except _Unknown:
        return function


class _Unknown(Exception):
    """Something else than handing around is done with a tuple."""


def _body_of(definition: ir.Definition) -> ir.Function:
    if definition.function is None:
        raise _Unknown
    return definition.function


def _is_relevant(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and (
        _is_tuple(atom.type) or (isinstance(atom.type, ir.List) and _is_list(atom.type))
    )


def _is_tuple(type_: ir.Type | None) -> bool:
    return isinstance(type_, ir.Opaque)


def _is_list(type_: ir.List) -> bool:
    return type_.element is None or isinstance(type_.element, ir.Opaque)


class _Flow:
    """Which variables hand around the same tuples, or lists of them.

    Attributes
    ----------
    tables
        For each class of variables the call that makes its tuples.
    """

    def __init__(self, function: ir.Function, definitions: Sequence[ir.Definition]) -> None:
        self._parents: dict[Node, Node] = {}
        self._loads: list[ir.Load] = []
        self._makers: list[ir.Call] = []
        self.functions = [function, *map(_body_of, definitions)]
        self._collect(function, None)
        for definition in definitions:
            self._collect(_body_of(definition), definition)
        self.tables: dict[Node, ir.Call] = {}
        self._settle()
        handed_out = [value for leaf in leaves(function.body) if isinstance(leaf, ir.Return) for value in leaf.values]
        if any(self.table(value) is not None for value in handed_out):
            raise _Unknown

    def find(self, node: Node) -> Node:
        while node in self._parents:
            node = self._parents[node]
        return node

    def table(self, atom: ir.Atom) -> ir.Call | None:
        """What makes the tuples that a variable hands around; None where it is something else."""
        return self.tables.get(self.find(atom)) if isinstance(atom, ir.Var) else None

    def _unite(self, one: Node, other: Node) -> None:
        if isinstance(one, (ir.Const, ir.Undefined)) or isinstance(other, (ir.Const, ir.Undefined)):
            return
        mine, theirs = self.find(one), self.find(other)
        if mine != theirs:
            self._parents[mine] = theirs

    def _pairs(self, targets: Sequence[ir.Atom], values: Sequence[ir.Atom]) -> None:
        for target, value in zip(targets, values, strict=False):
            if _is_relevant(target) or _is_relevant(value):
                self._unite(target, value)

    def _collect(self, function: ir.Function, definition: ir.Definition | None) -> None:
        for statement in statements_in(function.body):
            self._statement(statement)
        for leaf in leaves(function.body):
            if isinstance(leaf, ir.Return):
                for place, value in enumerate(leaf.values):
                    if _is_relevant(value):
                        self._unite(value, (definition, place))

    def _statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Call(callee=ir.Definition() as callee, targets=targets, args=args):
                for place, target in enumerate(targets):
                    if _is_relevant(target):
                        self._unite(target, (callee, place))
                self._pairs(_body_of(callee).params, args)
            case ir.Call(callee=display.make_tuple, targets=(target,)) if _is_relevant(target):
                self._makers.append(statement)
            case ir.Call(callee=callee, targets=targets, args=args) if callee in _SAME:
                alike = [atom for atom in (*targets, *args) if _is_relevant(atom)]
                for atom in alike[1:]:
                    self._unite(alike[0], atom)
            case ir.Load(target=target, base=base) if isinstance(base, ir.Var) and isinstance(base.type, ir.List):
                self._pairs((target,), (base,))
            case ir.Load(base=base) if _is_relevant(base):
                self._loads.append(statement)
            case ir.Store(base=base, value=value) if _is_relevant(value):
                self._unite(base, value)
            case ir.If(then=then, orelse=orelse, targets=targets):
                for leaf in (*leaves(then), *leaves(orelse)):
                    if isinstance(leaf, ir.Yield):
                        self._pairs(targets, leaf.values)
            case ir.Loop(params=params, inits=inits, targets=targets, over=over):
                if isinstance(over, ir.Items) and _is_relevant(over.iterable):
                    raise _Unknown
                self._pairs(params, inits)
                self._pairs(targets, params)
                for leaf in leaves(statement.body):
                    if isinstance(leaf, (ir.Continue, ir.Exit)):
                        self._pairs(params if isinstance(leaf, ir.Continue) else targets, leaf.values)
            case ir.Guarded():
                raise _Unknown
            case _:
                pass

    def _settle(self) -> None:
        """Finds the tables, and follows the items that are tuples themselves."""
        for _ in range(len(self._loads) + 1):
            self.tables = {}
            for maker in self._makers:
                root = self.find(maker.targets[0])
                if root in self.tables:
                    raise _Unknown
                self.tables[root] = maker
            before = len(self._parents)
            for load in self._loads:
                item = self.item(load)
                if item is not None and (_is_relevant(load.target) or _is_relevant(item)):
                    self._unite(load.target, item)
            if len(self._parents) == before:
                break
        for function in self.functions:
            for statement in statements_in(function.body):
                self._check(statement)

    def item(self, load: ir.Load) -> ir.Atom | None:
        """What was put where a load reads; None where it reads no tuple of a table."""
        maker = self.table(load.base)
        match load.key:
            case ir.Subscript(items=(ir.Const(value=int(place)),)) if maker is not None:
                return maker.args[place]
        if maker is not None:
            raise _Unknown
        return None

    def _check(self, statement: ir.Statement) -> None:
        """Nothing else is done with what is kept in tables."""
        if isinstance(statement, ir.Call) and (
            isinstance(statement.callee, ir.Definition)
            or statement.callee in _SAME
            or statement.callee in (len, display.make_tuple)
        ):
            return
        if isinstance(statement, ir.Call) and any(self.table(atom) is not None for atom in operands(statement)):
            raise _Unknown


class _Rewriter:
    def __init__(self, flow: _Flow) -> None:
        self.flow = flow
        self.makers = list(flow.tables.values())
        self.columns: dict[tuple[int, int], ir.Var] = {}
        self.made: dict[ir.Definition, ir.Definition] = {}
        self.names: dict[ir.Var, ir.Var] = {}

    def main(self, function: ir.Function) -> ir.Function:
        self._new_columns()
        first = list(self._tables_made())
        body = self._block(function.body)
        return ir.Function(
            function.name, function.params, ir.Block((*first, *body.statements), body.terminator), function.doc
        )

    def _new_columns(self) -> None:
        self.columns = {}
        for number, maker in enumerate(self.makers):
            for place, arg in enumerate(maker.args):
                self.columns[number, place] = ir.Var("column", ir.List(self._type(arg), ir.Storage(written=True)))

    def _type(self, atom: ir.Atom) -> ir.Type:
        """The type of an item of a table."""
        if (isinstance(atom, ir.Const) and atom.value is None) or (
            self.flow.table(atom) is not None and isinstance(atom, ir.Var) and _is_tuple(atom.type)
        ):
            return ir.INT
        if self.flow.table(atom) is not None:
            return ir.List(ir.INT)
        type_ = type_of_atom(atom)
        if type_ is None:
            raise _Unknown
        return type_

    def _tables_made(self) -> Iterator[ir.Statement]:
        for column in self.columns.values():
            assert isinstance(column.type, ir.List) and column.type.element is not None
            found = sample_of(column.type.element)
            if found is None:
                raise _Unknown
            sample, statements = found
            yield from statements
            yield ir.Call((column,), no_items, (sample,))

    def _definition(self, definition: ir.Definition) -> ir.Definition:
        known = self.made.get(definition)
        if known is None:
            known = self.made[definition] = ir.Definition(definition.name)
            outer = self.columns
            self._new_columns()
            function = _body_of(definition)
            params = (*[self._name(param) for param in function.params], *self.columns.values())
            known.function = ir.Function(function.name, params, self._block(function.body), function.doc)
            self.columns = outer
        return known

    def _name(self, var: ir.Var) -> ir.Var:
        """The variable with the number of a row for one with a tuple, and with a list of them for a list."""
        if self.flow.table(var) is None:
            return var
        if var not in self.names:
            type_: ir.Type = ir.List(ir.INT, ir.Storage(written=True)) if isinstance(var.type, ir.List) else ir.INT
            self.names[var] = ir.Var(var.hint, type_, var.named)
        return self.names[var]

    def _atom(self, atom: ir.Atom) -> ir.Atom:
        return self._name(atom) if isinstance(atom, ir.Var) else atom

    def _block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            statements += self._statement(statement)
        return ir.Block(tuple(statements), self._terminator(block.terminator))

    def _statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.Call):
            return self._call(statement)
        if isinstance(statement, ir.Load) and self.flow.item(statement) is not None:
            number = self.makers.index(self.flow.tables[self.flow.find(statement.base)])
            assert isinstance(statement.key, ir.Subscript)
            place = statement.key.items[0]
            assert isinstance(place, ir.Const)
            row = ir.Subscript((self._atom(statement.base),))
            return [ir.Load(self._name(statement.target), self.columns[number, place.value], row, statement.span)]
        targets = getattr(statement, "targets", ())
        if isinstance(statement, ir.If):
            statement = ir.If(
                statement.cond,
                _with_rows(statement.then, self._places(targets)),
                _with_rows(statement.orelse, self._places(targets)),
                targets,
                statement.span,
            )
        elif isinstance(statement, ir.Loop):
            places = self._places(statement.params)
            inits = _rows(statement.inits, places)
            body = _with_rows(statement.body, self._places(targets) | places)
            statement = ir.Loop(
                statement.over, statement.index, statement.params, inits, body, targets, statement.exit, statement.span
            )
        return [rebuild(statement, self._atom, self._block, self._name)]

    def _places(self, targets: Sequence[ir.Var]) -> set[int]:
        return {place for place, target in enumerate(targets) if self.flow.table(target) is not None}

    def _call(self, call: ir.Call) -> list[ir.Statement]:
        maker = next((number for number, made in enumerate(self.makers) if made is call), None)
        args = tuple(map(self._atom, call.args))
        targets = tuple(map(self._name, call.targets))
        if maker is not None:
            return list(self._row(call, maker, args, targets[0]))
        if isinstance(call.callee, ir.Definition):
            places = self._places(_body_of(call.callee).params)
            callee = self._definition(call.callee)
            return [ir.Call(targets, callee, (*_rows(args, places), *self.columns.values()), call.kwargs, call.span)]
        if any(self.flow.table(atom) is not None for atom in call.args):
            args = _rows(args, set(range(len(args))))
        return [ir.Call(targets, call.callee, args, call.kwargs, call.span)]

    def _row(self, call: ir.Call, number: int, args: tuple[ir.Atom, ...], target: ir.Var) -> Iterator[ir.Statement]:
        """Adds a row to a table."""
        if not args:
            yield ir.Call((target,), int, (ir.Const(0),), (), call.span)
            return
        yield ir.Call((target,), len, (self.columns[number, 0],), (), call.span)
        for place, arg in enumerate(args):
            item = _NONE if isinstance(arg, ir.Const) and arg.value is None else arg
            yield ir.Call((), list.append, (self.columns[number, place], item), (), call.span)

    def _terminator(self, terminator: ir.Terminator) -> ir.Terminator:
        return rebuild_terminator(terminator, self._atom, self._block)


def _rows(values: Sequence[ir.Atom], places: set[int]) -> tuple[ir.Atom, ...]:
    """Values with the number of no row for None at these places."""
    return tuple(
        _NONE if place in places and isinstance(value, ir.Const) and value.value is None else value
        for place, value in enumerate(values)
    )


def _with_rows(block: ir.Block, places: set[int]) -> ir.Block:
    if not places:
        return block

    def leaf(old: ir.Terminator) -> ir.Terminator:
        if isinstance(old, (ir.Yield, ir.Continue, ir.Exit)):
            return with_values(old, _rows(old.values, places))
        return old

    return map_leaves(block, leaf)
