"""Which variables may share memory, told from what statements do: types of derivatives do not say it of all views."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, targets_of, terminators_in, vars_of
from adjoint.runtime import display


class Aliases:
    """The classes of variables that may share memory, and whether something writes to it."""

    def __init__(self, function: ir.Function) -> None:
        self._parents: dict[Hashable, Hashable] = {}
        self._written: set[Hashable] = set()
        self._handed_out = _handed_out(function)
        self._block(function.body)
        self._find_all(function)
        self._written = {self._find(part) for part in self._written}

    def of(self, atom: ir.Atom) -> Hashable:
        """The class of an array; None for what has no memory."""
        return self._find(atom) if isinstance(atom, ir.Var) and _has_memory(atom) else None

    def classes(self, atoms: Iterable[object]) -> set[Hashable]:
        """The classes of all arrays among some atoms."""
        return {self._find(atom) for atom in atoms if isinstance(atom, ir.Var) and _has_memory(atom)}

    def is_written(self, var: ir.Var) -> bool:
        """Whether an element may be another one the next time."""
        return self.of(var) in self._written

    def _find(self, part: Hashable) -> Hashable:
        if part not in self._parents:
            self._parents[part] = part
            storage = ir.storage_of(part.type) if isinstance(part, ir.Var) else None
            if storage is not None:
                self._unite([part, storage])
                if storage.written and isinstance(part, ir.Var) and isinstance(part.type, ir.Array):
                    self._written.add(part)
        while self._parents[part] is not part:
            self._parents[part] = part = self._parents[self._parents[part]]
        return part

    def _find_all(self, function: ir.Function) -> None:
        for statement in statements_in(function.body):
            for atom in (*operands(statement), *targets_of(statement)):
                self.of(atom)

    def _unite(self, parts: Iterable[Hashable]) -> None:
        roots = [self._find(part) for part in parts if not isinstance(part, ir.Var) or _has_memory(part)]
        for root in roots[1:]:
            self._parents[self._find(root)] = self._find(roots[0])

    def _block(self, block: ir.Block) -> None:
        for statement in block.statements:
            self._statement(statement)
            for inner in blocks_of(statement):
                self._block(inner)
        for inner in blocks_of(block.terminator):
            self._block(inner)

    def _statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Call():
                self._call(statement)
            case ir.Load(target=target, base=base):
                self._unite(vars_of([target, base]))
            case ir.Store(base=base, value=value):
                if isinstance(base, ir.Var) and isinstance(base.type, ir.Array):
                    self._written.add(base)
                else:
                    self._unite(vars_of([base, value]))
            case ir.If(targets=targets):
                for block in blocks_of(statement):
                    for leaf in leaves(block):
                        self._flow(getattr(leaf, "values", ()), targets)
            case ir.Loop(params=params, inits=inits, targets=targets, body=body):
                self._flow(inits, params)
                self._flow(params, targets)
                for leaf in leaves(body):
                    if isinstance(leaf, (ir.Continue, ir.Exit)):
                        self._flow(leaf.values, params if isinstance(leaf, ir.Continue) else targets)
            case _:
                self._unite(vars_of([*operands(statement), *targets_of(statement)]))

    def _flow(self, values: Iterable[ir.Atom], into: Iterable[ir.Var]) -> None:
        for value, var in zip(values, into, strict=False):
            self._unite(vars_of([value, var]))

    def _call(self, call: ir.Call) -> None:
        found = effects_of(call)
        written = vars_of(found.written(call.args))
        self._written.update(var for var in written if isinstance(var.type, ir.Array))
        if found.view_of is not None and found.view_of < len(call.args):
            self._unite(vars_of([*call.targets, call.args[found.view_of]]))
        if found.known and not found.hands_on:
            return
        if call.callee in (display.make_tuple, display.make_list) and self._handed_out.issuperset(call.targets):
            return
        if not found.known:
            self._written.update(vars_of(operands(call)))
        self._unite(vars_of([*operands(call), *call.targets]))


def _has_memory(var: ir.Var) -> bool:
    return isinstance(var.type, (ir.Array, ir.List, ir.Tuple, ir.Dict, ir.Instance, ir.Opaque))


def _handed_out(function: ir.Function) -> set[ir.Var]:
    """The tuples that are only handed to the caller, alone or in others."""
    made = {
        target
        for statement in statements_in(function.body)
        if isinstance(statement, ir.Call) and statement.callee is display.make_tuple
        for target in statement.targets
    }
    used: set[ir.Atom] = set()
    for statement in statements_in(function.body):
        if not isinstance(statement, ir.Call) or statement.callee is not display.make_tuple:
            used.update(operands(statement))
    for end in terminators_in(function.body):
        if not isinstance(end, ir.Return):
            used.update(operands(end))
    return made - used
