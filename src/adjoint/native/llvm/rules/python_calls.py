"""What has no form in LLVM IR is called as Python: functions of NumPy and SciPy, and of the user's that are opaque."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.codegen.python import emit
from adjoint.codegen.texts import Emitted
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands, targets_of
from adjoint.native.llvm.callbacks import Callback, callback_for, dense
from adjoint.native.llvm.objects import (
    ALIGNED,
    DATA,
    EXTENTS,
    STRIDES,
    WRITEABLE,
    external,
    field,
    list_object,
    nothing,
    number_object,
    tuple_object,
)
from adjoint.native.llvm.rules import arrays
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import (
    TUPLE_ITEMS,
    Array,
    ArrayKind,
    Complex,
    Known,
    List,
    ListKind,
    Number,
    Tuple,
    TupleKind,
    Unsupported,
    Value,
    dtype_of,
    is_complex,
    kind,
    part_of,
    types_of_parts,
    width_of,
)
from adjoint.native.llvm.values import Kind as AnyKind
from adjoint.native.llvm.writer import as_kind, truth, whole
from adjoint.native.llvm.writing.declared import kind_of_type
from adjoint.native.llvm.writing.emission import Emission
from adjoint.native.llvm.writing.program import RAISED
from adjoint.sources.library_folders import package_of

_OF_PYTHON = ("f8", "i8", "b1", "c8")
"""Kinds of numbers that Python has itself."""


@rule("python")
def by_python(e: Emission, statement: ir.Call | ir.Load) -> Value:
    """What a statement gives that runs as Python."""
    if e.guards:
        raise Unsupported("a call of Python whose exceptions are handled")
    results = [_result_kind(target) for target in targets_of(statement)]
    taken = [atom for atom in dict.fromkeys(operands(statement)) if isinstance(atom, ir.Var)]
    values = {var: e.value(var) for var in taken}
    varying = {var: value for var, value in values.items() if not isinstance(value, Known)}
    _require_harmless(statement, list(varying.values()))
    known = {var: ir.Const(value.value) for var, value in values.items() if isinstance(value, Known)}
    callback = callback_for(_alone(statement, varying, known, results))
    e.program.callbacks[callback.symbol] = callback
    found = _called(e, callback, list(varying.values()), results)
    return found[0] if len(found) == 1 else Tuple(tuple(found)) if found else Known(None)


def _result_kind(target: ir.Var) -> str | ArrayKind:
    """The kind of a result: arrays of several axes are laid out as they come."""
    if not isinstance(target.type, (ir.Scalar, ir.Array)):
        raise Unsupported("a call of Python that gives what is neither a number nor an array")
    found = kind_of_type(target.type)
    if isinstance(found, ArrayKind):
        return ArrayKind(found.element, found.rank, found.rank < 2) if found.rank else found.element
    assert isinstance(found, str)
    return found


def _require_harmless(statement: ir.Call | ir.Load, values: Sequence[Value]) -> None:
    """Refuses what would write to copies, or give a view of memory that is written: results are copies."""
    if any(isinstance(target.type, ir.Array) and target.type.storage.written for target in targets_of(statement)):
        is_view = not isinstance(statement, ir.Call) or effects_of(statement).view_of is not None
        if is_view:
            raise Unsupported("a view by Python that is written")
    kinds = [found for value in values for found in _kinds_in(kind(value))]
    if any(isinstance(found, str) and width_of(found) for found in kinds):
        raise Unsupported("a call of Python with bundles")
    if any(isinstance(found, ListKind) and found.element is None for found in kinds):
        raise Unsupported("a call of Python with a list on which nothing was put")
    if isinstance(statement, ir.Call):
        if getattr(statement.callee, "__module__", None) in ("_operator", "operator"):
            raise Unsupported("an operator by Python")  # which loops over elements are made of
        is_pure = effects_of(statement).pure
        if not is_pure and any(isinstance(found, ListKind) for found in kinds):
            raise Unsupported("a call of Python that may write to a list")
        is_known = package_of(statement.callee) in ("numpy", "scipy", "adjoint")
        if not (is_pure or is_known) and not all(isinstance(value, (Number, Complex)) for value in values):
            raise Unsupported("a call of Python that may keep what it is given")


def _kinds_in(found: AnyKind) -> Iterator[AnyKind]:
    """A kind, and those of which it is made up."""
    yield found
    match found:
        case ArrayKind(element=element):
            yield element
        case TupleKind(items=items):
            for item in items:
                yield from _kinds_in(item)
        case ListKind(element=element) if element is not None:
            yield from _kinds_in(element)


def _alone(
    statement: ir.Call | ir.Load,
    taken: Mapping[ir.Var, Value],
    known: Mapping[ir.Var, ir.Const],
    results: Sequence[str | ArrayKind],
) -> Emitted:
    """A statement as a function of what it reads; numbers come as those of Python."""
    params = tuple([ir.Var(var.hint, var.type, var.named) for var in taken])
    given: dict[ir.Var, ir.Atom] = {**known, **dict(zip(taken, params, strict=True))}
    own = getattr(getattr(statement, "callee", None), "__objclass__", object)
    before: list[ir.Statement] = []
    for (var, value), param in zip(taken.items(), params, strict=True):
        if isinstance(value, (Number, Complex)) and (value.kind not in _OF_PYTHON or issubclass(own, np.generic)):
            given[var] = number = ir.Var(var.hint, var.type)
            before.append(ir.Call((number,), dtype_of(value.kind).type, (param,)))
    told: list[ir.Atom] = []
    after: list[ir.Statement] = []
    for target, found in zip(targets_of(statement), results, strict=True):
        told.append(target)
        if isinstance(found, ArrayKind):
            told[-1] = checked = ir.Var(target.hint, target.type)
            options = dtype_of(found.element), found.rank, found.by_rows
            after.append(ir.Call((checked,), dense, (target, *map(ir.Const, options))))
    body = ir.Block((*before, substitute(statement, given), *after), ir.Return(tuple(told) or (ir.Const(None),)))
    name = getattr(getattr(statement, "callee", None), "__name__", "") or "index"
    return emit(ir.Function(name.strip("_<>") or "call", params, body))


# Calls


def _called(
    e: Emission, callback: Callback, values: Sequence[Value], results: Sequence[str | ArrayKind]
) -> list[Value]:
    """Calls Python, whose lock is taken where this thread does not have it: others may run Python meanwhile."""
    writer = e.writer
    lock = writer.call("PyGILState_Ensure", "i32", ())
    objects = [_object(e, value) for value in values]
    room = e.slots(len(objects))
    writer.put_parts(room, [("ptr", each) for each in objects])
    args = (
        ("ptr", external(writer.module, callback.symbol)),
        ("ptr", room),
        ("i64", str(len(objects))),
        ("ptr", "null"),
    )
    given = writer.call("PyObject_Vectorcall", "ptr", args)
    for each in objects:
        writer.call("Py_DecRef", "void", (("ptr", each),))
    _leave_if(e, writer.op(f"icmp eq ptr {given}, null"), lock)
    items = [given]
    if len(results) != 1:
        items = [field(writer, "ptr", given, TUPLE_ITEMS + 8 * place) for place in range(len(results))]
    pairs = list(zip(results, items, strict=True))
    numbers = [None if isinstance(found, ArrayKind) else _number(e, found, item) for found, item in pairs]
    if any(number is not None for number in numbers):
        raised = writer.call("PyErr_Occurred", "ptr", ())
        _leave_if(e, writer.op(f"icmp ne ptr {raised}, null"), lock, given)
    writer.call("PyGILState_Release", "void", (("i32", lock),))
    values_: list[Value] = []
    for (found, item), number in zip(pairs, numbers, strict=True):
        values_.append(_copied(e, found, item) if isinstance(found, ArrayKind) else number or Known(None))
    again = writer.call("PyGILState_Ensure", "i32", ())
    writer.call("Py_DecRef", "void", (("ptr", given),))
    writer.call("PyGILState_Release", "void", (("i32", again),))
    return values_


def _leave_if(e: Emission, failed: str, lock: str, given: str | None = None) -> None:
    """Leaves the function where Python has raised an exception, and gives up what it gave."""
    writer = e.writer
    bad, good = writer.new_label("bad"), writer.new_label("good")
    writer.branch(failed, bad, good, ", !prof !0")
    writer.start(bad)
    if given is not None:
        writer.call("Py_DecRef", "void", (("ptr", given),))
    writer.call("PyGILState_Release", "void", (("i32", lock),))
    writer.line(f"ret i32 {RAISED}")
    writer.start(good)


def _object(e: Emission, value: Value) -> str:
    """A new object for a value; arrays lie where they are."""
    match value:
        case Number() | Complex():
            return number_object(e.writer, value)
        case Array():
            return _array_object(e, value)
        case Tuple(items=items):
            return tuple_object(e.writer, [_object(e, item) for item in items])
        case List(kind=ListKind(element=element)) if element is not None:
            item = lambda names: _object(e, e.assembled(element, names, None))
            return list_object(e.writer, value.base, types_of_parts(element), item)
    return nothing(e.writer)


def _array_object(e: Emission, x: Array) -> str:
    writer, rank = e.writer, x.kind.rank
    described = e.slots(2 * rank)
    writer.put_parts(described, [("i64", word) for word in (*x.shape, *x.strides)])
    class_, dtype = (external(writer.module, f"adjoint_{name}") for name in ("ndarray", f"dtype_{x.kind.element}"))
    writer.call("Py_IncRef", "void", [("ptr", dtype)])
    flags = ALIGNED | (0 if x.kind.read_only else WRITEABLE)
    args = [
        ("ptr", class_), ("ptr", dtype), ("i32", str(rank)), ("ptr", described),
        ("ptr", writer.place(described, str(8 * rank))), ("ptr", x.data), ("i32", str(flags)), ("ptr", "null"),
    ]  # fmt: skip
    return writer.call("adjoint_new_array", "ptr", args)


def _number(e: Emission, kind: str, given: str) -> Number | Complex:
    """The number in an object; whether there was one, Python knows."""
    writer = e.writer
    if is_complex(kind):
        names = ("PyComplex_RealAsDouble", "PyComplex_ImagAsDouble")
        parts = [Number("f8", writer.call(name, "double", (("ptr", given),))) for name in names]
        return Complex(kind, *[as_kind(writer, part, part_of(kind)).name for part in parts])
    if kind == "b1":
        return truth(writer.op(f"icmp eq i32 {writer.call('PyObject_IsTrue', 'i32', (('ptr', given),))}, 1"))
    if kind[0] == "f":
        return as_kind(writer, Number("f8", writer.call("PyFloat_AsDouble", "double", (("ptr", given),))), kind)
    return as_kind(writer, whole(writer.call("PyLong_AsLongLong", "i64", (("ptr", given),))), kind)


def _copied(e: Emission, kind: ArrayKind, given: str) -> Array:
    """An array of Python's as one of the call, laid out alike."""
    writer = e.writer
    data, extents, strides_at = (field(writer, "ptr", given, offset) for offset in (DATA, EXTENTS, STRIDES))
    copy = arrays.new(e, kind.element, writer.parts_at(extents, ["i64"] * kind.rank), checked=False)
    arrays.copy_memory(e, copy, data)
    if kind.by_rows:
        return copy
    strides = tuple(writer.parts_at(strides_at, ["i64"] * kind.rank))
    return Array(kind, copy.base, copy.data, copy.shape, strides, copy.owner)
