"""Lists and arrays on paths on which they are never read: to a compiler they are empty, not None."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.ir.rebuild import with_values
from adjoint.native.compile.samples import sample_of
from adjoint.native.legalize.rewriting import Rewriting


def with_empty_stand_ins(function: ir.Function) -> ir.Function:
    """The function with empty lists and arrays, made once, for those that are never read."""
    return _Filling().function(function)


class _Filling(Rewriting):
    def __init__(self) -> None:
        super().__init__()
        self.made: list[ir.Statement] = []
        self.known: dict[str, ir.Atom] = {}

    def function(self, function: ir.Function) -> ir.Function:
        outer = self.made, self.known
        self.made, self.known = [], {}
        result = super().function(function)
        body = ir.Block((*self.made, *result.body.statements), result.body.terminator)
        self.made, self.known = outer
        return ir.Function(result.name, result.params, body, result.doc)

    def compound(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If(cond=cond, then=then, orelse=orelse, targets=targets, span=span):
                return ir.If(
                    cond, self._filled(then, targets, ir.Yield), self._filled(orelse, targets, ir.Yield), targets, span
                )
            case ir.Loop(body=body, targets=targets):
                return ir.Loop(
                    statement.over,
                    statement.index,
                    statement.params,
                    statement.inits,
                    self._filled(body, targets, ir.Exit),
                    targets,
                    statement.exit,
                    statement.span,
                )
            case _:
                return statement

    def _filled(self, block: ir.Block, targets: Sequence[ir.Var], kind: type[ir.Yield] | type[ir.Exit]) -> ir.Block:
        end = block.terminator
        if isinstance(end, ir.Branch):
            then, orelse = self._filled(end.then, targets, kind), self._filled(end.orelse, targets, kind)
            return ir.Block(block.statements, ir.Branch(end.cond, then, orelse, end.span))
        if not isinstance(end, kind):
            return block
        pairs = zip(targets, end.values, strict=False)
        values = [self._stand_in(target.type) or value if _is_unread(value) else value for target, value in pairs]
        return ir.Block(block.statements, with_values(end, (*values, *end.values[len(values) :])))

    def _stand_in(self, type_: ir.Type) -> ir.Atom | None:
        """An empty list or array of a type; None for other types."""
        if not isinstance(type_, (ir.List, ir.Array)):
            return None
        key = repr(type_)
        if key not in self.known:
            found = sample_of(type_)
            if found is None:
                return None
            self.known[key], statements = found
            self.made += statements
        return self.known[key]


def _is_unread(value: ir.Atom) -> bool:
    return isinstance(value, ir.Undefined) or value == ir.Const(None)
