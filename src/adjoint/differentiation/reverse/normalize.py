"""The form of a function that the reverse sweep is read off: one exit, and branches as statements where they can be.

After :func:`normalize` the function ends in ``Return`` (or ``Raise``), the branches of an ``If`` end in ``Yield`` or
``Raise``, and only in the body of a loop may a ``Branch`` remain, where it chooses between going on and leaving.
Exits hand out as much as can be of what the next iteration would get: such an exit needs no memory of its own. Where
nobody reads what a loop's parameter is after an exit, it stays what it was. What is taken out of a container
has a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint import ir
from adjoint.ir.join import is_array
from adjoint.ir.rebuild import (
    Leaf,
    joined_target,
    map_blocks,
    map_body,
    map_leaves,
    map_statements,
    settled,
    substitute,
    with_renamed,
    with_values,
)
from adjoint.ir.walk import defined_in, leaves, statements_in
from adjoint.optimize.block_results import invariant_params, with_carried


def normalize(function: ir.Function) -> ir.Function:
    """The same function in the form described above."""
    renamed: dict[ir.Var, ir.Atom] = {}
    body = _block(function.body, renamed)
    return ir.Function(function.name, function.params, with_renamed(body, renamed), function.doc)


def _block(block: ir.Block, renamed: dict[ir.Var, ir.Atom]) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        inner = map_blocks(statement, lambda old: _block(old, renamed))
        if isinstance(inner, ir.Store) and inner.key is None and inner.mode == "set":
            inner = ir.Store(inner.base, ir.WHOLE, inner.value, "set", inner.span)
        if isinstance(inner, ir.Call) and not inner.targets:
            inner = _with_item_named(inner)
        statements.append(_loop(inner, renamed) if isinstance(inner, ir.Loop) else inner)
    return _tail(statements, block.terminator, renamed)


def _with_item_named(call: ir.Call) -> ir.Call:
    """What takes an item out of a container, with a name for it: zeros like it go back in the reverse sweep."""
    match call:
        case (
            ir.Call(callee=list.pop, args=(ir.Var(type=ir.List(element=part)), *_))
            | ir.Call(callee=dict.pop, args=(ir.Var(type=ir.Dict(value=part)), *_))
        ) if part is not None and not isinstance(part, ir.PerPlace):
            return ir.Call((ir.Var("t", part),), call.callee, call.args, call.kwargs, call.span)
        case _:
            return call


def _tail(statements: list[ir.Statement], terminator: ir.Terminator, renamed: dict[ir.Var, ir.Atom]) -> ir.Block:
    if not isinstance(terminator, ir.Branch):
        return ir.Block(tuple(statements), terminator)
    then, orelse = _block(terminator.then, renamed), _block(terminator.orelse, renamed)
    cond, span = terminator.cond, terminator.span
    if _only_raises(orelse):
        statements.append(ir.If(cond, ir.Block((), ir.Yield()), orelse, (), span))
        return ir.Block((*statements, *then.statements), then.terminator)
    if _only_raises(then):
        statements.append(ir.If(cond, then, ir.Block((), ir.Yield()), (), span))
        return ir.Block((*statements, *orelse.statements), orelse.terminator)
    ends = [leaf for leaf in (*leaves(then), *leaves(orelse)) if not isinstance(leaf, ir.Raise)]
    kinds = {(type(leaf), leaf.kind if isinstance(leaf, ir.Exit) else None) for leaf in ends}
    if len(kinds) > 1:
        return ir.Block(tuple(statements), ir.Branch(cond, then, orelse, span))
    found = [leaf for leaf in ends if isinstance(leaf, Leaf)]
    joined = _join(found)
    targets = tuple(atom for atom in joined if isinstance(atom, ir.Var))

    def yielding(leaf: ir.Terminator) -> ir.Terminator:
        if not isinstance(leaf, Leaf):
            return leaf
        return ir.Yield(
            tuple(value for value, atom in zip(leaf.values, joined, strict=True) if atom is not ir.UNDEFINED)
        )

    statements.append(ir.If(cond, map_leaves(then, yielding), map_leaves(orelse, yielding), targets, span))
    return ir.Block(tuple(statements), with_values(found[0], joined))


def with_ways(function: ir.Function) -> ir.Function:
    """The function with one more target, last, of each ``try`` statement whose handlers go on: which block ended."""
    if not any(isinstance(statement, ir.Guarded) for statement in statements_in(function.body)):
        return function
    return ir.Function(function.name, function.params, _ways_in(function.body), function.doc)


def _ways_in(block: ir.Block) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        inner = map_blocks(statement, _ways_in)
        statements.append(_with_way(inner) if isinstance(inner, ir.Guarded) else inner)
    end = block.terminator
    if isinstance(end, ir.Branch):
        end = ir.Branch(end.cond, _ways_in(end.then), _ways_in(end.orelse), end.span)
    return ir.Block(tuple(statements), end)


def _with_way(guarded: ir.Guarded) -> ir.Guarded:
    if all(_only_raises(handler.body) for handler in guarded.handlers):
        return guarded

    def block(old: ir.Block, way: int) -> ir.Block:
        return map_leaves(old, lambda end: ir.Yield((*end.values, ir.Const(way))) if isinstance(end, ir.Yield) else end)

    handlers = tuple(
        ir.Handler(handler.exception, handler.name, block(handler.body, way))
        for way, handler in enumerate(guarded.handlers, 1)
    )
    targets = (*guarded.targets, ir.Var("way", ir.INT))
    body = block(guarded.body, 0)
    return ir.Guarded(guarded.context, guarded.name, body, handlers, guarded.final, targets, guarded.span)


def returning(function: ir.Function) -> ir.Function:
    """A function as it runs where it returns: without the ways that raise what it does not handle itself."""
    renamed: dict[ir.Var, ir.Atom] = {}
    body = _returning(function.body, renamed)
    return ir.Function(function.name, function.params, substitute(body, renamed), function.doc)


def _returning(block: ir.Block, renamed: dict[ir.Var, ir.Atom]) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        if isinstance(statement, ir.Guarded):
            statements.append(statement)
            continue
        inner = map_blocks(statement, lambda old: _returning(old, renamed))
        other = _side_that_returns(inner.then, inner.orelse) if isinstance(inner, ir.If) else None
        if isinstance(inner, ir.If) and other is not None and isinstance(other.terminator, ir.Yield):
            statements.extend(other.statements)
            values = [
                renamed.get(value, value) if isinstance(value, ir.Var) else value for value in other.terminator.values
            ]
            renamed.update(zip(inner.targets, values, strict=True))
        else:
            statements.append(inner)
    end = block.terminator
    if isinstance(end, ir.Branch):
        other = _side_that_returns(end.then, end.orelse)
        if other is not None:
            rest = _returning(other, renamed)
            return ir.Block((*statements, *rest.statements), rest.terminator)
        end = ir.Branch(end.cond, _returning(end.then, renamed), _returning(end.orelse, renamed), end.span)
    return ir.Block(tuple(statements), end)


def _side_that_returns(then: ir.Block, orelse: ir.Block) -> ir.Block | None:
    """The one side of two that does more than raise."""
    if _only_raises(then) == _only_raises(orelse):
        return None
    return orelse if _only_raises(then) else then


def _only_raises(block: ir.Block) -> bool:
    return all(isinstance(leaf, ir.Raise) for leaf in leaves(block))


def _join(ends: Sequence[Leaf]) -> tuple[ir.Atom, ...]:
    """One variable for each value that the leaves hand out, unless none of them has it."""
    slots = zip(*(leaf.values for leaf in ends), strict=True)
    return tuple(
        ir.UNDEFINED if all(value is ir.UNDEFINED for value in values) else joined_target(values) for values in slots
    )


def _loop(loop: ir.Loop, renamed: dict[ir.Var, ir.Atom]) -> ir.Loop:
    loop = _without_doubled_targets(_without_invariants(loop, renamed), renamed)
    return _handing_out(map_body(loop, _filled(loop.body)), lambda param: True)


def _without_invariants(loop: ir.Loop, renamed: dict[ir.Var, ir.Atom]) -> ir.Loop:
    """The loop without parameters that no iteration changes: what is the same in each one is kept once."""
    first = {
        position: settled(loop.inits[position], renamed)
        for position, in_exits in invariant_params(loop, lambda atom: settled(atom, renamed))
        if in_exits
    }
    first = {position: init for position, init in first.items() if _is_same_kind(loop.params[position], init)}
    if not first:
        return loop
    for position, init in first.items():
        renamed[loop.params[position]] = renamed[loop.targets[position]] = init
    stay = [position for position in range(len(loop.params)) if position not in first]
    return with_carried(loop, stay, stay + list(range(len(loop.params), len(loop.targets))))


def _is_same_kind(param: ir.Var, init: ir.Atom) -> bool:
    return isinstance(init, ir.Var) and init.type == param.type


def _handing_out(loop: ir.Loop, which: Callable[[ir.Var], bool]) -> ir.Loop:
    """The loop whose exits hand out what the iteration began with, where they hand out nothing for some parameters."""

    def leaf(end: ir.Terminator) -> ir.Terminator:
        if not isinstance(end, ir.Exit):
            return end
        own = zip(loop.params, end.values, strict=False)
        handed = tuple([param if value is ir.UNDEFINED and which(param) else value for param, value in own])
        return ir.Exit(end.kind, handed + end.values[len(handed) :])

    return map_body(loop, map_leaves(loop.body, leaf))


def with_last_arrays(block: ir.Block) -> ir.Block:
    """The block with loops whose exits hand out each carried array, if only the one that the iteration began with.

    A zero cotangent takes its shape from what the loop hands out. Where that is not read, it may have been left out.
    """
    return map_statements(block, _with_last_arrays)


def _with_last_arrays(statement: ir.Statement) -> ir.Statement:
    inner = map_blocks(statement, with_last_arrays)
    if not isinstance(inner, ir.Loop) or not any(map(is_array, inner.params)):
        return inner
    return _handing_out(inner, is_array)


def _without_doubled_targets(loop: ir.Loop, renamed: dict[ir.Var, ir.Atom]) -> ir.Loop:
    """Hands a value that only exits give out through the slot of the parameter that it would have become.

    In ``while True: x = step(x); if done(x): return x`` the result and the next ``x`` are one value, so that the
    reverse sweep need not know which iteration was the last.
    """
    exits = [leaf for leaf in leaves(loop.body) if isinstance(leaf, ir.Exit)]
    continues = [leaf for leaf in leaves(loop.body) if isinstance(leaf, ir.Continue)]
    for extra in range(len(loop.params), len(loop.targets)):
        given = {id(leaf): leaf.values[extra] for leaf in exits if leaf.values[extra] is not ir.UNDEFINED}
        for slot in range(len(loop.params)):
            same_type = type(loop.targets[slot].type) is type(loop.targets[extra].type)
            free = all(leaf.values[slot] in (ir.UNDEFINED, given.get(id(leaf), leaf.values[slot])) for leaf in exits)
            handed_on = [leaf.values[slot] for leaf in continues]
            if given and same_type and free and all(value in handed_on for value in given.values()):
                renamed[loop.targets[extra]] = loop.targets[slot]
                return _without_doubled_targets(_merged(loop, extra, slot), renamed)
    return loop


def _merged(loop: ir.Loop, extra: int, slot: int) -> ir.Loop:
    def leaf(end: ir.Terminator) -> ir.Terminator:
        if not isinstance(end, ir.Exit):
            return end
        values = list(end.values)
        value = values.pop(extra)
        if value is not ir.UNDEFINED:
            values[slot] = value
        return ir.Exit(end.kind, tuple(values))

    targets = loop.targets[:extra] + loop.targets[extra + 1 :]
    body = map_leaves(loop.body, leaf)
    return ir.Loop(loop.over, loop.index, loop.params, loop.inits, body, targets, loop.exit, loop.span)


def _filled(block: ir.Block) -> ir.Block:
    """Where an exit need not hand out anything, lets it hand out what the next iteration would get."""
    branch = block.terminator
    if not isinstance(branch, ir.Branch):
        return block
    then, orelse = _filled(branch.then), _filled(branch.orelse)
    then, orelse = _filled_from(then, orelse), _filled_from(orelse, then)
    return ir.Block(block.statements, ir.Branch(branch.cond, then, orelse, branch.span))


def _filled_from(block: ir.Block, other: ir.Block) -> ir.Block:
    if not (isinstance(block.terminator, ir.Exit) and isinstance(other.terminator, ir.Continue)):
        return block
    hidden = defined_in(other)
    values = list(block.terminator.values)
    for slot, value in enumerate(other.terminator.values):
        if values[slot] is ir.UNDEFINED and value not in hidden:
            values[slot] = value
    return ir.Block(block.statements, ir.Exit(block.terminator.kind, tuple(values)))
