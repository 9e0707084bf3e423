"""Values of machine code as objects of Python, and what Python gives as values.

Arrays share their memory with their objects: a block of machine code lives as long as an object refers to it, and an
object as long as a block does.
"""

from __future__ import annotations

from typing import Any

from adjoint import ir
from adjoint.native.llvm.array_objects import array_object
from adjoint.native.llvm.callbacks import Callback
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
    object_in,
    tuple_object,
)
from adjoint.native.llvm.rules import arrays
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import (
    OBJECT,
    TUPLE_ITEMS,
    Array,
    ArrayKind,
    Bounds,
    Complex,
    Known,
    LeftToPython,
    List,
    ListKind,
    Number,
    Object,
    ObjectKind,
    SeveralKinds,
    Shown,
    Steps,
    Struct,
    TakenAsObject,
    Tuple,
    Unsupported,
    Value,
    is_complex,
    part_of,
    types_of_parts,
)
from adjoint.native.llvm.writer import as_kind, truth, whole
from adjoint.native.llvm.writing.emission import UNLIKELY, Emission
from adjoint.native.llvm.writing.program import RAISED
from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class Lock:
    """Python's lock, while this thread has it; ``state`` is None where whoever called machine code keeps it."""

    e: Emission
    state: str | None

    @classmethod
    def taken(cls, e: Emission) -> Lock:
        return cls(e, None if e.program.is_locked else e.writer.call("PyGILState_Ensure", "i32", ()))

    def given_back(self) -> None:
        if self.state is not None:
            self.e.writer.call("PyGILState_Release", "void", (("i32", self.state),))

    def leave_if(self, failed: str, *objects: str) -> None:
        """Leaves the function where Python has raised an exception, and gives up objects."""
        writer = self.e.writer
        if self.e.guards:
            raise Unsupported("a call of Python whose exceptions are handled")
        bad, good = writer.new_label("bad"), writer.new_label("good")
        writer.branch(failed, bad, good, UNLIKELY)
        writer.start(bad)
        for each in objects:
            writer.call("Py_DecRef", "void", (("ptr", each),))
        self.given_back()
        writer.line(f"ret i32 {RAISED}")
        writer.start(good)


# To Python


def borrowing(e: Emission, value: Value) -> str:
    """A new object for a value, for a call that keeps none: arrays lie where they are, lists are copied."""
    match value:
        case Array():
            return _view(e, value)
        case Tuple(items=items, numbers=None):
            return tuple_object(e.writer, [borrowing(e, item) for item in items])
        case List(kind=ListKind(element=element)) if element is not None:
            item = lambda names: borrowing(e, e.assembled(element, names, None))
            return list_object(e.writer, value.base, types_of_parts(element), item)
    return _plain(e, value)


def sharing(e: Emission, value: Value, type_: ir.Type | None) -> str:
    """A new object for a value, whose memory lives as long as the object."""
    match value:
        case Number() | Complex():
            return number_of_type(e, value, type_)
        case Array(kind=kind, base=base):
            e.retain(base)
            strides = None if kind.by_rows else value.strides
            return array_object(e.writer, kind, (base, value.data), value.shape, strides, e.slots(2 * kind.rank))
        case Tuple(items=items, numbers=None):
            types = type_.items if isinstance(type_, ir.Tuple) else [None] * len(items)
            if isinstance(type_, ir.Tuple) and not (type_.cls is tuple or ir.stands_for_another(type_)):
                raise Unsupported("a named tuple as an object of Python")
            return tuple_object(e.writer, [sharing(e, *each) for each in zip(items, types, strict=True)])
        case List(kind=ListKind(read_only=True, key=place)):
            raise TakenAsObject(place)
        case List(kind=ListKind(key=key)):
            e.learn(("list", key), OBJECT)
    return _plain(e, value)


