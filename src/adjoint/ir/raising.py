"""Which statements may raise an exception: where one is handled, nothing may happen before them that did not."""

from __future__ import annotations

import operator

from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Atom,
    Attribute,
    Block,
    Branch,
    Call,
    Const,
    Guarded,
    If,
    Items,
    Load,
    Loop,
    Raise,
    Range,
    Statement,
    Store,
)
from adjoint.ir.types import Array, Dict, Instance, List, Scalar, Tuple
from adjoint.ir.walk import blocks_of, leaves
from adjoint.runtime import display

QUIET_ON_NUMBERS = frozenset(
    getattr(operator, name)
    for name in ["add", "sub", "mul", "neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge", "not_", "truth"]
) | {abs, bool, float}
_QUIET = frozenset({operator.is_, operator.is_not, display.make_list, display.make_tuple, list.append, list.copy})


def raises_itself(statement: Statement) -> bool:
    """Whether a statement may raise apart from what its blocks do."""
    match statement:
        case If(cond=cond):
            return not is_decided(cond)
        case Loop(over=over):
            return over is not None and not _counts_quietly(over)
        case Guarded(context=context):
            return context is not None
        case _:
            return may_raise(statement)


def _counts_quietly(over: Range | Items) -> bool:
    if not isinstance(over, Range):
        return isinstance(type_of_atom(over.iterable), (Array, Dict, List, Tuple))
    return is_number(over.start) and is_number(over.stop) and isinstance(over.step, Const) and over.step.value != 0


def may_raise(statement: Statement) -> bool:
    """Whether a statement may raise, itself or in one of its blocks."""
    match statement:
        case Call():
            return _call_may_raise(statement)
        case Load(base=base, key=key):
            type_ = type_of_atom(base)
            if isinstance(type_, Instance):  # of other classes an attribute may not have been assigned yet
                return not (isinstance(key, Attribute) and key.name in getattr(type_.cls, "__dataclass_fields__", ()))
            return not isinstance(type_, Tuple)
        case Store(base=base, key=Attribute()):
            return not isinstance(type_of_atom(base), Instance)
        case Store():
            return True
        case Guarded() if catches_all(statement):
            return False
        case _:
            return raises_itself(statement) or any(map(block_may_raise, blocks_of(statement)))


def block_may_raise(block: Block) -> bool:
    """Whether a block may raise."""
    ends = (block.terminator, *leaves(block))
    below = block.terminator
    if isinstance(below, Branch) and (block_may_raise(below.then) or block_may_raise(below.orelse)):
        return True
    return any(isinstance(end, Raise) for end in ends) or any(map(may_raise, block.statements))


def catches_all(statement: Statement) -> bool:
    """Whether a ``try`` statement hands out every exception as a value."""
    if not isinstance(statement, Guarded) or statement.context is not None:
        return False
    last = statement.handlers[-1] if statement.handlers else None
    return (
        last is not None
        and (last.exception is None or last.exception == Const(BaseException))
        and not any(block_may_raise(handler.body) for handler in statement.handlers)
    )


def _call_may_raise(call: Call) -> bool:
    try:
        if call.callee in _QUIET or (call.callee is len and _is_container(call.args[0])):
            return False
        return call.callee not in QUIET_ON_NUMBERS or not all(map(is_number, call.args))
    except TypeError:  # not hashable
        return True


def _is_container(atom: Atom) -> bool:
    return isinstance(type_of_atom(atom), (Dict, List, Tuple))


def is_decided(cond: Atom) -> bool:
    """Whether asking for the truth of a value raises nothing."""
    return isinstance(type_of_atom(cond), Scalar)


def is_number(atom: Atom) -> bool:
    """Whether arithmetic of Python's own is done on it, which raises nothing."""
    type_ = type_of_atom(atom)
    return isinstance(type_, Scalar) and type_.dtype is None


def goes_on(guarded: Guarded) -> bool:
    """Whether control may go on behind a handler."""
    return any(not isinstance(leaf, Raise) for handler in guarded.handlers for leaf in leaves(handler.body))
