"""The form of a function that the reverse sweep is read off: one exit, and branches as statements where they can be.

After :func:`normalize` the function ends in ``Return`` (or ``Raise``), the branches of an ``If`` end in ``Yield`` or
``Raise``, and only in the body of a loop may a ``Branch`` remain, where it chooses between going on and leaving.
Exits hand out as much as can be of what the next iteration would get: such an exit needs no memory of its own. Where
nobody reads what a loop's parameter is after an exit, it stays what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint.ir.join import join_atoms
from adjoint.ir.nodes import (
    UNDEFINED,
    Atom,
    Block,
    Branch,
    Const,
    Continue,
    Exit,
    Function,
    Guarded,
    Handler,
    If,
    Loop,
    Raise,
    Return,
    Statement,
    Store,
    Subscript,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.rebuild import map_blocks, map_body, map_leaves, map_statements, substitute, with_values
from adjoint.ir.types import INT, Array
from adjoint.ir.walk import defined_in, leaves, statements_in
from adjoint.optimize.block_results import invariant_params, with_carried

Leaf = Yield | Continue | Exit | Return


def normalize(function: Function) -> Function:
    """The same function in the form described above."""
    renamed: dict[Var, Atom] = {}
    body = _block(function.body, renamed)
    final = {var: _last(var, renamed) for var in renamed}
    return Function(function.name, function.params, substitute(body, final), function.doc)


def _last(atom: Atom, renamed: dict[Var, Atom]) -> Atom:
    while isinstance(atom, Var) and atom in renamed:
        atom = renamed[atom]
    return atom


def _block(block: Block, renamed: dict[Var, Atom]) -> Block:
    statements: list[Statement] = []
    for statement in block.statements:
        inner = map_blocks(statement, lambda old: _block(old, renamed))
        if isinstance(inner, Store) and inner.key is None and inner.mode == "set":
            inner = Store(inner.base, Subscript((Const(Ellipsis),)), inner.value, "set", inner.span)
        statements.append(_loop(inner, renamed) if isinstance(inner, Loop) else inner)
    return _tail(statements, block.terminator, renamed)


def _tail(statements: list[Statement], terminator: Terminator, renamed: dict[Var, Atom]) -> Block:
    if not isinstance(terminator, Branch):
        return Block(tuple(statements), terminator)
    then, orelse = _block(terminator.then, renamed), _block(terminator.orelse, renamed)
    cond, span = terminator.cond, terminator.span
    if _only_raises(orelse):
        statements.append(If(cond, Block((), Yield()), orelse, (), span))
        return Block((*statements, *then.statements), then.terminator)
    if _only_raises(then):
        statements.append(If(cond, then, Block((), Yield()), (), span))
        return Block((*statements, *orelse.statements), orelse.terminator)
    ends = [leaf for leaf in (*leaves(then), *leaves(orelse)) if not isinstance(leaf, Raise)]
    kinds = {(type(leaf), leaf.kind if isinstance(leaf, Exit) else None) for leaf in ends}
    if len(kinds) > 1:
        return Block(tuple(statements), Branch(cond, then, orelse, span))
    found = [leaf for leaf in ends if isinstance(leaf, Leaf)]
    joined = _join(found)
    targets = tuple(atom for atom in joined if isinstance(atom, Var))

    def yielding(leaf: Terminator) -> Terminator:
        if not isinstance(leaf, Leaf):
            return leaf
        return Yield(tuple(value for value, atom in zip(leaf.values, joined, strict=True) if atom is not UNDEFINED))

    statements.append(If(cond, map_leaves(then, yielding), map_leaves(orelse, yielding), targets, span))
    return Block(tuple(statements), with_values(found[0], joined))


def with_ways(function: Function) -> Function:
    """The function with one more target, last, of each ``try`` statement whose handlers go on: which block ended."""
    if not any(isinstance(statement, Guarded) for statement in statements_in(function.body)):
        return function
    return Function(function.name, function.params, _ways_in(function.body), function.doc)


def _ways_in(block: Block) -> Block:
    statements: list[Statement] = []
    for statement in block.statements:
        inner = map_blocks(statement, _ways_in)
        statements.append(_with_way(inner) if isinstance(inner, Guarded) else inner)
    end = block.terminator
    if isinstance(end, Branch):
        end = Branch(end.cond, _ways_in(end.then), _ways_in(end.orelse), end.span)
    return Block(tuple(statements), end)


def _with_way(guarded: Guarded) -> Guarded:
    if all(_only_raises(handler.body) for handler in guarded.handlers):
        return guarded

    def block(old: Block, way: int) -> Block:
        return map_leaves(old, lambda end: Yield((*end.values, Const(way))) if isinstance(end, Yield) else end)

    handlers = tuple(
        Handler(handler.exception, handler.name, block(handler.body, way))
        for way, handler in enumerate(guarded.handlers, 1)
    )
    targets = (*guarded.targets, Var("way", INT))
    body = block(guarded.body, 0)
    return Guarded(guarded.context, guarded.name, body, handlers, guarded.final, targets, guarded.span)


def returning(function: Function) -> Function:
    """A function as it runs where it returns: without the ways that raise what it does not handle itself."""
    renamed: dict[Var, Atom] = {}
    body = _returning(function.body, renamed)
    return Function(function.name, function.params, substitute(body, renamed), function.doc)


def _returning(block: Block, renamed: dict[Var, Atom]) -> Block:
    statements: list[Statement] = []
    for statement in block.statements:
        if isinstance(statement, Guarded):
            statements.append(statement)
            continue
        inner = map_blocks(statement, lambda old: _returning(old, renamed))
        other = _side_that_returns(inner.then, inner.orelse) if isinstance(inner, If) else None
        if isinstance(inner, If) and other is not None and isinstance(other.terminator, Yield):
            statements.extend(other.statements)
            values = [
                renamed.get(value, value) if isinstance(value, Var) else value for value in other.terminator.values
            ]
            renamed.update(zip(inner.targets, values, strict=True))
        else:
            statements.append(inner)
    end = block.terminator
    if isinstance(end, Branch):
        other = _side_that_returns(end.then, end.orelse)
        if other is not None:
            rest = _returning(other, renamed)
            return Block((*statements, *rest.statements), rest.terminator)
        end = Branch(end.cond, _returning(end.then, renamed), _returning(end.orelse, renamed), end.span)
    return Block(tuple(statements), end)


def _side_that_returns(then: Block, orelse: Block) -> Block | None:
    """The one side of two that does more than raise."""
    if _only_raises(then) == _only_raises(orelse):
        return None
    return orelse if _only_raises(then) else then


def _only_raises(block: Block) -> bool:
    return all(isinstance(leaf, Raise) for leaf in leaves(block))


def _join(ends: Sequence[Leaf]) -> tuple[Atom, ...]:
    """One variable for each value that the leaves hand out, unless none of them has it."""
    targets: list[Atom] = []
    for values in zip(*(leaf.values for leaf in ends), strict=True):
        if all(value is UNDEFINED for value in values):
            targets.append(UNDEFINED)
            continue
        model = next((value for value in values if isinstance(value, Var)), None)
        hint, named = (model.hint, model.named) if model is not None else ("result", False)
        targets.append(Var(hint, join_atoms(values), named))
    return tuple(targets)


def _loop(loop: Loop, renamed: dict[Var, Atom]) -> Loop:
    loop = _without_doubled_targets(_without_invariants(loop, renamed), renamed)
    return _handing_out(map_body(loop, _filled(loop.body)), lambda param: True)


def _without_invariants(loop: Loop, renamed: dict[Var, Atom]) -> Loop:
    """The loop without parameters that no iteration changes: what is the same in each one is kept once."""
    first = {
        position: _last(loop.inits[position], renamed)
        for position, in_exits in invariant_params(loop, lambda atom: _last(atom, renamed))
        if in_exits
    }
    first = {position: init for position, init in first.items() if _is_same_kind(loop.params[position], init)}
    if not first:
        return loop
    for position, init in first.items():
        renamed[loop.params[position]] = renamed[loop.targets[position]] = init
    stay = [position for position in range(len(loop.params)) if position not in first]
    return with_carried(loop, stay, stay + list(range(len(loop.params), len(loop.targets))))


def _is_same_kind(param: Var, init: Atom) -> bool:
    return isinstance(init, Var) and init.type == param.type


def _handing_out(loop: Loop, which: Callable[[Var], bool]) -> Loop:
    """The loop whose exits hand out what the iteration began with, where they hand out nothing for some parameters."""

    def leaf(end: Terminator) -> Terminator:
        if not isinstance(end, Exit):
            return end
        own = zip(loop.params, end.values, strict=False)
        handed = tuple([param if value is UNDEFINED and which(param) else value for param, value in own])
        return Exit(end.kind, handed + end.values[len(handed) :])

    return map_body(loop, map_leaves(loop.body, leaf))


def with_last_arrays(block: Block) -> Block:
    """The block with loops whose exits hand out each carried array, if only the one that the iteration began with.

    A zero cotangent takes its shape from what the loop hands out. Where that is not read, it may have been left out.
    """
    return map_statements(block, _with_last_arrays)


def _with_last_arrays(statement: Statement) -> Statement:
    inner = map_blocks(statement, with_last_arrays)
    if not isinstance(inner, Loop) or not any(map(_is_array, inner.params)):
        return inner
    return _handing_out(inner, _is_array)


def _is_array(param: Var) -> bool:
    return isinstance(param.type, Array)


def _without_doubled_targets(loop: Loop, renamed: dict[Var, Atom]) -> Loop:
    """Hands a value that only exits give out through the slot of the parameter that it would have become.

    In ``while True: x = step(x); if done(x): return x`` the result and the next ``x`` are one value, so that the
    reverse sweep need not know which iteration was the last.
    """
    exits = [leaf for leaf in leaves(loop.body) if isinstance(leaf, Exit)]
    continues = [leaf for leaf in leaves(loop.body) if isinstance(leaf, Continue)]
    for extra in range(len(loop.params), len(loop.targets)):
        given = {id(leaf): leaf.values[extra] for leaf in exits if leaf.values[extra] is not UNDEFINED}
        for slot in range(len(loop.params)):
            same_type = type(loop.targets[slot].type) is type(loop.targets[extra].type)
            free = all(leaf.values[slot] in (UNDEFINED, given.get(id(leaf), leaf.values[slot])) for leaf in exits)
            handed_on = [leaf.values[slot] for leaf in continues]
            if given and same_type and free and all(value in handed_on for value in given.values()):
                renamed[loop.targets[extra]] = loop.targets[slot]
                return _without_doubled_targets(_merged(loop, extra, slot), renamed)
    return loop


def _merged(loop: Loop, extra: int, slot: int) -> Loop:
    def leaf(end: Terminator) -> Terminator:
        if not isinstance(end, Exit):
            return end
        values = list(end.values)
        value = values.pop(extra)
        if value is not UNDEFINED:
            values[slot] = value
        return Exit(end.kind, tuple(values))

    targets = loop.targets[:extra] + loop.targets[extra + 1 :]
    body = map_leaves(loop.body, leaf)
    return Loop(loop.over, loop.index, loop.params, loop.inits, body, targets, loop.exit, loop.span)


def _filled(block: Block) -> Block:
    """Where an exit need not hand out anything, lets it hand out what the next iteration would get."""
    branch = block.terminator
    if not isinstance(branch, Branch):
        return block
    then, orelse = _filled(branch.then), _filled(branch.orelse)
    then, orelse = _filled_from(then, orelse), _filled_from(orelse, then)
    return Block(block.statements, Branch(branch.cond, then, orelse, branch.span))


def _filled_from(block: Block, other: Block) -> Block:
    if not (isinstance(block.terminator, Exit) and isinstance(other.terminator, Continue)):
        return block
    hidden = defined_in(other)
    values = list(block.terminator.values)
    for slot, value in enumerate(other.terminator.values):
        if values[slot] is UNDEFINED and value not in hidden:
            values[slot] = value
    return Block(block.statements, Exit(block.terminator.kind, tuple(values)))