def _plain(e: Emission, value: Value) -> str:
    match value:
        case Number() | Complex():
            return number_object(e.writer, value)
        case Object(base=base):
            return object_in(e.writer, base)
        case Struct(kind=kind):
            raise LeftToPython(kind.cls)
        case Tuple():
            raise LeftToPython(SeveralKinds)
        case Known(value=None):
            return nothing(e.writer)
        case Known() | Shown() | Bounds() | Steps():
            found = e.program.written("object")(e, value, None)
            return object_in(e.writer, found.base)
    raise Unsupported("a value that is no object of Python")


def number_of_type(e: Emission, value: Number | Complex, type_: ir.Type | None) -> str:
    """A number of Python or of NumPy, as its type has it; NumPy's arithmetic is what machine code has for others.

    Arrays without axes are numbers in machine code.
    """
    writer = e.writer
    e.program.unsure |= not isinstance(type_, (ir.Scalar, ir.Array)) and value.kind not in ("i8", "b1")
    if isinstance(type_, ir.Scalar):
        is_of_python = type_.dtype is None
    else:
        is_of_python = not isinstance(type_, ir.Array) and value.kind in ("i8", "b1")
    if is_of_python:
        return number_object(writer, value)
    room = e.slots(2)
    if isinstance(value, Complex):
        size = int(value.kind[1])
        for place, part in enumerate(value.parts):
            writer.line(f"store {part.type} {part.name}, ptr {writer.place(room, str(size * place))}")
    else:
        given = as_kind(writer, value, "u1") if value.kind == "b1" else value
        writer.line(f"store {given.type} {given.name}, ptr {room}")
    dtype = external(writer.module, f"adjoint_dtype_{value.kind}")
    return writer.call("adjoint_new_scalar", "ptr", [("ptr", room), ("ptr", dtype), ("ptr", "null")])


def _view(e: Emission, x: Array) -> str:
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


def as_object(e: Emission, value: Value, type_: ir.Type | None) -> Object:
    """A value as an object of Python."""
    if isinstance(value, Object):
        return value
    lock = Lock.taken(e)
    given = sharing(e, value, type_)
    lock.given_back()
    return owned(e, given)


def owned(e: Emission, given: str) -> Object:
    """The value for a reference to an object, which is its own from now on."""
    base = e.writer.op(f"call ptr @new_object(ptr %call, ptr {given})")
    e.check(e.writer.op(f"icmp eq ptr {base}, null"), MemoryError, "no memory for an object")
    return Object(base, e.owning(base))


# From Python


@dataclass(frozen=True, slots=True)
class Result:
    """What is made of an object that Python gives: a value of a kind, which for arrays may share their memory."""

    kind: str | ArrayKind | ObjectKind
    shares: bool = False


_CALL_PYTHON = """define internal ptr @call_python(ptr %callee, ptr %args, i64 %count) noinline {
entry:
  %given = call ptr @PyObject_Vectorcall(ptr %callee, ptr %args, i64 %count, ptr null)
  br label %head
head:
  %place = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %place, %count
  br i1 %more, label %body, label %done
body:
  %at = getelementptr ptr, ptr %args, i64 %place
  %arg = load ptr, ptr %at
  call void @Py_DecRef(ptr %arg)
  %next = add i64 %place, 1
  br label %head
done:
  ret ptr %given
}"""


def called(e: Emission, callback: Callback, args: list[str], lock: Lock, results: list[Result]) -> list[Value]:
    """What a function of Python gives for objects, which are given up; the lock is, too."""
    writer = e.writer
    writer.module.declare("PyObject_Vectorcall", "ptr", ("ptr", "ptr", "i64", "ptr"))
    writer.module.functions["call_python"] = _CALL_PYTHON
    room = e.slots(len(args))
    writer.put_parts(room, [("ptr", each) for each in args])
    callee = external(writer.module, callback.symbol)
    given = writer.op(f"call ptr @call_python(ptr {callee}, ptr {room}, i64 {len(args)})")
    return answered(e, given, [], lock, results)


