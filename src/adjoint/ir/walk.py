"""Reading IR: what a node uses, defines and contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from adjoint import ir

Node = ir.Statement | ir.Terminator


_WITHOUT_BLOCKS = frozenset({ir.Call, ir.Load, ir.Store, ir.Yield, ir.Continue, ir.Exit, ir.Return, ir.Raise})
_HANDING_OUT = frozenset({ir.Yield, ir.Continue, ir.Exit, ir.Return})


def key_atoms(key: ir.Key | None) -> tuple[ir.Atom, ...]:
    """The atoms in an index, slices included."""
    if key is None or type(key) is ir.Attribute:
        return ()
    assert isinstance(key, ir.Subscript)
    atoms: list[ir.Atom] = []
    for item in key.items:
        if isinstance(item, ir.Slice):
            atoms += (item.lower, item.upper, item.step)
        else:
            atoms.append(item)
    return tuple(atoms)


def vars_of(atoms: Iterable[ir.Atom]) -> list[ir.Var]:
    """The variables among some atoms."""
    return [atom for atom in atoms if type(atom) is ir.Var]


def operands(node: Node) -> tuple[ir.Atom, ...]:
    """The atoms that a statement or terminator reads itself: not those read in its blocks."""
    if type(node) is ir.Call:
        return node.args + tuple([value for _, value in node.kwargs]) if node.kwargs else node.args
    if type(node) in _HANDING_OUT:
        return node.values  # type: ignore[union-attr]
    return _operands(node)


def _operands(node: Node) -> tuple[ir.Atom, ...]:
    match node:
        case ir.Load(base=base, key=key):
            return (base, *key_atoms(key))
        case ir.Store(base=base, key=key, value=value):
            return (base, *key_atoms(key), value)
        case ir.If(cond=cond) | ir.Branch(cond=cond):
            return (cond,)
        case ir.Loop(over=ir.Range(start=start, stop=stop, step=step), inits=inits):
            return (start, stop, step, *inits)
        case ir.Loop(over=ir.Items(iterable=iterable), inits=inits):
            return (iterable, *inits)
        case ir.Loop(inits=inits):
            return inits
        case ir.Guarded(context=context, handlers=handlers):
            own = () if context is None else (context,)
            return own + tuple(handler.exception for handler in handlers if handler.exception is not None)
        case ir.Raise(exception=exception, cause=cause):
            return tuple(atom for atom in (exception, cause) if atom is not None)
    raise AssertionError(node)


def blocks_of(node: Node) -> tuple[ir.Block, ...]:
    """The blocks directly inside a statement or a ``Branch``."""
    if type(node) in _WITHOUT_BLOCKS:
        return ()
    match node:
        case ir.If(then=then, orelse=orelse) | ir.Branch(then=then, orelse=orelse):
            return (then, orelse)
        case ir.Loop(body=body):
            return (body,)
        case ir.Guarded(body=body, handlers=handlers, final=final):
            inside = (body, *(handler.body for handler in handlers))
            return inside if final is None else (*inside, final)
        case _:
            return ()


def targets_of(statement: ir.Statement) -> tuple[ir.Var, ...]:
    """The variables that a statement binds for the statements after it."""
    if type(statement) is ir.Call:
        return statement.targets
    match statement:
        case ir.If(targets=targets) | ir.Guarded(targets=targets):
            return targets
        case ir.Load(target=target):
            return (target,)
        case ir.Loop(targets=targets, exit=exit_):
            return targets if exit_ is None else (*targets, exit_)
        case _:
            return ()


def binders_of(statement: ir.Statement) -> tuple[ir.Var, ...]:
    """The variables that a statement binds for its own blocks."""
    if type(statement) in _WITHOUT_BLOCKS:
        return ()
    match statement:
        case ir.Loop(index=index, params=params):
            return params if index is None else (index, *params)
        case ir.Guarded(name=name, handlers=handlers):
            names = (name, *(handler.name for handler in handlers))
            return tuple(var for var in names if var is not None)
        case _:
            return ()


def statements_in(block: ir.Block) -> list[ir.Statement]:
    """Every statement in a block, nested ones after the statement that holds them."""
    found: list[ir.Statement] = []
    _collect_statements(block, found)
    return found


def _collect_statements(block: ir.Block, found: list[ir.Statement]) -> None:
    for statement in block.statements:
        found.append(statement)
        if type(statement) not in _WITHOUT_BLOCKS:
            for inner in blocks_of(statement):
                _collect_statements(inner, found)
    if type(block.terminator) is ir.Branch:
        _collect_statements(block.terminator.then, found)
        _collect_statements(block.terminator.orelse, found)


def defined_in(block: ir.Block) -> set[ir.Var]:
    """Every variable bound in a block, at any depth."""
    found: set[ir.Var] = set()
    for statement in statements_in(block):
        found.update(targets_of(statement))
        found.update(binders_of(statement))
    return found


def defined_by(loop: ir.Loop) -> set[ir.Var]:
    """Every variable that a loop binds inside of itself."""
    return {*binders_of(loop), *defined_in(loop.body)}


def mentions(node: Node, var: ir.Var) -> bool:
    """Whether a node, or anything inside of it, reads a variable."""
    return any(atom is var for atom in operands(node)) or any(var in vars_used(block) for block in blocks_of(node))


def with_inner(statement: ir.Statement) -> Iterator[ir.Statement]:
    """A statement, then every statement inside of it."""
    yield statement
    for block in blocks_of(statement):
        yield from statements_in(block)


def statements_run(function: ir.Function) -> Iterator[ir.Statement]:
    """The statements of a function, and of those that it calls."""
    pending, seen = [function], {function}
    for each in pending:
        for statement in statements_in(each.body):
            yield statement
            if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition):
                inner = statement.callee.function
                if inner is not None and inner not in seen:
                    seen.add(inner)
                    pending.append(inner)


def vars_used(block: ir.Block) -> dict[ir.Var, None]:
    """Every variable read in a block, at any depth, in the order of first use (an ordered set)."""
    found: dict[ir.Var, None] = {}
    _collect_used(block, found)
    return found


def _collect_used(block: ir.Block, found: dict[ir.Var, None]) -> None:
    for node in (*block.statements, block.terminator):
        for atom in operands(node):
            if type(atom) is ir.Var:
                found[atom] = None
        if type(node) not in _WITHOUT_BLOCKS:
            for inner in blocks_of(node):
                _collect_used(inner, found)


def read_counts(block: ir.Block) -> Counter[ir.Var]:
    """In how many places each variable is read in a block, at any depth."""
    read: list[ir.Atom] = []
    _collect_reads(block, read)
    return Counter([atom for atom in read if type(atom) is ir.Var])


def _collect_reads(block: ir.Block, read: list[ir.Atom]) -> None:
    for node in (*block.statements, block.terminator):
        read += operands(node)
        if type(node) not in _WITHOUT_BLOCKS:
            for inner in blocks_of(node):
                _collect_reads(inner, read)


def free_vars(block: ir.Block) -> tuple[ir.Var, ...]:
    """The variables read in a block and bound outside of it, in the order of first use."""
    inside = defined_in(block)
    return tuple(var for var in vars_used(block) if var not in inside)


def leaves(block: ir.Block) -> Iterator[ir.Terminator]:
    """The terminators in which a block can end, below any ``Branch``."""
    terminator = block.terminator
    if type(terminator) is ir.Branch:
        yield from leaves(terminator.then)
        yield from leaves(terminator.orelse)
    else:
        yield terminator


def terminators_in(block: ir.Block) -> Iterator[ir.Terminator]:
    """Every leaf below a block, those of nested blocks included."""
    yield from leaves(block)
    for statement in statements_in(block):
        for inner in blocks_of(statement):
            yield from leaves(inner)


def is_basic(item: ir.Atom | ir.Slice) -> bool:
    """Whether an item of an index is one of those of which all together give a view."""
    match item:
        case ir.Slice() | ir.Const(value=None) | ir.Var(type=ir.Scalar(kind="int")):
            return True
        case ir.Const(value=value):
            return value is Ellipsis or (isinstance(value, int) and not isinstance(value, bool))
        case _:
            return False


def is_view(key: ir.Key | None) -> bool:
    """Whether a part of an array that is an array, too, is a view of it."""
    return isinstance(key, ir.Subscript) and all(map(is_basic, key.items))


def view_type(base: ir.Atom, key: ir.Key, type_: ir.Type) -> ir.Type:
    """The type of a part of an array, in the memory of the array if it is a view."""
    if not isinstance(type_, ir.Array) or not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array):
        return type_
    return ir.Array(type_.dtype, type_.dims, base.type.storage) if is_view(key) and not _is_whole(key) else type_


def is_elsewhere(load: ir.Load) -> bool:
    """Whether a view is said to lie in other memory than the array."""
    target, base = load.target.type, load.base.type if isinstance(load.base, ir.Var) else None
    if not isinstance(target, ir.Array) or not isinstance(base, ir.Array):
        return False
    return target.storage.find() is not base.storage.find() and is_view(load.key) and not _is_whole(load.key)


def _is_whole(key: ir.Key) -> bool:
    """Whether an index names all of an array: another name, as a call hands it out, which nobody writes through."""
    assert isinstance(key, ir.Subscript)
    return all(item == ir.Const(Ellipsis) or item == ir.WHOLE_AXIS for item in key.items)
