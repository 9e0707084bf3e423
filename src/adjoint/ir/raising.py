"""Which statements may raise an exception: where one is handled, nothing may happen before them that did not."""

from __future__ import annotations

import operator

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import blocks_of, leaves
from adjoint.runtime import display

QUIET_ON_NUMBERS = frozenset(
    getattr(operator, name)
    for name in ["add", "sub", "mul", "neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge", "not_", "truth"]
) | {abs, bool, float}
_QUIET = frozenset(
    {operator.is_, operator.is_not, display.make_list, display.make_tuple, list.append, list.insert, list.copy}
)


def raises_itself(statement: ir.Statement) -> bool:
    """Whether a statement may raise apart from what its blocks do."""
    match statement:
        case ir.If(cond=cond):
            return not is_decided(cond)
        case ir.Loop(over=over):
            return over is not None and not _counts_quietly(over)
        case ir.Guarded(context=context):
            return context is not None
        case _:
            return may_raise(statement)


def _counts_quietly(over: ir.Range | ir.Items) -> bool:
    if not isinstance(over, ir.Range):
        return isinstance(type_of_atom(over.iterable), (ir.Array, ir.Dict, ir.List, ir.Tuple))
    return is_number(over.start) and is_number(over.stop) and isinstance(over.step, ir.Const) and over.step.value != 0


def may_raise(statement: ir.Statement) -> bool:
    """Whether a statement may raise, itself or in one of its blocks."""
    match statement:
        case ir.Call():
            return _call_may_raise(statement)
        case ir.Load(base=base, key=key):
            type_ = type_of_atom(base)
            if isinstance(type_, ir.Instance):  # of other classes an attribute may not have been assigned yet
                return not (
                    isinstance(key, ir.Attribute) and key.name in getattr(type_.cls, "__dataclass_fields__", ())
                )
            return not isinstance(type_, ir.Tuple)
        case ir.Store(base=base, key=ir.Attribute()):
            return not isinstance(type_of_atom(base), ir.Instance)
        case ir.Store():
            return True
        case ir.Guarded() if catches_all(statement):
            return False
        case _:
            return raises_itself(statement) or any(map(block_may_raise, blocks_of(statement)))


def block_may_raise(block: ir.Block) -> bool:
    """Whether a block may raise."""
    ends = (block.terminator, *leaves(block))
    below = block.terminator
    if isinstance(below, ir.Branch) and (block_may_raise(below.then) or block_may_raise(below.orelse)):
        return True
    return any(isinstance(end, ir.Raise) for end in ends) or any(map(may_raise, block.statements))


def catches_all(statement: ir.Statement) -> bool:
    """Whether a ``try`` statement hands out every exception as a value."""
    if not isinstance(statement, ir.Guarded) or statement.context is not None:
        return False
    last = statement.handlers[-1] if statement.handlers else None
    return (
        last is not None
        and (last.exception is None or last.exception == ir.Const(BaseException))
        and not any(block_may_raise(handler.body) for handler in statement.handlers)
    )


def _call_may_raise(call: ir.Call) -> bool:
    try:
        if call.callee in _QUIET or (call.callee is len and _is_container(call.args[0])):
            return False
        return call.callee not in QUIET_ON_NUMBERS or not all(map(is_number, call.args))
    except TypeError:  # not hashable
        return True


def _is_container(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), (ir.Dict, ir.List, ir.Tuple))


def is_decided(cond: ir.Atom) -> bool:
    """Whether asking for the truth of a value raises nothing."""
    return isinstance(type_of_atom(cond), ir.Scalar)


def is_number(atom: ir.Atom) -> bool:
    """Whether arithmetic of Python's own is done on it, which raises nothing."""
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.dtype is None


def goes_on(guarded: ir.Guarded) -> bool:
    """Whether control may go on behind a handler."""
    return any(not isinstance(leaf, ir.Raise) for handler in guarded.handlers for leaf in leaves(handler.body))
