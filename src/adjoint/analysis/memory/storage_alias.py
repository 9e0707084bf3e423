"""Which variables may share memory, and which memory a function writes.

One pass over a function unites the variables between which references may flow, whatever way. Coarse, but it needs to
see the whole function only once: what is not united with anything written can be read at any time.
"""

from __future__ import annotations

from collections.abc import Iterable

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.known_effects import Effects
from adjoint.ir.walk import key_atoms


class Memory:
    """May-alias classes of the variables of a function."""

    def __init__(self, function: ir.Function) -> None:
        self._parents: dict[ir.Var, ir.Var] = {}
        self._written: set[ir.Var] = set()
        self._returned: set[ir.Var] = set()
        self._unknown_call = False
        self._unite_params(function.params)
        self._block(function.body, None)
        if self._unknown_call:
            self._written.update(param for param in function.params if _refers(param))
        self._written = {self._find(var) for var in self._written}
        self._returned = {self._find(var) for var in self._returned}

    def written(self, atom: ir.Atom) -> bool:
        """Whether some statement may write memory that this value refers to."""
        return type(atom) is ir.Var and type(atom.type) is not ir.Scalar and self._find(atom) in self._written

    def same_again(self, load: ir.Load) -> bool:
        """Whether nobody writes what a load reads: its base, unless that is a tuple, and arrays of places and masks."""
        base = load.base
        is_tuple = type(base) is ir.Var and type(base.type) is ir.Tuple
        return (is_tuple or not self.written(base)) and not any(map(self.written, key_atoms(load.key)))

    def may_share(self, one: ir.Atom, other: ir.Atom) -> bool:
        """Whether two values may refer to the same memory."""
        return type(one) is ir.Var and type(other) is ir.Var and self._find(one) is self._find(other)

    def returned(self, atom: ir.Atom) -> bool:
        """Whether the function may return memory that this value refers to."""
        return type(atom) is ir.Var and self._find(atom) in self._returned

    def _find(self, var: ir.Var) -> ir.Var:
        parents = self._parents
        while (parent := parents.get(var)) is not None:
            above = parents.get(parent)
            if above is None:
                return parent
            parents[var] = var = above
        return var

    def unite(self, one: ir.Atom | None, other: ir.Atom | None) -> None:
        """Notes that two values may share memory."""
        if type(one) is not ir.Var or type(other) is not ir.Var or not _refers(one) or not _refers(other):
            return
        one, other = self._find(one), self._find(other)
        if one is not other:
            self._parents[other] = one
            for marked in (self._written, self._returned):
                if other in marked:
                    marked.add(one)

    def _unite_all(self, atoms: Iterable[ir.Atom]) -> None:
        referring = [atom for atom in atoms if type(atom) is ir.Var and _refers(atom)]
        for atom in referring[1:]:
            self.unite(referring[0], atom)

    def _unite_params(self, params: tuple[ir.Var, ...]) -> None:
        owners: dict[ir.Storage, ir.Var] = {}
        for param in params:
            storage = getattr(param.type, "storage", None)
            if isinstance(storage, ir.Storage):
                self.unite(owners.setdefault(storage.find(), param), param)

    def _block(self, block: ir.Block, construct: ir.If | ir.Loop | ir.Guarded | None) -> None:
        for statement in block.statements:
            self._statement(statement)
        self._ends(block, construct)

    def _ends(self, block: ir.Block, construct: ir.If | ir.Loop | ir.Guarded | None) -> None:
        match block.terminator:
            case ir.Branch(then=then, orelse=orelse):
                self._block(then, construct)
                self._block(orelse, construct)
            case ir.Return(values=values):
                self._returned.update(value for value in values if type(value) is ir.Var)
            case ir.Yield(values=values) | ir.Exit(values=values):
                if construct is not None:
                    for target, value in zip(construct.targets, values, strict=False):
                        self.unite(target, value)
            case ir.Continue(values=values):
                assert isinstance(construct, ir.Loop)
                for param, value in zip(construct.params, values, strict=True):
                    self.unite(param, value)

    def _statement(self, statement: ir.Statement) -> None:
        if type(statement) is ir.Call:
            self._call(statement)
            return
        match statement:
            case ir.Load(target=target, base=base):
                self.unite(base, target)
            case ir.Store(base=base, value=value):
                if type(base) is ir.Var:
                    self._written.add(base)
                    if type(base.type) is not ir.Array:
                        self.unite(base, value)
            case ir.If(then=then, orelse=orelse):
                self._block(then, statement)
                self._block(orelse, statement)
            case ir.Loop(over=over, index=index):
                if isinstance(over, ir.Items):
                    self.unite(over.iterable, index)
                for init, param, target in zip(statement.inits, statement.params, statement.targets, strict=False):
                    self.unite(init, param)
                    self.unite(param, target)
                self._block(statement.body, statement)
            case ir.Guarded(context=context, name=name):
                self.unite(context, name)
                blocks = [statement.body, *(handler.body for handler in statement.handlers)]
                for block in blocks:
                    self._block(block, statement)
                if statement.final is not None:
                    self._block(statement.final, None)

    def _call(self, call: ir.Call) -> None:
        found = effects_of(call)
        args = (*call.args, *(value for _, value in call.kwargs)) if call.kwargs else call.args
        references = [arg for arg in args if type(arg) is ir.Var and _refers(arg)]
        if found.known and not found.writes and len(call.targets) < 2 and not references:
            return
        if not found.known:
            self._unknown_call = True
            self._written.update(references)
        self._written.update(arg for position in found.writes if type(arg := _at(args, position)) is ir.Var)
        if found.hands_on or any(type(arg) is ir.Var and _may_hold(arg) for arg in args):
            self._unite_all((*args, *call.targets))
        elif found.view_of is not None:
            for target in call.targets:
                self.unite(_at(args, found.view_of), target)


def _at(args: tuple[ir.Atom, ...], position: int) -> ir.Atom | None:
    return args[position] if position < len(args) else None


def _refers(var: ir.Var) -> bool:
    return not _is_of_scalars(var.type)


def _is_of_scalars(type_: ir.Type | None) -> bool:
    """Whether values of a type are numbers, or tuples of these, such as shapes."""
    return type(type_) is ir.Scalar or (type(type_) is ir.Tuple and all(map(_is_of_scalars, type_.items)))


def _may_hold(var: ir.Var) -> bool:
    """Whether a value may hold references to others."""
    return type(var.type) not in (ir.Scalar, ir.Array, ir.Number) and _refers(var)


def owns_result(call: ir.Call, found: Effects) -> bool:
    """Whether the result of a call is memory that nobody else refers to."""
    if not found.confined or found.view_of is not None or len(call.targets) != 1:
        return False
    if found.fresh:
        return True
    return not found.hands_on and type(call.targets[0].type) is ir.Array
