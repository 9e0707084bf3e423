"""Which values may depend on some parameters: a quick answer that errs on the side of yes."""

from __future__ import annotations

from collections.abc import Iterable

from adjoint import ir
from adjoint.analysis.effects import effects
from adjoint.analysis.joins import caught
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, targets_of


def varying(block: ir.Block, params: Iterable[ir.Var]) -> set[ir.Atom]:
    """The variables of ``block`` that may depend on ``params``, through values and through memory."""
    varied: set[ir.Atom] = set(params)
    before = -1
    while before != len(varied):
        before = len(varied)
        for statement in statements_in(block):
            if isinstance(statement, ir.Call) and effects(statement.callee).reads == ():
                continue  # looks at shapes and types only
            varied.update(name for source, name in caught(statement) if source in varied)
            inside = [atom for inner in blocks_of(statement) for leaf in leaves(inner) for atom in operands(leaf)]
            if not any(atom in varied for atom in (*operands(statement), *inside)):
                continue
            varied.update(targets_of(statement))
            if isinstance(statement, ir.Loop):
                varied.update(statement.params)
                if isinstance(statement.over, ir.Items) and statement.over.iterable in varied:
                    varied.update(filter(None, (statement.index,)))
            elif isinstance(statement, ir.Store) and isinstance(statement.base, ir.Var):
                varied.add(statement.base)
            elif isinstance(statement, ir.Call) and not statement.targets:
                varied.update(atom for atom in statement.args if isinstance(atom, ir.Var))
    return varied


def varying_in_calls(block: ir.Block, params: Iterable[ir.Var]) -> set[ir.Atom]:
    """The same, with the variables of the functions that are called there."""
    found: set[ir.Atom] = set()
    pending: list[tuple[ir.Block, tuple[ir.Var, ...]]] = [(block, tuple(params))]
    seen = set()
    while pending:
        body, given = pending.pop()
        varied = varying(body, given)
        found |= varied
        for statement in statements_in(body):
            match statement:
                case ir.Call(callee=ir.Definition(function=ir.Function() as function), args=args):
                    inside = tuple(param for param, arg in zip(function.params, args, strict=True) if arg in varied)
                    if inside and (function, inside) not in seen:
                        seen.add((function, inside))
                        pending.append((function.body, inside))
    return found