def answered(e: Emission, given: str, args: list[str], lock: Lock, results: list[Result]) -> list[Value]:
    """What a function of Python has given, or null, for objects, which are given up; the lock is, too."""
    writer = e.writer
    for each in args:
        writer.call("Py_DecRef", "void", (("ptr", each),))
    lock.leave_if(writer.op(f"icmp eq ptr {given}, null"))
    items = [given]
    if len(results) != 1:
        items = [field(writer, "ptr", given, TUPLE_ITEMS + 8 * place) for place in range(len(results))]
    pairs = list(zip(results, items, strict=True))
    numbers = [_number(e, result.kind, item) if isinstance(result.kind, str) else None for result, item in pairs]
    if any(number is not None for number in numbers):
        raised = writer.call("PyErr_Occurred", "ptr", ())
        lock.leave_if(writer.op(f"icmp ne ptr {raised}, null"), given)
    if len(results) == 1 and (isinstance(results[0].kind, ObjectKind) or results[0].shares):
        lock.given_back()
        return [_value(e, results[0], given)]
    if None not in numbers:
        writer.call("Py_DecRef", "void", (("ptr", given),))
        lock.given_back()
        return [number for number in numbers if number is not None]
    for result, item in pairs:
        if result.shares or isinstance(result.kind, ObjectKind):
            writer.call("Py_IncRef", "void", (("ptr", item),))
    lock.given_back()
    values = [number or _value(e, result, item) for (result, item), number in zip(pairs, numbers, strict=True)]
    again = Lock.taken(e)
    writer.call("Py_DecRef", "void", (("ptr", given),))
    again.given_back()
    return values


def _value(e: Emission, result: Result, item: str) -> Value:
    match result.kind:
        case ArrayKind() as kind:
            return _shared(e, kind, item) if result.shares else _copied(e, kind, item)
        case ObjectKind():
            return owned(e, item)
    return Known(None)


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


def _shared(e: Emission, kind: ArrayKind, given: str) -> Array:
    """An array of Python's where it lies."""
    writer = e.writer
    data, extents, strides_at = (field(writer, "ptr", given, offset) for offset in (DATA, EXTENTS, STRIDES))
    shape, strides = (tuple(writer.parts_at(place, ["i64"] * kind.rank)) for place in (extents, strides_at))
    kept = owned(e, given)
    return Array(kind, kept.base, data, shape, strides, kept.owner)


# Whole numbers and truth


@rule("whole")
def whole_of(e: Emission, value: Object) -> Number:
    """The whole number that an object of Python is."""
    writer, lock = e.writer, Lock.taken(e)
    given = object_in(writer, value.base)
    index = writer.call("PyNumber_Index", "ptr", (("ptr", given),))
    writer.call("Py_DecRef", "void", (("ptr", given),))
    lock.leave_if(writer.op(f"icmp eq ptr {index}, null"))
    number = whole(writer.call("PyLong_AsLongLong", "i64", (("ptr", index),)))
    writer.call("Py_DecRef", "void", (("ptr", index),))
    lock.leave_if(writer.op(f"icmp ne ptr {writer.call('PyErr_Occurred', 'ptr', ())}, null"))
    lock.given_back()
    return number


def of_objects(usual: Any) -> Any:
    """Whether a value is true, also an object of Python."""

    def write(e: Emission, value: Value) -> Any:
        if not isinstance(value, Object):
            return usual(e, value)
        lock = Lock.taken(e)
        given = object_in(e.writer, value.base)
        found = e.writer.call("PyObject_IsTrue", "i32", (("ptr", given),))
        lock.leave_if(e.writer.op(f"icmp slt i32 {found}, 0"), given)
        e.writer.call("Py_DecRef", "void", (("ptr", given),))
        lock.given_back()
        return truth(e.writer.op(f"icmp eq i32 {found}, 1"))

    return write
