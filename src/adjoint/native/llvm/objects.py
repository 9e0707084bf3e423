"""Objects of Python, made and read by machine code through Python's C interface and NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint.native.llvm.memory.blocks import OBJECT
from adjoint.native.llvm.values import Complex, Number
from adjoint.native.llvm.writer import Module, Writer, as_kind

DATA, RANK, EXTENTS, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64
"""Where arrays keep what (``PyArrayObject_fields``)."""
NUMBERS_HELD = 24
"""Where dtypes keep their kind, their byte order and their number: that of a pickle is another object of the same."""
BY_ROWS, ALIGNED, WRITEABLE = 1, 0x100, 0x400


def external(module: Module, name: str) -> str:
    """Something of Python's or of the linker's, by its address."""
    module.declarations[name] = f"@{name} = external global i8"
    return f"@{name}"


def field(writer: Writer, kind: str, base: str, offset: int) -> str:
    """What lies some bytes on."""
    return writer.op(f"load {kind}, ptr {writer.place(base, str(offset))}")


def number_object(writer: Writer, value: Number | Complex) -> str:
    """A number as one of Python's."""
    if isinstance(value, Complex):
        doubles = [("double", as_kind(writer, each, "f8").name) for each in value.parts]
        return writer.call("PyComplex_FromDoubles", "ptr", doubles)
    if value.kind[0] == "f":
        return writer.call("PyFloat_FromDouble", "ptr", [("double", as_kind(writer, value, "f8").name)])
    made = "PyBool_FromLong" if value.kind == "b1" else "PyLong_FromLongLong"
    return writer.call(made, "ptr", [("i64", as_kind(writer, value, "i8").name)])


def nothing(writer: Writer) -> str:
    """None."""
    found = external(writer.module, "_Py_NoneStruct")
    writer.call("Py_IncRef", "void", [("ptr", found)])
    return found


def object_in(writer: Writer, block: str) -> str:
    """A new reference to the object that a block refers to; to None where it refers to none."""
    found = field(writer, "ptr", block, OBJECT)
    is_none = writer.op(f"icmp eq ptr {found}, null")
    given = writer.select(is_none, "ptr", external(writer.module, "_Py_NoneStruct"), found)
    writer.call("Py_IncRef", "void", [("ptr", given)])
    return given


def tuple_object(writer: Writer, items: Sequence[str]) -> str:
    """A tuple of objects, which are its own from now on."""
    made = writer.call("PyTuple_New", "ptr", [("i64", str(len(items)))])
    for place, item in enumerate(items):
        writer.call("PyTuple_SetItem", "i32", [("ptr", made), ("i64", str(place)), ("ptr", item)])
    return made


def list_object(writer: Writer, block: str, types: Sequence[str], item: Callable[[list[str]], str]) -> str:
    """A list for one of machine code; ``item`` makes an object of the parts of an item, which are of these types."""
    size, items = field(writer, "i64", block, 0), field(writer, "ptr", block, 16)
    made = writer.call("PyList_New", "ptr", [("i64", size)])

    def one(place: str) -> None:
        parts = writer.parts_at(writer.place(items, writer.mul(place, str(8 * len(types)))), types)
        writer.call("PyList_SetItem", "i32", [("ptr", made), ("i64", place), ("ptr", item(parts))])

    writer.each(size, one)
    return made
