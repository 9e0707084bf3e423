"""Numbers that may be of another kind than their types say, and who asks of which kind they are.

Where an integer and a float meet, in a variable or among the items of a container, the type of both is that of floats.
Arithmetic cannot tell; an index and a text can: ``str(3)`` is ``"3"``, and ``str(3.0)`` is ``"3.0"``.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterator, Sequence

from adjoint import ir
from adjoint.analysis.joins import joins
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import key_atoms, operands, statements_in, targets_of, terminators_in
from adjoint.runtime import display
from adjoint.runtime.arithmetic.numbers import choose

_KEEPING = (
    *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow),
    *(operator.neg, operator.pos, operator.abs, abs),
)
"""What gives a number of the kind that one of several has, the widest of them."""
_CHOOSING = (choose, max, min)
"""What gives one of several numbers as it is."""
_DTYPES = tuple(ir.Attribute(name) for name in ("dtype", "itemsize", "nbytes"))
_FOR_BOTH = tuple("eEfFgG%")
"""Notations in which an integer reads as the float that is equal to it."""


def asks_for_kinds(function: ir.Function) -> bool:
    """Whether somebody asks of which kind an item of a container is."""
    return any(True for _ in asked_kinds(function, joined=False))


def asked_kinds(function: ir.Function, *, joined: bool) -> Iterator[ir.Statement]:
    """The statements that ask of which kind a number is that may be of another one than its type says.

    Texts of exceptions are not asked for. What makes an array asks, where the array is written or its dtype asked.

    Parameters
    ----------
    function
        The function.
    joined
        Whether what variables are where paths meet has one kind, as what comes out of a container has.
    """
    statements = statements_in(function.body)
    texts = [each for each in statements if isinstance(each, ir.Call) and (_is_text(each) or _is_print(each))]
    texts = [call for call in texts if any(map(_may_tell, operands(call))) and not _reads_alike(call)]
    indexed = [each for each in statements if any(map(_may_be_whole, _index(each)))]
    calls = [each for each in statements if isinstance(each, ir.Call)] if joined else []
    made = list(filter(_makes_array_of_any_kind, calls))
    if not texts and not indexed and not made:
        return
    unclear = _unclear(statements, joined)
    read = _read_texts(function, statements) if texts else set()
    for call in texts:
        is_read = not call.targets or any(target in read for target in call.targets)
        if is_read and any(arg in unclear or _is_mixed(arg, joined) for arg in operands(call)):
            yield call
    for each in indexed:
        if any(atom in unclear for atom in _index(each)):
            yield each
    asked = {each.base for each in statements if isinstance(each, ir.Load) and each.key in _DTYPES}
    for call in made:
        is_asked = any(ir.is_written_array(target.type) or target in asked for target in call.targets)
        if is_asked and any(
            (arg in unclear and _may_be_whole(arg)) or _is_mixed(arg, joined) for arg in operands(call)
        ):
            yield call


def _makes_array_of_any_kind(call: ir.Call) -> bool:
    return any(isinstance(target.type, ir.Array) and target.type.dtype is None for target in call.targets)


def _reads_alike(call: ir.Call) -> bool:
    """Whether a text is of one number, in a notation in which integers read as floats do."""
    spec = call.args[-1] if call.callee in (format, display.format_value) and len(call.args) > 1 else None
    return isinstance(spec, ir.Const) and isinstance(spec.value, str) and spec.value[-1:] in _FOR_BOTH


def _index(statement: ir.Statement) -> tuple[ir.Atom, ...]:
    """What items are picked by; the keys of dicts are equal where numbers are."""
    match statement:
        case ir.Load(base=base, key=key) | ir.Store(base=base, key=key):
            return () if isinstance(type_of_atom(base), ir.Dict) else key_atoms(key)
        case _:
            return ()


def _unclear(statements: Sequence[ir.Statement], joined: bool) -> set[ir.Atom]:
    """Numbers that may be of another kind than their types say, and tuples of them."""
    flows: defaultdict[ir.Atom, set[ir.Var]] = defaultdict(set)
    found: set[ir.Atom] = set()
    for statement in statements:
        for source, target in joins(statement):
            flows[source].add(target)
            if joined and _kind_of(source) not in (None, _kind_of(target)):
                found.add(target)
        if isinstance(statement, ir.Load) and not isinstance(type_of_atom(statement.base), ir.Array):
            found.add(statement.target)
        if isinstance(statement, ir.Call) and isinstance(statement.callee, (ir.Definition, ir.Function, ir.Derived)):
            found.update(statement.targets)
    found = {atom for atom in found if _may_be_of_another(atom)}
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
    if call.callee in _CHOOSING or call.callee is display.make_tuple:
        return True
    if call.callee not in _KEEPING:
        return False
    (target,) = call.targets
    return not any(_kind_of(arg) == _kind_of(target) and arg not in unclear for arg in call.args)


def _kind_of(atom: ir.Atom) -> str | None:
    """The kind of a number; None for other values."""
    type_ = type_of_atom(atom)
    return type_.kind if isinstance(type_, ir.Scalar) else None


def _may_tell(atom: ir.Atom) -> bool:
    """Whether the text of a value may tell of which kinds numbers are."""
    return _may_be_of_another(atom) or isinstance(type_of_atom(atom), (ir.Tuple, ir.List, ir.Dict))


def _is_mixed(atom: ir.Atom, joined: bool) -> bool:
    """Whether a value is, or holds, numbers of several kinds by its type, which is that of floats if not ``joined``."""
    match type_of_atom(atom):
        case ir.List(element=part) | ir.Dict(value=part):
            return isinstance(part, ir.Number if joined else ir.Scalar)
        case type_:
            return joined and isinstance(type_, ir.Number)


def _may_be_of_another(atom: ir.Atom) -> bool:
    """Whether the type of a value is one that numbers of several kinds have."""
    return _kind_of(atom) is not None or _is_unknown(atom)


def _is_unknown(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), ir.Number)


def _may_be_whole(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and (_kind_of(atom) == "float" or _is_unknown(atom))


def _read_texts(function: ir.Function, statements: Sequence[ir.Statement]) -> set[ir.Atom]:
    """What is read, but for the messages of exceptions."""
    read: set[ir.Atom] = {atom for end in terminators_in(function.body) for atom in operands(end)}
    for statement in reversed(statements):  # what reads a text stands behind what makes it
        if not _makes_exception(statement) and (not _is_text(statement) or not read.isdisjoint(targets_of(statement))):
            read.update(operands(statement))
    return read


def _is_text(statement: ir.Statement) -> bool:
    """Whether a statement makes a text."""
    return isinstance(statement, ir.Call) and [target.type for target in statement.targets] == [ir.Opaque(str)]


def _is_print(call: ir.Call) -> bool:
    return call.callee in display.PRINTS


def _makes_exception(statement: ir.Statement) -> bool:
    callee = statement.callee if isinstance(statement, ir.Call) else None
    return isinstance(callee, type) and issubclass(callee, BaseException)
