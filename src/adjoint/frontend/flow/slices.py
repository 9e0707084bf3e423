"""How a value was computed from a variable: the slice of a function's text that leads from one to the other.

Everything that stands before a request on its way from the start of the function has run when it is reached. Of loops
around, the iterations so far have run: where the value depends on the variable through them, they are run again, as
a loop up to here. Of all that, the function that is differentiated holds what depends on the variable and is needed for
the value; everything else is at hand. Memory that is changed on the way is made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.analysis.effects import effects_of
from adjoint.frontend.flow.counted_loops import is_counted, with_counters
from adjoint.frontend.flow.joins import is_computed_on_a_path
from adjoint.frontend.surgery.sole_names import reached_by, written_by
from adjoint.ir.rebuild import clone, clone_function, map_blocks, rebuild_terminator, same_atom, substitute
from adjoint.ir.walk import blocks_of, free_vars, operands, read_counts, statements_in, targets_of, vars_used
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.rules.registry import rule_for
from adjoint.runtime.array_functions.arrays import zeros_like


class _Uncounted(Exception):
    """Loops of which nobody knows how many iterations have run, and of which that is asked."""

    def __init__(self, loops: Sequence[ir.Loop]) -> None:
        self.loops = loops


class Unsettled(Exception):
    """A request, what is in the way of it, and the ways out."""


Step = tuple[ir.Block, int, Any]
"""A block on the way to a statement, how many of its statements stand before it, and the construct that holds it."""


def settled(block: ir.Block) -> tuple[ir.Block, list[ir.Call]]:
    """A function's body with all requests written out; those whose value does not depend on their variables."""
    idle: list[ir.Call] = []
    while True:
        request = next((part for part in statements_in(block) if _is_request(part)), None)
        if request is None:
            return _without_bindings(block), idle
        assert isinstance(request, ir.Call)
        try:
            written = _written(block, request)
        except _Uncounted as found:
            block = with_counters(block, found.loops)
            continue
        if written is None:
            idle.append(request)
        block = _with(block, request, _zeros(request) if written is None else written)


def _is_request(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Requested)


def _zeros(request: ir.Call) -> tuple[ir.Call, ...]:
    pairs = zip(request.targets, request.args[1:], strict=True)
    return tuple(ir.Call((target,), zeros_like, (var,), (), request.span) for target, var in pairs)


def _with(block: ir.Block, request: ir.Call, statements: Sequence[ir.Call]) -> ir.Block:
    def inner(old: ir.Block) -> ir.Block:
        return _with(old, request, statements)

    found: list[ir.Statement] = []
    for statement in block.statements:
        found += statements if statement is request else (map_blocks(statement, inner),)
    end = block.terminator
    return ir.Block(tuple(found), rebuild_terminator(end, same_atom, inner) if isinstance(end, ir.Branch) else end)


def _without_bindings(block: ir.Block) -> ir.Block:
    """The block with each variable as what it was bound to."""
    renamed: dict[ir.Var, ir.Atom] = {}

    def final(atom: ir.Atom) -> ir.Atom:
        while isinstance(atom, ir.Var) and atom in renamed:
            atom = renamed[atom]
        return atom

    def plain(old: ir.Block) -> ir.Block:
        kept: list[ir.Statement] = []
        for statement in old.statements:
            if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Binding):
                renamed[statement.targets[0]] = statement.args[0]
            else:
                kept.append(map_blocks(statement, plain))
        end = old.terminator
        return ir.Block(tuple(kept), rebuild_terminator(end, same_atom, plain) if isinstance(end, ir.Branch) else end)

    body = plain(block)
    return substitute(body, {var: final(var) for var in renamed}) if renamed else body


# -- one request ------------------------------------------------------------------------------------------------------


