"""What is called from outside begins with: a call of its own, whose memory is freed at its end."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.native.llvm.memory.blocks import BORROWED, COUNT, HEADER, OBJECT, OPERANDS
from adjoint.native.llvm.values import TupleKind, types_of_parts
from adjoint.native.llvm.writer import Module, Writer
from adjoint.native.llvm.writing.program import RAISED, Emitted


class Entry:
    """Writes a function that is called from outside.

    Parameters
    ----------
    module
        Where it is written.
    callee
        What it calls.
    """

    def __init__(self, module: Module, callee: Emitted) -> None:
        self.writer = Writer(module)
        self.module = module
        self.callee = callee
        self.allocas: list[str] = []

    def begin(self) -> None:
        """Begins a call."""
        frame = self.room(f"[{HEADER + 8 * OPERANDS} x i8], align 64")
        self.writer.line(f"%call = getelementptr i8, ptr {frame}, i64 {HEADER}")
        self.writer.line("call void @begin_call(ptr %call)")

    def called(self, given: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Calls the function with the parts of arguments; its status, and where its results lie."""
        out = self.room(f"[{max(len(self.parts_of_results()), 1)} x i64], align 16")
        args = ", ".join(["ptr %call", f"ptr {out}", *(f"{part} {each}" for part, each in given)])
        return self.writer.op(f"call i32 @{self.callee.name}({args})"), out

    def parts_of_results(self) -> list[str]:
        """The types of the parts of what the function gives."""
        return types_of_parts(TupleKind(self.callee.results or ()))

    def branch_on(self, status: str) -> None:
        """Goes on at ``raised`` where Python has raised, at ``told`` where a check failed, else at ``worked``."""
        writer = self.writer
        writer.branch(writer.op(f"icmp ne i32 {status}, 0"), "failed", "worked", ", !prof !0")
        writer.start("failed")
        writer.line("call void @free_all(ptr %call)")
        writer.branch(writer.op(f"icmp eq i32 {status}, {RAISED}"), "raised", "told")

    def end(self, head: str) -> None:
        """Puts the function into the module; ``head``: all before its body."""
        lines = [f"define {head} {{", "entry:", *self.allocas, *self.writer.lines, "}"]
        self.module.functions[head.partition("@")[2].partition("(")[0]] = "\n".join(lines)

    def room(self, what: str) -> str:
        """Room on the stack."""
        name = self.writer.name()
        self.allocas.append(f"  {name} = alloca {what}")
        return name

    def header(self, of: str) -> str:
        """A block's header on the stack, for memory of the caller's; the object that it is of, or null."""
        base = self.writer.place(self.room(f"[{2 * HEADER} x i8], align 64"), str(HEADER))
        return self.filled_header(base, of)

    def filled_header(self, base: str, of: str) -> str:
        """A header as one of memory of the caller's."""
        self.writer.line(f"store i64 {BORROWED}, ptr {self.writer.place(base, str(COUNT))}")
        self.writer.line(f"store ptr {of}, ptr {self.writer.place(base, str(OBJECT))}")
        return base
