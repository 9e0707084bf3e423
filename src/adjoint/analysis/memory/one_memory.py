"""Functions in whose types it stands which arrays share memory that is written.

The types of derivatives do not say it of views of views, and where a function is differentiated once more, it is read
there.
"""

from __future__ import annotations

from collections.abc import Hashable

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.alias import Aliases
from adjoint.ir.rebuild import rebuild, rebuild_terminator
from adjoint.ir.walk import operands, statements_in, targets_of


def with_memory_told(function: ir.Function) -> ir.Function | None:
    """The same function, if it writes to arrays that it has made itself, and to nothing else; else None."""
    aliases = Aliases(function)
    written: set[Hashable] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Guarded):
            return None
        if isinstance(statement, ir.Store):
            written |= aliases.classes([statement.base])
        elif isinstance(statement, ir.Call):
            facts = effects_of(statement)
            if not facts.known:
                return None
            written |= aliases.classes(statement.args[place] for place in facts.writes)
    if not written:
        return function
    if not written.isdisjoint(aliases.classes(function.params)):
        return None
    in_memory = {
        atom
        for statement in statements_in(function.body)
        for atom in (*operands(statement), *targets_of(statement))
        if isinstance(atom, ir.Var) and aliases.of(atom) in written
    }
    if not all(isinstance(var.type, (ir.Array, ir.Scalar)) for var in in_memory):
        return None
    return _with_storages(function, aliases, written)


def _with_storages(function: ir.Function, aliases: Aliases, written: set[Hashable]) -> ir.Function:
    homes = {each: ir.Storage(written=True) for each in written}
    names: dict[ir.Var, ir.Var] = {}

    def type_of(var: ir.Var) -> ir.Type:
        home = homes.get(aliases.of(var))
        return var.type if home is None or not isinstance(var.type, ir.Array) else _stored(var.type, home)

    def atom(old: ir.Atom) -> ir.Atom:
        return names.get(old, old) if isinstance(old, ir.Var) else old

    def fresh(old: ir.Var) -> ir.Var:
        new = names[old] = ir.Var(old.hint, type_of(old), old.named)
        return new

    def block(old: ir.Block) -> ir.Block:
        statements = tuple([rebuild(statement, atom, block, fresh) for statement in old.statements])
        return ir.Block(statements, rebuild_terminator(old.terminator, atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _stored(type_: ir.Array, home: ir.Storage) -> ir.Array:
    return ir.Array(type_.dtype, type_.dims, home)
