"""The function that Python calls: arguments are taken apart, results are made, by NumPy's and Python's C interface.

Arrays are read where NumPy keeps what describes them. An argument that is not what the machine code was made for raises
a TypeError before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.native.llvm.array_objects import array_object
from adjoint.native.llvm.entry import Entry
from adjoint.native.llvm.memory.blocks import DESTRUCTOR
from adjoint.native.llvm.objects import (
    ALIGNED,
    BY_ROWS,
    DATA,
    DTYPE,
    EXTENTS,
    FLAGS,
    NUMBERS_HELD,
    RANK,
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
from adjoint.native.llvm.rules.containers.lists import declare_destructor, reference_places
from adjoint.native.llvm.values import (
    LLVM_TYPES,
    TUPLE_ITEMS,
    ArrayKind,
    Complex,
    Kind,
    Known,
    ListKind,
    NothingKind,
    Number,
    ObjectKind,
    TakenAsObject,
    TupleKind,
    Unsupported,
    is_complex,
    part_of,
    size_of,
    types_of_parts,
    width_of,
)
from adjoint.native.llvm.writer import Module
from adjoint.native.llvm.writing.program import Emitted


def wrapper(
    module: Module, name: str, callee: Emitted, kinds: Sequence[Kind | Known], side_by_side: bool = False
) -> None:
    """Writes the function that Python calls.

    Parameters
    ----------
    module
        Where it is written.
    name
        Its name.
    callee
        What it calls.
    kinds
        The kinds of the arguments; what the compiler knows of one.
    side_by_side
        Whether other threads may run Python meanwhile.
    """
    _Wrapper(module, callee).write(name, kinds, side_by_side)


class _Wrapper(Entry):
    def write(self, name: str, kinds: Sequence[Kind | Known], side_by_side: bool) -> None:
        writer = self.writer
        self.begin()
        given = [part for place, kind in enumerate(kinds) for part in self._argument(kind, place)]
        state = self._python("PyEval_SaveThread", "ptr") if side_by_side else None
        status, out = self.called(given)
        if state is not None:
            self._python("PyEval_RestoreThread", "void", ("ptr", state))
        self.branch_on(status)
        writer.start("told")
        self._fail(writer.op(f"zext i32 {status} to i64"))
        writer.jump("raised")
        writer.start("raised")
        writer.line("ret ptr null")
        writer.start("worked")
        names = writer.parts_at(out, self.parts_of_results())
        results = self.callee.results or ()
        result = self._boxed(results[0] if len(results) == 1 else TupleKind(results), names)
        writer.line("call void @free_all(ptr %call)")
        writer.line(f"ret ptr {result}")
        writer.start("mismatch")
        writer.line("call void @free_all(ptr %call)")
        self._fail("0")
        writer.line("ret ptr null")
        self.end(f"ptr @{name}(ptr %self, ptr %args, i64 %count)")

    def _python(self, name: str, result: str, *args: tuple[str, str]) -> str:
        return self.writer.call(name, result, args)

    def _fail(self, number: str) -> None:
        """Has an exception raised, with what the call says of it: for 0, that the arguments are others."""
        given = [number, self.writer.op("ptrtoint ptr %call to i64")]
        told = [self._python("PyLong_FromLongLong", "ptr", ("i64", each)) for each in given]
        room = self.room("[2 x ptr]")
        self.writer.put_parts(room, [("ptr", each) for each in told])
        args = ("ptr", "%self"), ("ptr", room), ("i64", "2"), ("ptr", "null")
        self._python("PyObject_Vectorcall", "ptr", *args)
        for each in told:
            self._python("Py_DecRef", "void", ("ptr", each))

    def _external(self, name: str) -> str:
        return external(self.module, name)

    def _require(self, condition: str) -> None:
        good = self.writer.new_label("good")
        self.writer.branch(condition, good, "mismatch")
        self.writer.start(good)

    def _field(self, kind: str, base: str, offset: int) -> str:
        return field(self.writer, kind, base, offset)

    # Arguments

    def _argument(self, kind: Kind | Known, place: int) -> list[tuple[str, str]]:
        if isinstance(kind, (Known, NothingKind)):
            return []
        return self._unboxed(kind, self._field("ptr", "%args", 8 * place))

    def _unboxed(self, kind: Kind, given: str, in_list: bool = False) -> list[tuple[str, str]]:
        """The parts of an object; of an array in a list, the header is a block."""
        match kind:
            case NothingKind():
                self._require(self._is(given, "_Py_NoneStruct"))
                return []
            case "f4":
                self._require(self._has_type(given, "adjoint_float32"))
                return [("float", self._field("float", given, 16))]
            case "f8":
                return [("double", self._number(given, "PyFloat_Type", "adjoint_float64", 16))]
            case "c8":
                real = self._number(given, "PyComplex_Type", "adjoint_complex128", 16)
                return [("double", real), ("double", self._field("double", given, 24))]
            case "c4":
                self._require(self._has_type(given, "adjoint_complex64"))
                return [("float", self._field("float", given, place)) for place in (16, 20)]
            case "i8":
                return [("i64", self._whole(given))]
            case "b1":
                is_true = self._is(given, "_Py_TrueStruct")
                self._require(self.writer.op(f"or i1 {is_true}, {self._is(given, '_Py_FalseStruct')}"))
                return [("i1", is_true)]
            case ArrayKind():
                return self._array(kind, given, in_list)
            case TupleKind(items=items):
                self._require_tuple(given)
                size = self._field("i64", given, 16)
                self._require(self.writer.op(f"icmp eq i64 {size}, {len(items)}"))
                fields = [self._field("ptr", given, TUPLE_ITEMS + 8 * place) for place in range(len(items))]
                pairs = zip(items, fields, strict=True)
                return [part for item, one in pairs for part in self._unboxed(item, one, in_list)]
            case ListKind(element=element) if element is not None:
                return self._list(element, given)
            case ObjectKind():
                return [("ptr", self._header(given, in_list))]
        raise Unsupported("arguments of this kind")

    def _require_tuple(self, given: str) -> None:
        """Named tuples are tuples; of which class they are, who calls has looked at."""
        writer = self.writer
        other, good, bad = (writer.new_label(hint) for hint in ("other", "tuple", "none"))
        writer.branch(self._has_type(given, "PyTuple_Type"), good, other)
        writer.start(other)
        size = self._python("PyTuple_Size", "i64", ("ptr", given))
        writer.branch(writer.op(f"icmp slt i64 {size}, 0"), bad, good)
        writer.start(bad)
        self._python("PyErr_Clear", "void")
        writer.jump("mismatch")
        writer.start(good)

    def _is(self, given: str, name: str) -> str:
        return self.writer.op(f"icmp eq ptr {given}, {self._external(name)}")

    def _number(self, given: str, python: str, numpy: str, offset: int) -> str:
        """A double in a number of one of two types."""
        of_python, of_numpy = (self._has_type(given, name) for name in (python, numpy))
        self._require(self.writer.op(f"or i1 {of_python}, {of_numpy}"))
        return self._field("double", given, offset)

    def _whole(self, given: str) -> str:
        writer = self.writer
        found = self._field("ptr", given, 8)
        is_int = writer.op(f"icmp eq ptr {found}, {self._external('PyLong_Type')}")
        is_word = writer.op(f"icmp eq ptr {found}, {self._external('adjoint_int64')}")
        self._require(writer.op(f"or i1 {is_int}, {is_word}"))
        python, word, end = (writer.new_label(hint) for hint in ("python", "word", "end"))
        writer.branch(is_int, python, word)
        writer.start(python)
        value = self._python("PyLong_AsLongLong", "i64", ("ptr", given))
        raised = self._python("PyErr_Occurred", "ptr")
        is_raised = writer.op(f"icmp ne ptr {raised}, null")
        too_large = writer.new_label("large")
        writer.branch(is_raised, too_large, end)
        writer.start(too_large)
        self._python("PyErr_Clear", "void")
        writer.jump("mismatch")
        writer.start(word)
        scalar = self._field("i64", given, 16)
        writer.jump(end)
        writer.start(end)
        return writer.phi("i64", [(value, python), (scalar, word)])

    def _list(self, element: Kind, given: str) -> list[tuple[str, str]]:
        writer = self.writer
        self._require(self._has_type(given, "PyList_Type"))
        size, items = self._field("i64", given, 16), self._field("ptr", given, 24)
        block = writer.op("call ptr @new_list(ptr %call)")
        self._require(writer.op(f"icmp ne ptr {block}, null"))
        name = declare_destructor(self.module, element)
        writer.line(f"store ptr @{name}, ptr {writer.place(block, str(DESTRUCTOR))}")

        def one(place: str) -> None:
            item = self._field("ptr", writer.place(items, writer.mul(place, "8")), 0)
            found = self._unboxed(element, item, in_list=True)
            end = writer.op(f"call ptr @list_end(ptr {block}, i64 {8 * len(found)})")
            self._require(writer.op(f"icmp ne ptr {end}, null"))
            writer.put_parts(end, found)

        self.writer.each(size, one)
        return [("ptr", block)]

    def _array(self, kind: ArrayKind, given: str, in_list: bool) -> list[tuple[str, str]]:
        writer = self.writer
        self._require(self._has_type(given, "adjoint_ndarray"))
        dtypes = self._field("ptr", given, DTYPE), self._external(f"adjoint_dtype_{kind.element}")
        found, known = (self._field("i64", dtype, NUMBERS_HELD) for dtype in dtypes)
        is_dtype = writer.op(f"icmp eq i64 {found}, {known}")
        rank = writer.op(f"icmp eq i32 {self._field('i32', given, RANK)}, {kind.rank}")
        wanted = ALIGNED | (BY_ROWS if kind.by_rows else 0) | (0 if kind.read_only else WRITEABLE)
        flags = writer.op(f"and i32 {self._field('i32', given, FLAGS)}, {wanted}")
        fits = writer.op(f"icmp eq i32 {flags}, {wanted}")
        self._require(writer.op(f"and i1 {is_dtype}, {writer.op(f'and i1 {rank}, {fits}')}"))
        base = self._header(given, in_list)
        extents, strides = self._field("ptr", given, EXTENTS), self._field("ptr", given, STRIDES)
        names = writer.parts_at(extents, ["i64"] * kind.rank)
        names += [] if kind.by_rows else writer.parts_at(strides, ["i64"] * kind.rank)
        return [("ptr", base), ("ptr", self._field("ptr", given, DATA)), *(("i64", name) for name in names)]

    def _header(self, given: str, in_list: bool) -> str:
        """What refers to an object of the caller's: of one in a list, a block."""
        if not in_list:
            return self.header(given)
        base = self.writer.op("call ptr @new_block(ptr %call, i64 0)")
        self._require(self.writer.op(f"icmp ne ptr {base}, null"))
        return self.filled_header(base, given)

    def _has_type(self, given: str, name: str) -> str:
        return self.writer.op(f"icmp eq ptr {self._field('ptr', given, 8)}, {self._external(name)}")

    # Results

    def _boxed(self, kind: Kind, names: list[str]) -> str:
        writer = self.writer
        match kind:
            case "f8" | "f4" | "b1" | "i8":
                return number_object(writer, Number(kind, names.pop(0)))
            case "c8" | "c4":
                return number_object(writer, Complex(kind, names.pop(0), names.pop(0)))
            case ArrayKind(element=element) if not width_of(element):
                base, data = names.pop(0), names.pop(0)
                shape = [names.pop(0) for _ in range(kind.rank)]
                strides = None if kind.by_rows else [names.pop(0) for _ in range(kind.rank)]
                room = self.room(f"[{max(2 * kind.rank, 1)} x i64]")
                return array_object(writer, kind, (base, data), shape, strides, room)
            case ObjectKind():
                return object_in(writer, names.pop(0))
            case TupleKind(items=items, numbers=numbers):
                boxed = [
                    self._boxed_number(item, names) if place in (numbers or ()) else self._boxed(item, names)
                    for place, item in enumerate(items)
                ]
                return tuple_object(writer, boxed)  # who takes it makes of a list what the caller is given
            case NothingKind():
                return nothing(writer)
            case ListKind(element=element, read_only=False) if element is not None:
                return self._boxed_list(element, names.pop(0))
            case ListKind(read_only=True, key=place):
                raise TakenAsObject(place)
        raise Unsupported("results of this kind")

    def _boxed_number(self, kind: Kind, names: list[str]) -> str:
        """The number in an array of one."""
        assert isinstance(kind, ArrayKind)
        base, data, *_ = [names.pop(0) for _ in types_of_parts(kind)]
        part = part_of(kind.element)
        first, *rest = [
            self._field(LLVM_TYPES[part], data, place * size_of(part)) for place in range(1 + is_complex(kind.element))
        ]
        found = Complex(kind.element, first, *rest) if rest else Number(kind.element, first)
        self.writer.line(f"call void @release(ptr {base})")
        return number_object(self.writer, found)

    def _boxed_list(self, element: Kind, block: str) -> str:
        def item(names: list[str]) -> str:
            for place in reference_places(element):
                self.writer.line(f"call void @retain(ptr {names[place]})")
            return self._boxed(element, names)

        made = list_object(self.writer, block, types_of_parts(element), item)
        self.writer.line(f"call void @release(ptr {block})")  # it may have arrays that are Python's from now on
        return made
