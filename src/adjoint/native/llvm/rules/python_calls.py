"""What has no form in LLVM IR is called as Python: functions of NumPy and SciPy, and of the user's that are opaque."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.codegen.python import emit
from adjoint.codegen.texts import Emitted
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands, targets_of
from adjoint.native.llvm.bridges import Bridge, bridge_for, words_of
from adjoint.native.llvm.rules import arrays
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import (
    Array,
    ArrayKind,
    Complex,
    Known,
    ListKind,
    Number,
    Tuple,
    TupleKind,
    Unsupported,
    Value,
    dtype_of,
    is_complex,
    kind,
    parts,
    size_of,
    types_of_parts,
    width_of,
)
from adjoint.native.llvm.values import Kind as AnyKind
from adjoint.native.llvm.writing.declared import kind_of_type
from adjoint.native.llvm.writing.emission import Emission
from adjoint.native.llvm.writing.program import RAISED
from adjoint.sources.library_folders import package_of


@rule("python")
def by_python(e: Emission, statement: ir.Call | ir.Load) -> Value:
    """What a statement gives that runs as Python."""
    if e.guards:
        raise Unsupported("a call of Python whose exceptions are handled")
    results = tuple([_result_kind(target) for target in targets_of(statement)])
    taken = [atom for atom in dict.fromkeys(operands(statement)) if isinstance(atom, ir.Var)]
    values = {var: e.value(var) for var in taken}
    varying = [var for var in taken if not isinstance(values[var], Known)]
    _require_harmless(statement, [values[var] for var in varying])
    given = tuple([kind(values[var]) for var in varying])
    known = {var: ir.Const(value.value) for var, value in values.items() if isinstance(value, Known)}
    bridge = bridge_for(_alone(statement, varying, known), given, results)
    e.program.bridges[bridge.symbol] = bridge
    found = _called(e, bridge, [values[var] for var in varying])
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


def _alone(statement: ir.Call | ir.Load, taken: Sequence[ir.Var], known: dict[ir.Var, ir.Const]) -> Emitted:
    """A statement as a function of what it reads."""
    params = tuple([ir.Var(var.hint, var.type, var.named) for var in taken])
    given: dict[ir.Var, ir.Atom] = {**known, **dict(zip(taken, params, strict=True))}
    own = getattr(getattr(statement, "callee", None), "__objclass__", object)
    conversions: list[ir.Statement] = []
    if issubclass(own, np.generic):  # a method of NumPy's numbers; machine code hands over those of Python
        for var, param in zip(taken, params, strict=True):
            if isinstance(var.type, ir.Scalar):
                given[var] = number = ir.Var(var.hint, var.type)
                conversions.append(ir.Call((number,), dtype_of(str(kind_of_type(var.type))).type, (param,)))
    body = ir.Block((*conversions, substitute(statement, given)), ir.Return(targets_of(statement) or (ir.Const(None),)))
    name = getattr(getattr(statement, "callee", None), "__name__", "") or "index"
    return emit(ir.Function(name.strip("_<>") or "call", params, body))


def _called(e: Emission, bridge: Bridge, values: Sequence[Value]) -> list[Value]:
    """Calls a bridge. Other threads may run Python meanwhile: the lock is taken, where this thread does not have it."""
    writer = e.writer
    words = [part for value in values for part in parts(value)]
    source, target = e.slots(len(words)), e.slots(words_of(bridge.results))
    writer.put_parts(source, words)
    writer.module.declarations[bridge.symbol] = f"@{bridge.symbol} = external global i8"
    lock = writer.call("PyGILState_Ensure", "i32", ())
    told = [writer.call("PyLong_FromVoidPtr", "ptr", (("ptr", each),)) for each in (source, target)]
    room = e.slots(2)
    writer.put_parts(room, [("ptr", each) for each in told])
    args = (("ptr", f"@{bridge.symbol}"), ("ptr", room), ("i64", "2"), ("ptr", "null"))
    rested = writer.call("PyObject_Vectorcall", "ptr", args)
    for each in told:
        writer.call("Py_DecRef", "void", (("ptr", each),))
    writer.call("PyGILState_Release", "void", (("i32", lock),))
    bad, good = writer.new_label("bad"), writer.new_label("good")
    writer.branch(writer.op(f"icmp eq ptr {rested}, null"), bad, good, ", !prof !0")
    writer.start(bad)
    writer.line(f"ret i32 {RAISED}")
    writer.start(good)
    found: list[Value] = []
    place = target
    for result in bridge.results:
        found.append(_result(e, result, place))
        place = writer.place(place, str(8 * words_of((result,))))
    again = writer.call("PyGILState_Ensure", "i32", ())
    writer.call("Py_DecRef", "void", (("ptr", rested),))
    writer.call("PyGILState_Release", "void", (("i32", again),))
    return found


def _result(e: Emission, found: str | ArrayKind, place: str) -> Value:
    """A result in words; of an array a copy, laid out alike."""
    writer = e.writer
    if isinstance(found, str):
        names = writer.parts_at(place, types_of_parts(found))
        return Complex(found, *names) if is_complex(found) else Number(found, names[0])
    data, *rest = writer.parts_at(place, ["ptr", *["i64"] * (2 * found.rank)])
    shape, strides = tuple(rest[: found.rank]), tuple(rest[found.rank :])
    copy = arrays.new(e, found.element, shape, checked=False)
    size = str(size_of(found.element))
    for extent in shape:
        size = writer.mul(size, extent)
    writer.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {copy.data}, ptr {data}, i64 {size}, i1 false)")
    writer.module.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
    return copy if found.by_rows else Array(found, copy.base, copy.data, shape, strides, copy.owner)
