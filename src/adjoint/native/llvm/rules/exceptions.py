"""The program's own exceptions: their texts are made by Python, of the values that the call leaves for them."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.native.llvm.messages import Message, is_told
from adjoint.native.llvm.rules.checks import told_or_number
from adjoint.native.llvm.rules.table import Rule, applied, rule
from adjoint.native.llvm.values import (
    Complex,
    Kind,
    Known,
    Number,
    Shown,
    Tuple,
    TupleKind,
    Unsupported,
    Value,
    kind,
    references,
)
from adjoint.native.llvm.writing.emission import Emission
from adjoint.records import dataclass
from adjoint.runtime import display

_CONVERSIONS = {None: "", -1: "", "s": "s", 115: "s", "r": "r", 114: "r", "a": "a", 97: "a"}
_NOTATION = "the notation of a number that may be Python's or NumPy's"
_RAISED = (
    *(Exception, ArithmeticError, AttributeError, FloatingPointError, OverflowError, ZeroDivisionError, AssertionError),
    *(IndexError, KeyError, LookupError, NotImplementedError, RecursionError, RuntimeError, StopIteration),
    *(TypeError, ValueError, np.linalg.LinAlgError),
)


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that is made: its class, and its arguments."""

    exception: type[BaseException]
    args: tuple[Value, ...]


@rule(display.format_value)
def _format_value(e: Emission, value: Value, conversion: Value | None = None, spec: Value | None = None) -> Shown:
    converts = _CONVERSIONS[None if conversion is None else told_or_number(conversion)]
    form = None if spec is None else told_or_number(spec)
    if isinstance(value, Shown) and not form and converts in ("", "s"):
        return value
    _require_numbers(value)
    return Shown(((value, converts, form or ""),))


def _require_numbers(*values: Value) -> None:
    """Leaves texts of memory to Python, which makes them at once: memory may change, or be free, when they are read."""
    if any(map(references, values)):
        raise Unsupported("a text of what lies in memory")


@rule(str)
def _str(e: Emission, value: Value) -> Shown:
    return _format_value(e, value, Known("s"))


@rule(display.join_string)
def _join_string(e: Emission, *parts: Value) -> Shown:
    _require_numbers(*parts)
    return Shown(tuple(piece for part in parts for piece in _pieces(part)))


def joined_texts(usual: Rule) -> Rule:
    """A sum, or texts or tuples that are put together."""

    def write(e: Emission, one: Value, other: Value) -> Any:
        if is_text(one) and is_text(other):
            return _join_string(e, one, other)
        if isinstance(one, Tuple) and isinstance(other, Tuple) and one.numbers is other.numbers is None:
            return Tuple((*one.items, *other.items))
        return applied(operator.add, usual, e, one, other)

    return write


def is_text(value: Value) -> bool:
    """Whether a value is a text."""
    return isinstance(value, Shown) or (isinstance(value, Known) and isinstance(value.value, str))


def _pieces(part: Value) -> tuple[Any, ...]:
    if isinstance(part, Shown):
        return part.parts
    return (part.value,) if isinstance(part, Known) and isinstance(part.value, str) else ((part, "", ""),)


def _declare_exception(exception: type[Exception]) -> None:
    @rule(exception)
    def made(e: Emission, *args: Value) -> Known:
        return Known(Raised(exception, args))


for _exception in _RAISED:
    _declare_exception(_exception)


@rule("raise")
def _raise(e: Emission, end: ir.Raise) -> None:
    from_another = end.cause is not None and end.cause != ir.Const(None)
    value = None if end.exception is None or from_another else e.value(end.exception)
    raised = value.value if isinstance(value, Known) else None
    if isinstance(raised, type) and issubclass(raised, BaseException) and _is_known(raised):
        raised = Raised(raised, ())
    if not isinstance(raised, Raised):
        raise Unsupported("raising an exception that is not made there")
    texts = [arg.value for arg in raised.args if isinstance(arg, Known) and isinstance(arg.value, str)]
    if len(texts) == len(raised.args):
        e.leave(raised.exception, tuple(texts))
        return
    if len(raised.args) > 1 and any(isinstance(arg, Number) and arg.kind[0] == "f" for arg in raised.args):
        raise Unsupported(_NOTATION)
    if any(isinstance(arg, Tuple) for arg in raised.args):
        raise Unsupported("a tuple that an exception keeps")
    operands: list[Value] = []
    message = Message(tuple([_argument(arg, operands) for arg in raised.args]))
    e.leave(raised.exception, message, operands)


def _is_known(exception: type[BaseException]) -> bool:
    """Whether another process finds an exception by its name."""
    return exception in _RAISED or getattr(builtins, exception.__name__, None) is exception


def _argument(arg: Value, operands: list[Value]) -> Any:
    """An argument as a message has it."""
    if isinstance(arg, (Number, Complex)):
        operands.append(arg)
        return _kind(arg)
    found: list[Any] = []
    for piece in _pieces(arg):
        if isinstance(piece, str):
            found.append(piece)
            continue
        value, conversion, spec = piece
        if isinstance(value, Known):
            found.append(display.format_value(value.value, conversion, spec))
            continue
        own = _kind(value)
        if conversion in ("r", "a") and own not in ("i8", "b1"):
            raise Unsupported(_NOTATION)
        operands.append(value)
        found.append((own, conversion, spec))
    return tuple(found)


def _kind(value: Value) -> Any:
    """The kind of a value that a message can have: bundles, arrays and lists are none."""
    found = _plain(kind(value)) if isinstance(value, (Number, Complex, Tuple)) else None
    if found is None or not is_told(found):
        raise Unsupported("a text of such values")
    return found


def _plain(found: Kind) -> Any:
    return tuple(map(_plain, found.items)) if isinstance(found, TupleKind) else found