def _written(block: ir.Block, request: ir.Call) -> tuple[ir.Call, ...] | None:
    """The call of the derivative that is asked for; None where the value does not depend on the variables."""
    y, leaves = request.args[0], [atom for atom in request.args[1:] if isinstance(atom, ir.Var)]
    way = list(_way_to(block, request))
    if not all(any(leaf in _bound_on(step) for step in way) for leaf in leaves):
        label = "the variable is bound outside of the function that is differentiated here"
        raise Unsettled(request, label, ("hand it over as an argument",))
    if any(isinstance(construct, ir.Guarded) for _, _, construct in way):
        raise Unsettled(request, "this stands in a 'try' or 'with' statement", ("put it behind that",))
    before = _before(way, request, leaves)
    if any(is_computed_on_a_path(before, leaf, y, _computing) for leaf in leaves):
        label = "the value is computed from the variable on one of the paths that assign it, which meet before this"
        helps = ("take the derivative on that path", "or compute the value behind the place where they meet")
        raise Unsettled(request, label, helps)
    reached = _reached(before, leaves)
    if y not in reached.atoms:
        return None
    kept = _kept(way, before, reached, y, leaves, request)
    inside = ir.Block(tuple(kept), ir.Return((y,)))
    free = tuple(var for var in free_vars(inside) if var not in leaves)
    function = ir.Function(y.hint if isinstance(y, ir.Var) else "value", (*leaves, *free), _without_bindings(inside))
    _check(function, kept, free, request)
    unused = ir.Var("unused", y.type)  # type: ignore[union-attr]
    derived = ir.Derived(clone_function(function), tuple(range(len(leaves))), (0,))
    return (ir.Call((unused, *request.targets), derived, (*leaves, *free, ir.Const(1.0)), (), request.span),)


def _way_to(block: ir.Block, request: ir.Call) -> Iterator[Step]:
    """The blocks on the way to a statement, outermost first."""
    for number, statement in enumerate(block.statements):
        if statement is request:
            yield block, number, None
            return
        for nested in blocks_of(statement):
            if any(inner is request for inner in statements_in(nested)):
                yield block, number, statement
                yield from _way_to(nested, request)
                return
    for nested in blocks_of(block.terminator):
        if any(inner is request for inner in statements_in(nested)):
            yield block, len(block.statements), block.terminator
            yield from _way_to(nested, request)
            return


def _bound_on(step: Step) -> set[ir.Var]:
    block, number, construct = step
    found = {target for statement in block.statements[:number] for target in targets_of(statement)}
    return found.union(construct.params) if isinstance(construct, ir.Loop) else found


def _before(way: Sequence[Step], request: ir.Call, leaves: Sequence[ir.Var]) -> list[ir.Statement]:
    """What has run when the request is reached and may depend on the variables, in order; loops around up to here."""
    found: list[ir.Statement] = []
    waiting = set(leaves)
    for step in way:
        block, number, construct = step
        statements = block.statements[:number]
        found += statements
        waiting -= {target for statement in statements for target in targets_of(statement)}
        varied = varying(ir.Block(tuple(found), ir.Return(())), [leaf for leaf in leaves if leaf not in waiting])
        if isinstance(construct, ir.Loop):
            around = varying(
                ir.Block((construct,), ir.Return(())), [atom for atom in varied if isinstance(atom, ir.Var)]
            )
            own = waiting.intersection(construct.params)
            waiting -= own
            if len(waiting) + len(own) < len(leaves) and (
                not around.isdisjoint(construct.params) or _changes_memory_from_outside(construct)
            ):
                if own:
                    raise Unsettled(request, "one variable is bound in a loop, another before it", ())
                found.append(_so_far(construct))
    return found


def _changes_memory_from_outside(loop: ir.Loop) -> bool:
    """Whether an iteration may read what one before it has written."""
    outside = {storage for atom in _used(loop) for storage in reached_by(atom)}
    return not outside.isdisjoint(_all_written(loop))


_SO_FAR: ir.Var | None = ir.Var("so_far", ir.INT)
"""The exit kind of loops of which nobody knows when they end here."""


def _ends_unknown(statement: ir.Statement) -> bool:
    """Whether a loop stands for the iterations so far of one that does not count them."""
    return isinstance(statement, ir.Loop) and statement.exit is _SO_FAR


