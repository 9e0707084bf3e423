"""Reading IR: what a node uses, defines and contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from adjoint.ir.nodes import (
    Atom,
    Attribute,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Exit,
    Guarded,
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
from adjoint.ir.types import Scalar

Node = Statement | Terminator


_WITHOUT_BLOCKS = frozenset({Call, Load, Store, Yield, Continue, Exit, Return, Raise})
_HANDING_OUT = frozenset({Yield, Continue, Exit, Return})


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
