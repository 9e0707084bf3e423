"""Copies of IR: of nodes with other atoms, blocks or names, and of the bodies of functions into others.

All is written on ``rebuild``: ``map_blocks``, ``substitute``, ``clone``, ``inline``. A copy shares what did not change.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import overload

from adjoint.ir.builder import Builder
from adjoint.ir.join import join_atoms
from adjoint.ir.nodes import (
    Atom,
    Attribute,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Exit,
    Function,
    Guarded,
    Handler,
    If,
    Items,
    Key,
    Load,
    Loop,
    Raise,
    Range,
    Return,
    Slice,
    Statement,
    Store,
    Subscript,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.types import Type
from adjoint.ir.walk import _WITHOUT_BLOCKS, Node, blocks_of, leaves

Leaf = Yield | Continue | Exit | Return


AtomMap = Callable[[Atom], Atom]


BlockMap = Callable[[Block], Block]


VarMap = Callable[[Var], Var]


def map_key(key: Key | None, atom: AtomMap) -> Key | None:
    """An index with its atoms replaced."""
    if key is None or type(key) is Attribute:
        return key
    assert isinstance(key, Subscript)
    items = tuple(
        Slice(atom(item.lower), atom(item.upper), atom(item.step)) if isinstance(item, Slice) else atom(item)
        for item in key.items
    )
    return Subscript(items, key.tupled)


def same(var: Var) -> Var:
    """The binder map that keeps names."""
    return var


def same_atom(atom: Atom) -> Atom:
    """The atom map that keeps atoms."""
    return atom


def same_block(block: Block) -> Block:
    """The block map that keeps blocks."""
    return block


def rebuild(statement: Statement, atom: AtomMap, block: BlockMap = same_block, binder: VarMap = same) -> Statement:
    """A statement with its direct operands, its blocks and the variables it binds replaced.

    Operands are mapped first, then the variables bound for the blocks, the blocks, and the targets.
    """
    if isinstance(statement, Call):
        args = tuple([atom(arg) for arg in statement.args])
        kwargs = statement.kwargs and tuple([(name, atom(value)) for name, value in statement.kwargs])
        targets = statement.targets if binder is same else tuple([binder(target) for target in statement.targets])
        return Call(targets, statement.callee, args, kwargs, statement.span)
    match statement:
        case Load(target, base, key, span):
            base, mapped = atom(base), map_key(key, atom)
            assert mapped is not None
            return Load(binder(target), base, mapped, span)
        case Store(base, store_key, value, mode, span):
            return Store(atom(base), map_key(store_key, atom), atom(value), mode, span)
        case If(cond, then, orelse, targets, span):
            cond, then, orelse = atom(cond), block(then), block(orelse)
            return If(cond, then, orelse, tuple([binder(target) for target in targets]), span)
        case Loop():
            return _rebuild_loop(statement, atom, block, binder)
        case Guarded():
            return _rebuild_guarded(statement, atom, block, binder)


def _rebuild_loop(loop: Loop, atom: AtomMap, block: BlockMap, binder: VarMap) -> Loop:
    over = loop.over
    match over:
        case Range(start, stop, step, backward):
            over = Range(atom(start), atom(stop), atom(step), backward)
        case Items(iterable):
            over = Items(atom(iterable))
    inits = tuple([atom(init) for init in loop.inits])
    index = None if loop.index is None else binder(loop.index)
    params = tuple([binder(param) for param in loop.params])
    body = block(loop.body)
    targets = tuple([binder(target) for target in loop.targets])
    exit_ = None if loop.exit is None else binder(loop.exit)
    return Loop(over, index, params, inits, body, targets, exit_, loop.span)


def _rebuild_guarded(guarded: Guarded, atom: AtomMap, block: BlockMap, binder: VarMap) -> Guarded:
    context = None if guarded.context is None else atom(guarded.context)
    name = None if guarded.name is None else binder(guarded.name)
    body = block(guarded.body)
    handlers = tuple(
        Handler(
            None if handler.exception is None else atom(handler.exception),
            None if handler.name is None else binder(handler.name),
            block(handler.body),
        )
        for handler in guarded.handlers
    )
    final = None if guarded.final is None else block(guarded.final)
    targets = tuple([binder(target) for target in guarded.targets])
    return Guarded(context, name, body, handlers, final, targets, guarded.span)


def rebuild_terminator(terminator: Terminator, atom: AtomMap, block: BlockMap = same_block) -> Terminator:
    """A terminator with its operands and blocks replaced."""
    match terminator:
        case Yield(values):
            return Yield(tuple([atom(value) for value in values]))
        case Continue(values):
            return Continue(tuple([atom(value) for value in values]))
        case Exit(kind, values):
            return Exit(kind, tuple([atom(value) for value in values]))
        case Return(values, span):
            return Return(tuple([atom(value) for value in values]), span)
        case Raise(exception, cause, span):
            exception = None if exception is None else atom(exception)
            return Raise(exception, None if cause is None else atom(cause), span)
        case Branch(cond, then, orelse, span):
            cond, then = atom(cond), block(then)
            return Branch(cond, then, block(orelse), span)


def map_blocks(statement: Statement, block: BlockMap) -> Statement:
    """A statement with each of its blocks replaced; the statement itself where none becomes another."""
    if type(statement) in _WITHOUT_BLOCKS:
        return statement
    mapped = rebuild(statement, same_atom, block)
    return statement if all(map(operator.is_, blocks_of(mapped), blocks_of(statement))) else mapped


def map_branch(branch: Branch, block: BlockMap) -> Branch:
    """A branch with both of its blocks replaced; the branch itself where they stay what they are."""
    then, orelse = block(branch.then), block(branch.orelse)
    is_same = then is branch.then and orelse is branch.orelse
    return branch if is_same else Branch(branch.cond, then, orelse, branch.span)


def map_statements(block: Block, each: Callable[[Statement], Statement]) -> Block:
    """A block with each of its statements replaced, and those in branches at its end; itself where they stay."""
    statements = tuple([each(statement) for statement in block.statements])
    end = block.terminator
    if type(end) is Branch:
        end = map_branch(end, lambda inner: map_statements(inner, each))
    if end is block.terminator and all(map(operator.is_, statements, block.statements)):
        return block
    return Block(statements, end)


def map_body(loop: Loop, body: Block) -> Loop:
    """The loop with another body."""
    return Loop(loop.over, loop.index, loop.params, loop.inits, body, loop.targets, loop.exit, loop.span)


def map_leaves(block: Block, leaf: Callable[[Terminator], Terminator]) -> Block:
    """A block with the terminators it can end in replaced."""
    terminator = block.terminator
    if type(terminator) is not Branch:
        return Block(block.statements, leaf(terminator))
    then, orelse = map_leaves(terminator.then, leaf), map_leaves(terminator.orelse, leaf)
    return Block(block.statements, Branch(terminator.cond, then, orelse, terminator.span))


def with_values(leaf: Leaf, values: tuple[Atom, ...]) -> Leaf:
    """A leaf that hands out other values."""
    match leaf:
        case Exit(kind=kind):
            return Exit(kind, values)
        case Return(span=span):
            return Return(values, span)
        case Yield():
            return Yield(values)
        case Continue():
            return Continue(values)


@overload
def substitute(node: Block, mapping: Mapping[Var, Atom]) -> Block: ...


@overload
def substitute(node: Statement, mapping: Mapping[Var, Atom]) -> Statement: ...


@overload
def substitute(node: Terminator, mapping: Mapping[Var, Atom]) -> Terminator: ...


def substitute(node: Block | Node, mapping: Mapping[Var, Atom]) -> Block | Node:
    """A block, statement or terminator that reads other atoms in place of some variables, at any depth.

    Replacements are not replaced again. What a node binds keeps its name.
    """
    if not mapping:
        return node

    def atom(old: Atom) -> Atom:
        return mapping.get(old, old) if type(old) is Var else old

    def block(old: Block) -> Block:
        return Block(
            tuple([rebuild(statement, atom, block) for statement in old.statements]),
            rebuild_terminator(old.terminator, atom, block),
        )

    if isinstance(node, Block):
        return block(node)
    if isinstance(node, Statement):
        return rebuild(node, atom, block)
    return rebuild_terminator(node, atom, block)


def rebound(block: Block, names: Mapping[Var, Var]) -> Block:
    """A block that binds other variables in place of some, at any depth; what it reads stays."""

    def copy(old: Block) -> Block:
        return Block(
            tuple(
                [rebuild(statement, same_atom, copy, lambda var: names.get(var, var)) for statement in old.statements]
            ),
            rebuild_terminator(old.terminator, same_atom, copy),
        )

    return copy(block)


def clone(
    block: Block,
    mapping: MutableMapping[Var, Atom] | None = None,
    hints: Callable[[str], str] = str,
    types: Callable[[Type], Type] | None = None,
) -> Block:
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
    names: MutableMapping[Var, Atom] = {} if mapping is None else mapping

    def atom(old: Atom) -> Atom:
        return names.get(old, old) if type(old) is Var else old

    def fresh(old: Var) -> Var:
        new = names[old] = Var(hints(old.hint), old.type if types is None else types(old.type), old.named)
        return new

    def copy(old: Block) -> Block:
        return Block(
            tuple([rebuild(statement, atom, copy, fresh) for statement in old.statements]),
            rebuild_terminator(old.terminator, atom, copy),
        )

    return copy(block)


def clone_function(function: Function, name: str | None = None) -> Function:
    """A copy of a function that shares no variable with it."""
    mapping: dict[Var, Atom] = {}
    params = []
    for param in function.params:
        new = mapping[param] = Var(param.hint, param.type, param.named)
        params.append(new)
    return Function(name or function.name, tuple(params), clone(function.body, mapping), function.doc)


def inline(
    builder: Builder, function: Function, args: Sequence[Atom], names: MutableMapping[Var, Atom] | None = None
) -> tuple[Atom, ...]:
    """Copies the body of a core function into an open block and gives its results.

    A body that returns in one place is spliced; one that branches becomes an ``If`` statement. A function that
    only raises has no results: its ``raise`` is put under a condition that always holds. ``names``, an empty mapping,
    takes down what each variable of the function is called in the copy.
    """
    if len(args) != len(function.params):
        raise ValueError(f"{function.name} takes {len(function.params)} arguments, not {len(args)}")
    mapping: MutableMapping[Var, Atom] = {} if names is None else names
    mapping.update(zip(function.params, args, strict=True))
    body = clone(function.body, mapping)
    for statement in body.statements:
        builder.emit(statement)
    match body.terminator:
        case Return(values=values):
            return values
        case Branch(cond, then, orelse, span):
            targets = _result_targets(body)
            builder.emit(If(cond, _yielding(then), _yielding(orelse), targets, span))
            return targets
        case terminator:
            builder.emit(If(Const(True), Block((), terminator), Block((), Yield())))
            return ()


def _result_targets(body: Block) -> tuple[Var, ...]:
    returns = [leaf.values for leaf in leaves(body) if isinstance(leaf, Return)]
    targets = []
    for values in zip(*returns, strict=True):
        named = next((value for value in values if isinstance(value, Var)), None)
        hint, by_user = (named.hint, named.named) if named is not None else ("result", False)
        targets.append(Var(hint, join_atoms(values), by_user))
    return tuple(targets)


def _yielding(block: Block) -> Block:
    """A function's continuation as a branch of an ``If``: what it returned it yields."""

    def leaf(terminator: Terminator) -> Terminator:
        return Yield(terminator.values) if isinstance(terminator, Return) else terminator

    return map_leaves(block, leaf)