def _so_far(loop: ir.Loop) -> ir.Loop:
    """The iterations of a loop that have run; it gives what the parameters are now."""
    over, exit_ = loop.over, _SO_FAR
    if isinstance(over, ir.Range) and loop.index is not None:
        over, exit_ = ir.Range(over.start, loop.index, over.step, over.backward), None
    now = loop.params
    if over is None and is_counted(loop):
        over, exit_ = ir.Range(ir.Const(0), loop.params[-1], ir.Const(1)), None
        now = (*loop.params[:-1], ir.Var("count", ir.INT))
    params = tuple(ir.Var(param.hint, param.type, param.named) for param in loop.params)
    renamed: dict[ir.Var, ir.Atom] = {**dict(zip(loop.params, params, strict=True))}
    index = None if loop.index is None else ir.Var(loop.index.hint, loop.index.type, loop.index.named)
    if loop.index is not None and index is not None:
        renamed[loop.index] = index
    more = tuple(ir.Var(target.hint, target.type) for target in loop.targets[len(params) :])
    body = _handing_out(clone(loop.body, renamed), params)
    return ir.Loop(over, index, params, loop.inits, body, (*now, *more), exit_, loop.span)


def _handing_out(block: ir.Block, params: tuple[ir.Var, ...]) -> ir.Block:
    """The body of a loop that was not left so far: where it is, it gives what it carries, whoever reads that.

    A loop over a range has no exit of kind 0.
    """
    match block.terminator:
        case ir.Exit(kind, values):
            return ir.Block(block.statements, ir.Exit(kind + 1, (*params, *values[len(params) :])))
        case ir.Branch(cond, then, orelse, span):
            end = ir.Branch(cond, _handing_out(then, params), _handing_out(orelse, params), span)
            return ir.Block(block.statements, end)
    return block


class _Reached:
    """What depends on some variables: values, and memory that is written."""

    def __init__(self, atoms: set[ir.Atom]) -> None:
        self.atoms = atoms
        self.memory: set[ir.Storage] = set()

    def touches(self, statement: ir.Statement) -> bool:
        used = _used(statement)
        return not self.atoms.isdisjoint(used) or any(not self.memory.isdisjoint(reached_by(atom)) for atom in used)

    def gives(self, statement: ir.Statement, target: ir.Var) -> bool:
        """Whether what a statement gives as one of its targets depends on them."""
        if not blocks_of(statement):
            return True
        computing = _computing(statement, [target], set())
        return computing is not None and self.touches(computing)


def _reached(before: Sequence[ir.Statement], leaves: Sequence[ir.Atom]) -> _Reached:
    found = _Reached(set(leaves))
    for statement in before:
        if found.touches(statement):
            targets = [target for target in targets_of(statement) if found.gives(statement, target)]
            found.atoms.update(targets)
            found.memory |= _all_written(statement)
            found.memory |= {storage for target in targets for storage in reached_by(target) if storage.written}
    return found


def _kept(
    way: Sequence[Step],
    before: Sequence[ir.Statement],
    reached: _Reached,
    y: ir.Atom,
    leaves: Sequence[ir.Var],
    request: ir.Call,
) -> list[ir.Statement]:
    """What is run again: what the value needs and depends on the variables, and what makes the memory of it."""
    changed: set[ir.Storage] = set().union(*map(_all_written, before))
    needed: set[ir.Atom] = {y}
    memory: set[ir.Storage] = set()
    chosen: dict[int, ir.Statement] = {}
    size = -1
    while size != len(needed) + len(memory) + len(chosen):
        size = len(needed) + len(memory) + len(chosen)
        for statement in reversed(before):
            made = [target for target in targets_of(statement) if target in needed and target not in leaves]
            of_memory = any(not memory.isdisjoint(reached_by(var)) for var in made)
            writes = not memory.isdisjoint(_all_written(statement))
            if writes or of_memory or not reached.atoms.isdisjoint(made):
                kept = _computing(statement, made, memory)
                if kept is None:
                    continue
                chosen[id(statement)] = kept
                used = _used(kept)
                needed |= used
                memory |= {storage for atom in (*used, *made) for storage in reached_by(atom)} & changed
    if any(id(statement) in chosen and _ends_unknown(statement) for statement in before):
        loops = [construct for _, _, construct in way if isinstance(construct, ir.Loop)]
        if any(isinstance(loop.over, ir.Items) for loop in loops):
            label = "the value depends on the variable through earlier items of an iterator"
            raise Unsettled(request, label, ("make a list or an array of the items, and go through that",))
        raise _Uncounted([loop for loop in loops if loop.over is None and not is_counted(loop)])
    found = [chosen[id(statement)] for statement in before if id(statement) in chosen]
    for statement in found:
        _refuse_effects(statement, request)
    return found


