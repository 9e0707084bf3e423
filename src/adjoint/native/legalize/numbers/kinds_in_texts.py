"""Texts of numbers tell of which kind these are: ``str(3)`` is ``"3"``, and ``str(3.0)`` is ``"3.0"``.

In machine code a number has one kind. Where paths with numbers of several kinds meet it is the widest, and what comes
out of a container has that of all items. Texts of such numbers are made by Python, but for those of exceptions, of
which nobody asks.
"""

from __future__ import annotations

import operator
from collections import defaultdict

from adjoint import ir
from adjoint.analysis.joins import joins
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in, targets_of, terminators_in
from adjoint.native.compile.messages.not_native import NotNative
from adjoint.runtime import display
from adjoint.runtime.arithmetic.numbers import choose

_KEEPING = (
    *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow),
    *(operator.neg, operator.pos, operator.abs, abs),
)
"""What gives a number of the kind that one of several has, the widest of them."""
_CHOOSING = (choose, max, min)
"""What gives one of several numbers as it is."""


def refuse_texts_of_unclear_kinds(function: ir.Function) -> None:
    """Raises where a text is made of a number that may be of another kind than its type says, and somebody reads it.

    Raises
    ------
    NotNative
        With the place.
    """
    statements = list(statements_in(function.body))
    calls = (statement for statement in statements if isinstance(statement, ir.Call))
    texts = [call for call in calls if _is_text(call) or call.callee in display.PRINTS]
    if not any(_kind(arg) for call in texts for arg in operands(call)):
        return
    unclear, read = _unclear(statements), _read_texts(function, statements)
    for call in texts:
        is_read = not call.targets or any(target in read for target in call.targets)
        if is_read and any(arg in unclear for arg in operands(call)):
            raise NotNative("the text of a number that may be of several kinds", (), call.span)


def _unclear(statements: list[ir.Statement]) -> set[ir.Atom]:
    """Numbers of Python's that may be of another kind than their types say."""
    flows: defaultdict[ir.Atom, set[ir.Var]] = defaultdict(set)
    found: set[ir.Atom] = set()
    for statement in statements:
        for source, target in joins(statement):
            flows[source].add(target)
            if _kind(source) not in (None, _kind(target)):
                found.add(target)
        if isinstance(statement, ir.Load) and not isinstance(type_of_atom(statement.base), ir.Array):
            found.add(statement.target)
        if isinstance(statement, ir.Call) and isinstance(statement.callee, (ir.Definition, ir.Function, ir.Derived)):
            found.update(statement.targets)
    found = {atom for atom in found if _kind(atom) is not None}
    grows = True
    while grows:
        new = {target for atom in found for target in flows[atom]}
        for statement in statements:
            if isinstance(statement, ir.Call) and _is_unclear(statement, found):
                new.update(statement.targets)
        grows = not new <= found
        found |= new
    return found


def _is_unclear(call: ir.Call, unclear: set[ir.Atom]) -> bool:
    """Whether a call gives an unclear number for unclear ones."""
    if not any(arg in unclear for arg in call.args):
        return False
    if call.callee in _CHOOSING:
        return True
    if call.callee not in _KEEPING:
        return False
    (target,) = call.targets
    return not any(_kind(arg) == _kind(target) and arg not in unclear for arg in call.args)


def _kind(atom: ir.Atom) -> str | None:
    """The kind of a number of Python's; None for other values."""
    type_ = type_of_atom(atom)
    return type_.kind if isinstance(type_, ir.Scalar) and type_.dtype is None else None


def _read_texts(function: ir.Function, statements: list[ir.Statement]) -> set[ir.Atom]:
    """What is read, but for the messages of exceptions."""
    read: set[ir.Atom] = {atom for end in terminators_in(function.body) for atom in operands(end)}
    for statement in reversed(statements):  # what reads a text stands behind what makes it
        if not _makes_exception(statement) and (not _is_text(statement) or not read.isdisjoint(targets_of(statement))):
            read.update(operands(statement))
    return read


def _is_text(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Call) and [target.type for target in statement.targets] == [ir.Opaque(str)]


def _makes_exception(statement: ir.Statement) -> bool:
    callee = statement.callee if isinstance(statement, ir.Call) else None
    return isinstance(callee, type) and issubclass(callee, BaseException)
