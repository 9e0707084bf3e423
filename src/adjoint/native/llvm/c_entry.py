"""The function that other machine code calls: ``int32 f(int64 *words, int64 *results)``.

Arguments and results lie one behind the other in words: a number in one, a complex one in two; of an array the address
of its first element, its extents and its strides in bytes; before those of a result the block that keeps its memory
alive, or zero where that is an argument's. Called with such a block and no room for results, it gives the block up.
The status is zero, the number of what is raised, or -1 where Python raised: that exception is kept for
:func:`adjoint.native.llvm.callbacks.raise_kept`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adjoint.native.llvm.entry import Entry
from adjoint.native.llvm.memory.blocks import BORROWED, COUNT
from adjoint.native.llvm.objects import external
from adjoint.native.llvm.values import (
    ArrayKind,
    Kind,
    Known,
    NothingKind,
    TupleKind,
    Unsupported,
    is_complex,
    types_of_parts,
    width_of,
)
from adjoint.native.llvm.writer import Module
from adjoint.native.llvm.writing.program import Emitted


def c_entry(
    module: Module, name: str, callee: Emitted, kinds: Sequence[Kind | Known], side_by_side: bool = False
) -> None:
    """Writes the function that other machine code calls, as :func:`adjoint.native.llvm.boxing.wrapper` does."""
    _FromMachineCode(module, callee).write(name, kinds)


def words_of(found: Kind) -> list[str]:
    """The types of the words of a result: those of numbers, and ``i64`` for addresses, extents and strides."""
    match found:
        case ArrayKind(rank=rank):
            return ["i64"] * (2 + 2 * rank)
        case TupleKind(items=items):
            return [word for item in items for word in words_of(item)]
    return types_of_parts(found)


class _FromMachineCode(Entry):
    def __init__(self, module: Module, callee: Emitted) -> None:
        super().__init__(module, callee)
        self.place = 0

    def write(self, name: str, kinds: Sequence[Kind | Known]) -> None:
        writer = self.writer
        writer.branch(writer.op("icmp eq ptr %results, null"), "give_up", "begin")
        writer.start("give_up")
        writer.line("call void @release(ptr %words)")
        writer.line("ret i32 0")
        writer.start("begin")
        self.begin()
        status, out = self.called([part for kind in kinds for part in self._argument(kind)])
        self.branch_on(status)
        writer.start("raised")
        self._keep_exception()
        writer.jump("told")
        writer.start("told")
        writer.line(f"ret i32 {status}")
        writer.start("worked")
        names = writer.parts_at(out, self.parts_of_results())
        writer.put_parts("%results", self._result(TupleKind(self.callee.results or ()), names))
        writer.line("call void @free_all(ptr %call)")
        writer.line("ret i32 0")
        self.end(f"i32 @{name}(ptr %words, ptr %results)")

    def _word(self, type_: str) -> str:
        """The next word of the arguments."""
        (found,) = self.writer.parts_at(self.writer.place("%words", str(8 * self.place)), [type_])
        self.place += 1
        return found

    def _argument(self, kind: Kind | Known) -> Iterator[tuple[str, str]]:
        match kind:
            case Known() | NothingKind():
                return
            case str():
                for part in types_of_parts(kind):
                    yield part, self._word(part)
            case ArrayKind(rank=rank, by_rows=by_rows):
                base, data = self.header("null"), self._word("ptr")
                sizes = [self._word("i64") for _ in range(2 * rank)]
                yield "ptr", base
                yield "ptr", data
                yield from (("i64", size) for size in sizes[: rank if by_rows else 2 * rank])
            case TupleKind(items=items):
                for item in items:
                    yield from self._argument(item)
            case _:
                raise Unsupported("such arguments from other machine code")

    def _result(self, kind: Kind, names: list[str]) -> list[tuple[str, str]]:
        writer = self.writer
        match kind:
            case NothingKind():
                return []
            case str() if is_complex(kind) or not width_of(kind):
                return [(part, names.pop(0)) for part in types_of_parts(kind)]
            case ArrayKind(element=element, rank=rank) if not width_of(element):
                base, data = names.pop(0), names.pop(0)
                shape = [names.pop(0) for _ in range(rank)]
                if kind.by_rows:
                    strides = list(writer.strides_by_rows(element, shape))
                else:
                    strides = [names.pop(0) for _ in range(rank)]
                writer.module.functions["taken_out"] = _TAKEN_OUT
                kept = writer.op(f"call ptr @taken_out(ptr {base})")
                return [("ptr", kept), ("ptr", data), *(("i64", word) for word in (*shape, *strides))]
            case TupleKind(items=items, numbers=None):
                return [part for item in items for part in self._result(item, names)]
        raise Unsupported("such results for other machine code")

    def _keep_exception(self) -> None:
        """Hands the exception of Python to who raises it again."""
        writer = self.writer
        lock = writer.call("PyGILState_Ensure", "i32", ())
        rooms = [self.room("ptr") for _ in range(3)]
        writer.call("PyErr_Fetch", "void", [("ptr", room) for room in rooms])
        writer.call("PyErr_NormalizeException", "void", [("ptr", room) for room in rooms])
        value = writer.op(f"load ptr, ptr {rooms[1]}")
        given = self.room("[1 x ptr]")
        writer.put_parts(given, [("ptr", value)])
        keep = external(writer.module, "adjoint_keep_exception")
        args = ("ptr", keep), ("ptr", given), ("i64", "1"), ("ptr", "null")
        writer.call("Py_DecRef", "void", [("ptr", writer.call("PyObject_Vectorcall", "ptr", args))])
        for room in rooms:
            writer.call("Py_DecRef", "void", [("ptr", writer.op(f"load ptr, ptr {room}"))])
        writer.call("PyGILState_Release", "void", (("i32", lock),))


_TAKEN_OUT = f"""define internal ptr @taken_out(ptr %block) {{
  %count_place = getelementptr i8, ptr %block, i64 {COUNT}
  %count = load i64, ptr %count_place
  %is_argument = icmp uge i64 %count, {BORROWED // 2}
  br i1 %is_argument, label %none, label %leave
none:
  ret ptr null
leave:
  call void @leave_call(ptr %block)
  ret ptr %block
}}"""