def _computing(statement: ir.Statement, made: Sequence[ir.Var], memory: set[ir.Storage]) -> ir.Statement | None:
    """A statement with blocks without what nobody needs who wants these targets, and what it writes in this memory.

    None where nothing is left: what it writes is memory of its own.
    """
    size = -1
    while blocks_of(statement) and size != len(statements_in(ir.Block((statement,), ir.Return(())))):
        size = len(statements_in(ir.Block((statement,), ir.Return(()))))
        statement = _without_acts(statement, memory)
        whole = ir.Block((statement,), ir.Return(tuple(made)))
        left = remove_dead_code(ir.Function("slice", free_vars(whole), whole)).body.statements
        if not left:
            return None
        statement = left[0] if len(left) == 1 else statement
    return statement


def _without_acts(statement: ir.Statement, memory: set[ir.Storage]) -> ir.Statement:
    """A statement without calls and stores inside whose results and memory nobody reads."""
    inside = [inner for block in blocks_of(statement) for inner in statements_in(block)]
    reads = read_counts(ir.Block((statement,), ir.Return(())))
    idle = {id(inner) for inner in inside if _may_be_left_out(inner)}
    size = -1
    while size != len(idle):
        size = len(idle)
        by_idle = Counter(atom for inner in inside if id(inner) in idle for atom in operands(inner))
        used = {var for var, count in reads.items() if count > by_idle[var]}
        read = memory.union(*map(reached_by, used))
        idle -= {
            id(inner)
            for inner in inside
            if not used.isdisjoint(targets_of(inner)) or not read.isdisjoint(written_by(inner))
        }
    return map_blocks(statement, lambda block: _left_out(block, idle)) if idle else statement


def _may_be_left_out(statement: ir.Statement) -> bool:
    """Whether a statement does nothing that is seen where nobody reads what it gives or writes."""
    if isinstance(statement, ir.Call):
        return _is_request(statement) or effects_of(statement).known
    return isinstance(statement, ir.Store)


def _refuse_effects(statement: ir.Statement, request: ir.Call) -> None:
    for inner in statements_in(ir.Block((statement,), ir.Return(()))):
        if _is_request(inner):
            label = "the value depends on derivatives that are taken in earlier iterations of the loop around"
            raise Unsettled(request, label, ("take the derivative of a function of the variable: ad.grad",))
        if isinstance(inner, ir.Call) and not _computes(inner):
            label = "the value is computed again for its derivative, by what may do more than compute"
            raise Unsettled(request, label, ("compute that before the variable is assigned",))


def _left_out(block: ir.Block, idle: set[int]) -> ir.Block:
    def inner(old: ir.Block) -> ir.Block:
        return _left_out(old, idle)

    statements = tuple(map_blocks(part, inner) for part in block.statements if id(part) not in idle)
    end = block.terminator
    return ir.Block(statements, rebuild_terminator(end, same_atom, inner) if isinstance(end, ir.Branch) else end)


def _computes(call: ir.Call) -> bool:
    found, rule = effects_of(call), rule_for(call.callee)
    return not found.acts or (rule is not None and rule.pure and not rule.writes)


def _check(function: ir.Function, kept: Sequence[ir.Statement], free: Sequence[ir.Var], request: ir.Call) -> None:
    """Refuses memory that was changed, and cannot be made again."""
    written = set[ir.Storage]().union(*map(_all_written, kept))
    for var in (*free, *function.params):
        if not written.isdisjoint(reached_by(var)):
            label = f"{var.hint!r} is changed in place where the value is computed, and made elsewhere"
            raise Unsettled(request, label, ("compute with a copy that is made behind the variable",))


def _used(statement: ir.Statement) -> set[ir.Atom]:
    """All that a statement and the blocks in it read, of what is bound outside."""
    found = set(operands(statement))
    for block in blocks_of(statement):
        found.update(vars_used(block))
    return {atom for atom in found if isinstance(atom, ir.Var)}


def _all_written(statement: ir.Statement) -> set[ir.Storage]:
    """The memory that a statement and those in its blocks may write."""
    inside = [inner for block in blocks_of(statement) for inner in statements_in(block)]
    return set[ir.Storage]().union(*(written_by(part) for part in (statement, *inside)))
