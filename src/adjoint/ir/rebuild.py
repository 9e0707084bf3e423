"""Copies of IR: of nodes with other atoms, blocks or names, and of the bodies of functions into others.

All is written on ``rebuild``: ``map_blocks``, ``substitute``, ``clone``, ``inline``. A copy shares what did not change.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import overload

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.join import join_atoms, memory_pairs, type_of_atom
from adjoint.ir.walk import _WITHOUT_BLOCKS, Node, blocks_of, leaves

Leaf = ir.Yield | ir.Continue | ir.Exit | ir.Return


AtomMap = Callable[[ir.Atom], ir.Atom]


BlockMap = Callable[[ir.Block], ir.Block]


VarMap = Callable[[ir.Var], ir.Var]


def map_key(key: ir.Key | None, atom: AtomMap) -> ir.Key | None:
    """An index with its atoms replaced."""
    if key is None or type(key) is ir.Attribute:
        return key
    assert isinstance(key, ir.Subscript)
    items = tuple(
        ir.Slice(atom(item.lower), atom(item.upper), atom(item.step)) if isinstance(item, ir.Slice) else atom(item)
        for item in key.items
    )
    return ir.Subscript(items, key.tupled)


def same(var: ir.Var) -> ir.Var:
    """The binder map that keeps names."""
    return var


def same_atom(atom: ir.Atom) -> ir.Atom:
    """The atom map that keeps atoms."""
    return atom


def same_block(block: ir.Block) -> ir.Block:
    """The block map that keeps blocks."""
    return block


def rebuild(
    statement: ir.Statement, atom: AtomMap, block: BlockMap = same_block, binder: VarMap = same
) -> ir.Statement:
    """A statement with its direct operands, its blocks and the variables it binds replaced.

    Operands are mapped first, then the variables bound for the blocks, the blocks, and the targets.
    """
    if isinstance(statement, ir.Call):
        args = tuple([atom(arg) for arg in statement.args])
        kwargs = statement.kwargs and tuple([(name, atom(value)) for name, value in statement.kwargs])
        targets = statement.targets if binder is same else tuple([binder(target) for target in statement.targets])
        return ir.Call(targets, statement.callee, args, kwargs, statement.span)
    match statement:
        case ir.Load(target, base, key, span):
            base, mapped = atom(base), map_key(key, atom)
            assert mapped is not None
            return ir.Load(binder(target), base, mapped, span)
        case ir.Store(base, store_key, value, mode, span):
            return ir.Store(atom(base), map_key(store_key, atom), atom(value), mode, span)
        case ir.If(cond, then, orelse, targets, span):
            cond, then, orelse = atom(cond), block(then), block(orelse)
            return ir.If(cond, then, orelse, tuple([binder(target) for target in targets]), span)
        case ir.Loop():
            return _rebuild_loop(statement, atom, block, binder)
        case ir.Guarded():
            return _rebuild_guarded(statement, atom, block, binder)


def _rebuild_loop(loop: ir.Loop, atom: AtomMap, block: BlockMap, binder: VarMap) -> ir.Loop:
    over = loop.over
    match over:
        case ir.Range(start, stop, step, backward, free):
            over = ir.Range(atom(start), atom(stop), atom(step), backward, free)
        case ir.Items(iterable):
            over = ir.Items(atom(iterable))
    inits = tuple([atom(init) for init in loop.inits])
    index = None if loop.index is None else binder(loop.index)
    params = tuple([binder(param) for param in loop.params])
    body = block(loop.body)
    targets = tuple([binder(target) for target in loop.targets])
    exit_ = None if loop.exit is None else binder(loop.exit)
    return ir.Loop(over, index, params, inits, body, targets, exit_, loop.span)


def _rebuild_guarded(guarded: ir.Guarded, atom: AtomMap, block: BlockMap, binder: VarMap) -> ir.Guarded:
    context = None if guarded.context is None else atom(guarded.context)
    name = None if guarded.name is None else binder(guarded.name)
    body = block(guarded.body)
    handlers = tuple(
        ir.Handler(
            None if handler.exception is None else atom(handler.exception),
            None if handler.name is None else binder(handler.name),
            block(handler.body),
        )
        for handler in guarded.handlers
    )
    final = None if guarded.final is None else block(guarded.final)
    targets = tuple([binder(target) for target in guarded.targets])
    return ir.Guarded(context, name, body, handlers, final, targets, guarded.span)


def rebuild_terminator(terminator: ir.Terminator, atom: AtomMap, block: BlockMap = same_block) -> ir.Terminator:
    """A terminator with its operands and blocks replaced."""
    match terminator:
        case ir.Yield(values):
            return ir.Yield(tuple([atom(value) for value in values]))
        case ir.Continue(values):
            return ir.Continue(tuple([atom(value) for value in values]))
        case ir.Exit(kind, values):
            return ir.Exit(kind, tuple([atom(value) for value in values]))
        case ir.Return(values, span):
            return ir.Return(tuple([atom(value) for value in values]), span)
        case ir.Raise(exception, cause, span):
            exception = None if exception is None else atom(exception)
            return ir.Raise(exception, None if cause is None else atom(cause), span)
        case ir.Branch(cond, then, orelse, span):
            cond, then = atom(cond), block(then)
            return ir.Branch(cond, then, block(orelse), span)


def map_blocks(statement: ir.Statement, block: BlockMap) -> ir.Statement:
    """A statement with each of its blocks replaced; the statement itself where none becomes another."""
    if type(statement) in _WITHOUT_BLOCKS:
        return statement
    mapped = rebuild(statement, same_atom, block)
    return statement if all(map(operator.is_, blocks_of(mapped), blocks_of(statement))) else mapped


def map_branch(branch: ir.Branch, block: BlockMap) -> ir.Branch:
    """A branch with both of its blocks replaced; the branch itself where they stay what they are."""
    then, orelse = block(branch.then), block(branch.orelse)
    is_same = then is branch.then and orelse is branch.orelse
    return branch if is_same else ir.Branch(branch.cond, then, orelse, branch.span)


def map_statements(block: ir.Block, each: Callable[[ir.Statement], ir.Statement]) -> ir.Block:
    """A block with each of its statements replaced, and those in branches at its end; itself where they stay."""
    statements = tuple([each(statement) for statement in block.statements])
    end = block.terminator
    if type(end) is ir.Branch:
        end = map_branch(end, lambda inner: map_statements(inner, each))
    if end is block.terminator and all(map(operator.is_, statements, block.statements)):
        return block
    return ir.Block(statements, end)


def without_statements(block: ir.Block, goes: Callable[[ir.Statement], bool]) -> ir.Block:
    """A block without some of its statements, and of those in its blocks, whose results nobody reads."""

    def kept(inner: ir.Block) -> ir.Block:
        return without_statements(inner, goes)

    statements = tuple([map_blocks(each, kept) for each in block.statements if not goes(each)])
    end = block.terminator
    return ir.Block(statements, map_branch(end, kept) if type(end) is ir.Branch else end)


def map_body(loop: ir.Loop, body: ir.Block) -> ir.Loop:
    """The loop with another body."""
    return ir.Loop(loop.over, loop.index, loop.params, loop.inits, body, loop.targets, loop.exit, loop.span)


def map_leaves(block: ir.Block, leaf: Callable[[ir.Terminator], ir.Terminator]) -> ir.Block:
    """A block with the terminators it can end in replaced."""
    terminator = block.terminator
    if type(terminator) is not ir.Branch:
        return ir.Block(block.statements, leaf(terminator))
    then, orelse = map_leaves(terminator.then, leaf), map_leaves(terminator.orelse, leaf)
    return ir.Block(block.statements, ir.Branch(terminator.cond, then, orelse, terminator.span))


def with_values(leaf: Leaf, values: tuple[ir.Atom, ...]) -> Leaf:
    """A leaf that hands out other values."""
    match leaf:
        case ir.Exit(kind=kind):
            return ir.Exit(kind, values)
        case ir.Return(span=span):
            return ir.Return(values, span)
        case ir.Yield():
            return ir.Yield(values)
        case ir.Continue():
            return ir.Continue(values)


@overload
def substitute(node: ir.Block, mapping: Mapping[ir.Var, ir.Atom]) -> ir.Block: ...


@overload
def substitute(node: ir.Statement, mapping: Mapping[ir.Var, ir.Atom]) -> ir.Statement: ...


@overload
def substitute(node: ir.Terminator, mapping: Mapping[ir.Var, ir.Atom]) -> ir.Terminator: ...


def substitute(node: ir.Block | Node, mapping: Mapping[ir.Var, ir.Atom]) -> ir.Block | Node:
    """A block, statement or terminator that reads other atoms in place of some variables, at any depth.

    Replacements are not replaced again. What a node binds keeps its name.
    """
    if not mapping:
        return node

    def atom(old: ir.Atom) -> ir.Atom:
        return mapping.get(old, old) if type(old) is ir.Var else old

    def block(old: ir.Block) -> ir.Block:
        return ir.Block(
            tuple([rebuild(statement, atom, block) for statement in old.statements]),
            rebuild_terminator(old.terminator, atom, block),
        )

    if isinstance(node, ir.Block):
        return block(node)
    if isinstance(node, ir.Statement):
        return rebuild(node, atom, block)
    return rebuild_terminator(node, atom, block)


def rebound(block: ir.Block, names: Mapping[ir.Var, ir.Var]) -> ir.Block:
    """A block that binds other variables in place of some, at any depth; what it reads stays."""

    def copy(old: ir.Block) -> ir.Block:
        return ir.Block(
            tuple(
                [rebuild(statement, same_atom, copy, lambda var: names.get(var, var)) for statement in old.statements]
            ),
            rebuild_terminator(old.terminator, same_atom, copy),
        )

    return copy(block)


def clone(
    block: ir.Block,
    mapping: MutableMapping[ir.Var, ir.Atom] | None = None,
    hints: Callable[[str], str] = str,
    types: Callable[[ir.Type], ir.Type] | None = None,
) -> ir.Block:
    """A copy of a block in which everything that it binds has a new name.

    Parameters
    ----------
    block : Block
    mapping : mutable mapping of Var to Atom, optional
        What stands for the variables that the block reads; those that are missing stay. Afterwards it also
        tells the new name of each variable that the block binds.
    hints : callable, optional
        What the hints of variables become.
    types : callable, optional
        What their types become.
    """
    names: MutableMapping[ir.Var, ir.Atom] = {} if mapping is None else mapping

    def atom(old: ir.Atom) -> ir.Atom:
        return names.get(old, old) if type(old) is ir.Var else old

    def fresh(old: ir.Var) -> ir.Var:
        new = names[old] = ir.Var(hints(old.hint), old.type if types is None else types(old.type), old.named)
        return new

    def copy(old: ir.Block) -> ir.Block:
        return ir.Block(
            tuple([rebuild(statement, atom, copy, fresh) for statement in old.statements]),
            rebuild_terminator(old.terminator, atom, copy),
        )

    return copy(block)


def settled(atom: ir.Atom, renamed: Mapping[ir.Var, ir.Atom]) -> ir.Atom:
    """What stands for an atom in the end, where what a variable was renamed to was renamed in turn."""
    while isinstance(atom, ir.Var) and atom in renamed:
        atom = renamed[atom]
    return atom


def with_renamed(block: ir.Block, renamed: Mapping[ir.Var, ir.Atom]) -> ir.Block:
    """The block with what stands in the end for variables that were renamed."""
    return substitute(block, {var: settled(var, renamed) for var in renamed})


def clone_function(function: ir.Function) -> ir.Function:
    """A copy of a function that shares no variable with it."""
    mapping: dict[ir.Var, ir.Atom] = {}
    params = []
    for param in function.params:
        new = mapping[param] = ir.Var(param.hint, param.type, param.named)
        params.append(new)
    return ir.Function(function.name, tuple(params), clone(function.body, mapping), function.doc)


def inline(
    builder: Builder,
    function: ir.Function,
    args: Sequence[ir.Atom],
    names: MutableMapping[ir.Var, ir.Atom] | None = None,
) -> tuple[ir.Atom, ...]:
    """Copies the body of a core function into an open block and gives its results.

    A body that returns in one place is spliced; one that branches becomes an ``If`` statement. A function that
    only raises has no results: its ``raise`` is put under a condition that always holds. What lies in the memory of a
    parameter lies in that of the argument then. ``names``, an empty mapping, takes down what each variable of the
    function is called in the copy.
    """
    if len(args) != len(function.params):
        raise ValueError(f"{function.name} takes {len(function.params)} arguments, not {len(args)}")
    mapping: MutableMapping[ir.Var, ir.Atom] = {} if names is None else names
    mapping.update(zip(function.params, args, strict=True))
    body = clone(function.body, mapping, types=_with_memory_of(function.params, args))
    for statement in body.statements:
        builder.emit(statement)
    match body.terminator:
        case ir.Return(values=values):
            return values
        case ir.Branch(cond, then, orelse, span):
            targets = result_targets(body)
            builder.emit(ir.If(cond, yielding(then), yielding(orelse), targets, span))
            return targets
        case terminator:
            builder.emit(ir.If(ir.Const(True), ir.Block((), terminator), ir.Block((), ir.Yield())))
            return ()


def _with_memory_of(params: Sequence[ir.Var], args: Sequence[ir.Atom]) -> Callable[[ir.Type], ir.Type] | None:
    """What types of a function become where these arguments stand for its parameters; None where they stay."""
    homes: dict[ir.Storage, ir.Storage] = {}
    for param, arg in zip(params, args, strict=True):
        for memory, its in memory_pairs(param.type, type_of_atom(arg)):
            if memory is not its and (its.written or not memory.written):
                homes.setdefault(memory, its)
    if not homes:
        return None

    def moved(type_: ir.Type) -> ir.Type:
        if homes.keys().isdisjoint(ir.storages(type_)):
            return type_
        return ir.relocated(type_, lambda memory: homes.get(memory, memory))

    return moved


def result_targets(body: ir.Block) -> tuple[ir.Var, ...]:
    """New variables for what the body of a function returns."""
    returns = [leaf.values for leaf in leaves(body) if isinstance(leaf, ir.Return)]
    return tuple(map(joined_target, zip(*returns, strict=True)))


def joined_target(values: Sequence[ir.Atom]) -> ir.Var:
    """A new variable for what is one of several values, by the name of one of them."""
    named = next((value for value in values if isinstance(value, ir.Var)), None)
    hint, by_user = (named.hint, named.named) if named is not None else ("result", False)
    return ir.Var(hint, join_atoms(values), by_user)


def yielding(block: ir.Block) -> ir.Block:
    """A function's continuation as a block of a statement: what it returned it yields."""

    def leaf(terminator: ir.Terminator) -> ir.Terminator:
        return ir.Yield(terminator.values) if isinstance(terminator, ir.Return) else terminator

    return map_leaves(block, leaf)
