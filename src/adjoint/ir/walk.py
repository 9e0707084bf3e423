"""Reading and rebuilding IR: what a node uses, defines and contains, and copies of it with other names.

Everything here is one of two things: a question about a node (``uses``, ``blocks_of``, ``free_vars``) or a copy of a
node (``rebuild`` and what is written on it: ``substitute``, ``clone``, ``inline``). A copy shares what did not change.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
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
from adjoint.ir.types import Scalar, Type

Node = Statement | Terminator
Leaf = Yield | Continue | Exit | Return
AtomMap = Callable[[Atom], Atom]
BlockMap = Callable[[Block], Block]
VarMap = Callable[[Var], Var]


_WITHOUT_BLOCKS = frozenset({Call, Load, Store, Yield, Continue, Exit, Return, Raise})
_HANDING_OUT = frozenset({Yield, Continue, Exit, Return})


# Questions


def key_atoms(key: Key | None) -> tuple[Atom, ...]:
    """The atoms in an index, slices included."""
    if key is None or type(key) is Attribute:
        return ()
    assert isinstance(key, Subscript)
    atoms: list[Atom] = []
    for item in key.items:
        if isinstance(item, Slice):
            atoms += (item.lower, item.upper, item.step)
        else:
            atoms.append(item)
    return tuple(atoms)


def operands(node: Node) -> tuple[Atom, ...]:
    """The atoms that a statement or terminator reads itself: not those read in its blocks."""
    if type(node) is Call:
        return node.args + tuple([value for _, value in node.kwargs]) if node.kwargs else node.args
    if type(node) in _HANDING_OUT:
        return node.values  # type: ignore[union-attr]
    return _operands(node)


def _operands(node: Node) -> tuple[Atom, ...]:
    match node:
        case Load(base=base, key=key):
            return (base, *key_atoms(key))
        case Store(base=base, key=key, value=value):
            return (base, *key_atoms(key), value)
        case If(cond=cond) | Branch(cond=cond):
            return (cond,)
        case Loop(over=Range(start=start, stop=stop, step=step), inits=inits):
            return (start, stop, step, *inits)
        case Loop(over=Items(iterable=iterable), inits=inits):
            return (iterable, *inits)
        case Loop(inits=inits):
            return inits
        case Guarded(context=context, handlers=handlers):
            own = () if context is None else (context,)
            return own + tuple(handler.exception for handler in handlers if handler.exception is not None)
        case Raise(exception=exception, cause=cause):
            return tuple(atom for atom in (exception, cause) if atom is not None)
    raise AssertionError(node)


def blocks_of(node: Node) -> tuple[Block, ...]:
    """The blocks directly inside a statement or a ``Branch``."""
    if type(node) in _WITHOUT_BLOCKS:
        return ()
    match node:
        case If(then=then, orelse=orelse) | Branch(then=then, orelse=orelse):
            return (then, orelse)
        case Loop(body=body):
            return (body,)
        case Guarded(body=body, handlers=handlers, final=final):
            inside = (body, *(handler.body for handler in handlers))
            return inside if final is None else (*inside, final)
        case _:
            return ()


def targets_of(statement: Statement) -> tuple[Var, ...]:
    """The variables that a statement binds for the statements after it."""
    if type(statement) is Call:
        return statement.targets
    match statement:
        case If(targets=targets) | Guarded(targets=targets):
            return targets
        case Load(target=target):
            return (target,)
        case Loop(targets=targets, exit=exit_):
            return targets if exit_ is None else (*targets, exit_)
        case _:
            return ()


def binders_of(statement: Statement) -> tuple[Var, ...]:
    """The variables that a statement binds for its own blocks."""
    if type(statement) in _WITHOUT_BLOCKS:
        return ()
    match statement:
        case Loop(index=index, params=params):
            return params if index is None else (index, *params)
        case Guarded(name=name, handlers=handlers):
            names = (name, *(handler.name for handler in handlers))
            return tuple(var for var in names if var is not None)
        case _:
            return ()


def statements_in(block: Block) -> list[Statement]:
    """Every statement in a block, nested ones after the statement that holds them."""
    found: list[Statement] = []
    _collect_statements(block, found)
    return found


def _collect_statements(block: Block, found: list[Statement]) -> None:
    for statement in block.statements:
        found.append(statement)
        if type(statement) not in _WITHOUT_BLOCKS:
            for inner in blocks_of(statement):
                _collect_statements(inner, found)
    if type(block.terminator) is Branch:
        _collect_statements(block.terminator.then, found)
        _collect_statements(block.terminator.orelse, found)


def defined_in(block: Block) -> set[Var]:
    """Every variable bound in a block, at any depth."""
    found: set[Var] = set()
    for statement in statements_in(block):
        found.update(targets_of(statement))
        found.update(binders_of(statement))
    return found


def defined_by(loop: Loop) -> set[Var]:
    """Every variable that a loop binds inside of itself."""
    return {*binders_of(loop), *defined_in(loop.body)}


def mentions(node: Node, var: Var) -> bool:
    """Whether a node, or anything inside of it, reads a variable."""
    return any(atom is var for atom in operands(node)) or any(var in vars_used(block) for block in blocks_of(node))


def with_inner(statement: Statement) -> Iterator[Statement]:
    """A statement, then every statement inside of it."""
    yield statement
    for block in blocks_of(statement):
        yield from statements_in(block)


def vars_used(block: Block) -> dict[Var, None]:
    """Every variable read in a block, at any depth, in the order of first use (an ordered set)."""
    found: dict[Var, None] = {}
    _collect_used(block, found)
    return found


def _collect_used(block: Block, found: dict[Var, None]) -> None:
    for node in (*block.statements, block.terminator):
        for atom in operands(node):
            if type(atom) is Var:
                found[atom] = None
        if type(node) not in _WITHOUT_BLOCKS:
            for inner in blocks_of(node):
                _collect_used(inner, found)


def read_counts(block: Block) -> Counter[Var]:
    """In how many places each variable is read in a block, at any depth."""
    read: list[Atom] = []
    _collect_reads(block, read)
    return Counter([atom for atom in read if type(atom) is Var])


def _collect_reads(block: Block, read: list[Atom]) -> None:
    for node in (*block.statements, block.terminator):
        read += operands(node)
        if type(node) not in _WITHOUT_BLOCKS:
            for inner in blocks_of(node):
                _collect_reads(inner, read)


def free_vars(block: Block) -> tuple[Var, ...]:
    """The variables read in a block and bound outside of it, in the order of first use."""
    inside = defined_in(block)
    return tuple(var for var in vars_used(block) if var not in inside)


def leaves(block: Block) -> Iterator[Terminator]:
    """The terminators in which a block can end, below any ``Branch``."""
    terminator = block.terminator
    if type(terminator) is Branch:
        yield from leaves(terminator.then)
        yield from leaves(terminator.orelse)
    else:
        yield terminator


# Copies


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


def terminators_in(block: Block) -> Iterator[Terminator]:
    """Every leaf below a block, those of nested blocks included."""
    yield from leaves(block)
    for statement in statements_in(block):
        for inner in blocks_of(statement):
            yield from leaves(inner)


def is_basic(item: Atom | Slice) -> bool:
    """Whether an item of an index is one of those of which all together give a view."""
    match item:
        case Slice() | Const(value=None) | Var(type=Scalar(kind="int")):
            return True
        case Const(value=value):
            return value is Ellipsis or (isinstance(value, int) and not isinstance(value, bool))
        case _:
            return False
