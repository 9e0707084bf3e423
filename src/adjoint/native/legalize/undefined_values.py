"""Lists and arrays on paths on which they are never read: to a compiler they are empty, not None."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.ir.nodes import Atom, Block, Branch, Const, Exit, Function, If, Loop, Statement, Undefined, Var, Yield
from adjoint.ir.rebuild import with_values
from adjoint.ir.types import Array, List, Type
from adjoint.native.compile.samples import sample_of
from adjoint.native.legalize.rewriting import Rewriting


def with_empty_stand_ins(function: Function) -> Function:
    """The function with empty lists and arrays, made once, for those that are never read."""
    return _Filling().function(function)


class _Filling(Rewriting):
    def __init__(self) -> None:
        super().__init__()
        self.made: list[Statement] = []
        self.known: dict[str, Atom] = {}

    def function(self, function: Function) -> Function:
        outer = self.made, self.known
        self.made, self.known = [], {}
        result = super().function(function)
        body = Block((*self.made, *result.body.statements), result.body.terminator)
        self.made, self.known = outer
        return Function(result.name, result.params, body, result.doc)

    def compound(self, statement: Statement) -> Statement:
        match statement:
            case If(cond=cond, then=then, orelse=orelse, targets=targets, span=span):
                return If(cond, self._filled(then, targets, Yield), self._filled(orelse, targets, Yield), targets, span)
            case Loop(body=body, targets=targets):
                return Loop(
                    statement.over,
                    statement.index,
                    statement.params,
                    statement.inits,
                    self._filled(body, targets, Exit),
                    targets,
                    statement.exit,
                    statement.span,
                )
            case _:
                return statement

    def _filled(self, block: Block, targets: Sequence[Var], kind: type[Yield] | type[Exit]) -> Block:
        end = block.terminator
        if isinstance(end, Branch):
            then, orelse = self._filled(end.then, targets, kind), self._filled(end.orelse, targets, kind)
            return Block(block.statements, Branch(end.cond, then, orelse, end.span))
        if not isinstance(end, kind):
            return block
        pairs = zip(targets, end.values, strict=False)
        values = [self._stand_in(target.type) or value if _is_unread(value) else value for target, value in pairs]
        return Block(block.statements, with_values(end, (*values, *end.values[len(values) :])))

    def _stand_in(self, type_: Type) -> Atom | None:
        """An empty list or array of a type; None for other types."""
        if not isinstance(type_, (List, Array)):
            return None
        key = repr(type_)
        if key not in self.known:
            found = sample_of(type_)
            if found is None:
                return None
            self.known[key], statements = found
            self.made += statements
        return self.known[key]


def _is_unread(value: Atom) -> bool:
    return isinstance(value, Undefined) or value == Const(None)
