"""What has no form in LLVM IR is called as Python: functions of NumPy and SciPy, and of the user's that are opaque."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.codegen.python import emit
from adjoint.codegen.texts import Emitted
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands, targets_of
from adjoint.native.llvm.boxing import ALIGNED, DATA, EXTENTS, STRIDES, WRITEABLE
from adjoint.native.llvm.callbacks import Callback, callback_for, dense
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
    size_of,
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
    if any(_holds_bundle(kind(value)) for value in values):
        raise Unsupported("a call of Python with bundles")
    if isinstance(statement, ir.Call):
        if getattr(statement.callee, "__module__", None) in ("_operator", "operator"):
            raise Unsupported("an operator by Python")  # which loops over elements are made of
        is_pure = effects_of(statement).pure
        if not is_pure and any(_holds_list(kind(value)) for value in values):
            raise Unsupported("a call of Python that may write to a list")
        is_known = package_of(statement.callee) in ("numpy", "scipy", "adjoint")
        if not (is_pure or is_known) and not all(isinstance(value, (Number, Complex)) for value in values):
            raise Unsupported("a call of Python that may keep what it is given")


def _holds_list(found: AnyKind) -> bool:
    match found:
        case ListKind():
            return True
        case TupleKind(items=items):
            return any(map(_holds_list, items))
    return False


def _holds_bundle(found: AnyKind) -> bool:
    match found:
        case str():
            return width_of(found) > 0
        case ArrayKind(element=element):
            return width_of(element) > 0
        case TupleKind(items=items):
            return any(map(_holds_bundle, items))
        case ListKind(element=element):
            return element is None or _holds_bundle(element)
    return False


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
    writer.module.declarations[callback.symbol] = f"@{callback.symbol} = external global i8"
    lock = writer.call("PyGILState_Ensure", "i32", ())
    objects = [_object(e, value) for value in values]
    room = e.slots(len(objects))
    writer.put_parts(room, [("ptr", each) for each in objects])
    args = (("ptr", f"@{callback.symbol}"), ("ptr", room), ("i64", str(len(objects))), ("ptr", "null"))
    given = writer.call("PyObject_Vectorcall", "ptr", args)
    for each in objects:
        writer.call("Py_DecRef", "void", (("ptr", each),))
    _leave_if(e, writer.op(f"icmp eq ptr {given}, null"), lock)
    items = [given]
    if len(results) != 1:
        items = [_field(e, "ptr", given, TUPLE_ITEMS + 8 * place) for place in range(len(results))]
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


def _field(e: Emission, kind: str, base: str, offset: int) -> str:
    return e.writer.op(f"load {kind}, ptr {e.writer.place(base, str(offset))}")


def _object(e: Emission, value: Value) -> str:
    """A new object for a value; arrays lie where they are."""
    writer = e.writer
    match value:
        case Number(kind="b1"):
            return writer.call("PyBool_FromLong", "ptr", (("i64", as_kind(writer, value, "i8").name),))
        case Number() if value.kind[0] == "f":
            return writer.call("PyFloat_FromDouble", "ptr", (("double", as_kind(writer, value, "f8").name),))
        case Number():
            return writer.call("PyLong_FromLongLong", "ptr", (("i64", as_kind(writer, value, "i8").name),))
        case Complex():
            doubles = [("double", as_kind(writer, each, "f8").name) for each in value.parts]
            return writer.call("PyComplex_FromDoubles", "ptr", doubles)
        case Array():
            return _array_object(e, value)
        case Tuple(items=items):
            made = writer.call("PyTuple_New", "ptr", (("i64", str(len(items))),))
            for place, item in enumerate(items):
                writer.call("PyTuple_SetItem", "i32", (("ptr", made), ("i64", str(place)), ("ptr", _object(e, item))))
            return made
        case List(kind=ListKind(element=element)) if element is not None:
            return _list_object(e, value.base, element)
    nothing = "_Py_NoneStruct"
    writer.module.declarations[nothing] = f"@{nothing} = external global i8"
    writer.call("Py_IncRef", "void", (("ptr", f"@{nothing}"),))
    return f"@{nothing}"


def _array_object(e: Emission, x: Array) -> str:
    writer = e.writer
    described = e.slots(2 * x.kind.rank)
    writer.put_parts(described, [("i64", word) for word in (*x.shape, *x.strides)])
    for name in ("adjoint_ndarray", f"adjoint_dtype_{x.kind.element}"):
        writer.module.declarations[name] = f"@{name} = external global i8"
    dtype = f"@adjoint_dtype_{x.kind.element}"
    writer.call("Py_IncRef", "void", (("ptr", dtype),))
    strides = writer.place(described, str(8 * x.kind.rank))
    flags = ALIGNED | (0 if x.kind.read_only else WRITEABLE)
    args = (
        ("ptr", "@adjoint_ndarray"), ("ptr", dtype), ("i32", str(x.kind.rank)), ("ptr", described), ("ptr", strides),
        ("ptr", x.data), ("i32", str(flags)), ("ptr", "null"),
    )  # fmt: skip
    return writer.call("adjoint_new_array", "ptr", args)


def _list_object(e: Emission, block: str, element: AnyKind) -> str:
    writer = e.writer
    size, items = _field(e, "i64", block, 0), _field(e, "ptr", block, 16)
    made = writer.call("PyList_New", "ptr", (("i64", size),))
    types = types_of_parts(element)

    def one(place: str) -> None:
        names = writer.parts_at(writer.place(items, writer.mul(place, str(8 * len(types)))), types)
        item = _object(e, e.assembled(element, names, None))
        writer.call("PyList_SetItem", "i32", (("ptr", made), ("i64", place), ("ptr", item)))

    writer.each(size, one)
    return made


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
    data, extents, strides_at = (_field(e, "ptr", given, offset) for offset in (DATA, EXTENTS, STRIDES))
    shape = tuple(writer.parts_at(extents, ["i64"] * kind.rank))
    copy = arrays.new(e, kind.element, shape, checked=False)
    size = str(size_of(kind.element))
    for extent in shape:
        size = writer.mul(size, extent)
    writer.call("llvm.memcpy.p0.p0.i64", "void", (("ptr", copy.data), ("ptr", data), ("i64", size), ("i1", "false")))
    if kind.by_rows:
        return copy
    strides = tuple(writer.parts_at(strides_at, ["i64"] * kind.rank))
    return Array(kind, copy.base, copy.data, shape, strides, copy.owner)
