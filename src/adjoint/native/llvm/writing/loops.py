"""Loops of the IR as LLVM IR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.ir.walk import statements_in
from adjoint.native.llvm.values import Known, Unsupported, Value, joined, kind, parts
from adjoint.native.llvm.writer import Writer, constant, whole
from adjoint.native.llvm.writing.declared import kind_of_type
from adjoint.native.llvm.writing.emission import Learnt, Scope, is_undefined, kind_of_object
from adjoint.native.llvm.writing.statements import Frame, Statements
from adjoint.native.loops.reductions import adds_in_order
from adjoint.native.vectors.forms import is_vector_form
from adjoint.records import dataclass


class Body(Statements):
    """Writes whole functions."""

    # Loops

    def loop(self, loop: ir.Loop) -> None:
        writer = self.writer
        keys = (*loop.params, *loop.targets[len(loop.params) :])
        pairs = list(zip(loop.params, loop.inits, strict=True))
        inits = self.with_lessons(lambda: [self._begun(key, atom) for key, atom in pairs])
        for value in inits:
            self.retain_all(value)
        steps = None if loop.over is None else self._steps(loop.over)
        before = writer.label
        header, body, latch, end = (writer.new_label(hint) for hint in ("head", "body", "latch", "end"))
        writer.jump(header)
        writer.start(header)
        frame = Frame(len(self.scopes), {"continue": loop.params, "exit": keys}, {"continue": latch, "exit": end})
        counter = writer.name()
        phis, carried = self._carried(inits, counter, steps)
        self.frames.append(frame)
        self.scopes.append(Scope())
        params = [
            self.assembled(kind(value), list(found), self.owning) if isinstance(found, list) else found
            for found, value in zip(carried, inits, strict=True)
        ]
        if steps is not None:
            frame.handed["exit"] = [(header, [*params, *[Known(ir.UNDEFINED)] * (len(keys) - len(params))], 0)]
            writer.branch(steps.condition(writer, counter), body, end)
        else:
            writer.jump(body)
        writer.start(body)
        for param, value in zip(loop.params, params, strict=True):
            self.bind(param, value)
        if loop.index is not None and steps is not None:
            self.bind(loop.index, whole(steps.index(writer, counter)))
        self.block(loop.body)
        self.scopes.pop()
        self.frames.pop()
        following: list[str] = []
        if "continue" in frame.handed:
            writer.start(latch)
            following = self._following(loop.params, inits, frame.handed["continue"])
            if steps is not None:
                following.insert(0, steps.following(writer, counter))
            writer.jump_back(header, one_by_one=adds_in_order(loop) and not _has_vector_forms(loop))
        for place, phi in enumerate(phis):
            back = f", [ {following[place]}, %{latch} ]" if following else ""
            writer.lines[phi.line] = f"  {phi.name} = phi {phi.type} [ {phi.first}, %{before} ]{back}"
        number = self._meet(frame, "exit", loop.targets)
        if loop.exit is not None:
            self.bind(loop.exit, constant(0) if number is None else whole(number))

    def _carried(
        self, inits: Sequence[Value], counter: str, steps: _Steps | None
    ) -> tuple[list[_Phi], list[Value | list[str]]]:
        """Leaves lines for the phi functions of a loop; what it carries: the names of parts, or what is known."""
        lines = self.writer.lines
        phis: list[_Phi] = []

        def phi(name: str, type_: str, first: str) -> None:
            phis.append(_Phi(len(lines), name, type_, first))
            lines.append("")

        if steps is not None:
            phi(counter, "i64", steps.first)
        carried: list[Value | list[str]] = []
        for value in inits:
            if isinstance(value, Known) and value.value is not None:
                carried.append(value)
                continue
            names = []
            for part, first in parts(value):
                names.append(self.writer.name())
                phi(names[-1], part, first)
            carried.append(names)
        return phis, carried

    def _following(
        self, params: Sequence[ir.Var], inits: Sequence[Value], ways: Sequence[tuple[str, list[Value], int]]
    ) -> list[str]:
        """The parts of what iterations hand to the next one."""
        following: list[str] = []
        for place, (param, first) in enumerate(zip(params, inits, strict=True)):
            handed = [values[place] for _, values, _ in ways]
            try:
                if is_undefined(first):
                    self._learn_from(param, handed)
                    continue
                found = self._agreed(param, [first, *handed])
            except Learnt:  # the next sweep carries another kind, and this one learns what else it can
                following += ["poison" for _ in parts(first)]
                continue
            if not isinstance(found, Known):
                following += self.joined_parts(found, [(label, values[place]) for label, values, _ in ways])
        return following

    def _begun(self, param: ir.Var, atom: ir.Atom) -> Value:
        """What a loop carries at first; what is not there yet as it is, where nothing tells the kind."""
        value = self.value(atom)
        if not is_undefined(value):
            return self._wanted(param, atom)
        try:
            found = self.learnt.get(param) or kind_of_type(param.type)
        except Unsupported:
            return value
        return self.converted(value, found)

    def _learn_from(self, param: ir.Var, handed: Sequence[Value]) -> None:
        """Starts again with the kind of what iterations hand to the next one, if they do."""
        kinds = [kind_of_object(value) for value in handed if not is_undefined(value)]
        if kinds:
            self.learn(param, joined(kinds))

    def _steps(self, over: Any) -> _Steps:
        if not isinstance(over, ir.Range):
            raise Unsupported("a loop over what is no range")
        writer = self.writer
        start, stop, step = (self.extent(self.value(atom)) for atom in (over.start, over.stop, over.step))
        if step in ("1", "-1"):
            forwards = (step == "1") != over.backward
            if not over.backward:
                return _Steps(start, stop, "slt" if forwards else "sgt", "1" if forwards else "-1")
            last = writer.sub(stop, step)
            return _Steps(last, start, "sle" if forwards else "sge", "1" if forwards else "-1")
        if step == "0" or not step.lstrip("-").isdigit():
            self.check(writer.compare("eq", step, "0"), ValueError, "range() arg 3 must not be zero")
        grows = writer.compare("sgt", step, "0")
        distance = writer.select(grows, "i64", writer.sub(stop, start), writer.sub(start, stop))
        size = writer.select(grows, "i64", step, writer.sub("0", step))
        count = writer.op(f"sdiv i64 {writer.add(distance, writer.sub(size, '1'))}, {size}")
        count = writer.most(count, "0")
        if not over.backward:
            return _Steps("0", count, "slt", "1", start, step)
        last = writer.add(start, writer.mul(writer.sub(count, "1"), step))
        return _Steps("0", count, "slt", "1", last, writer.sub("0", step))


def _has_vector_forms(loop: ir.Loop) -> bool:
    """Whether a loop computes functions that take far less time by vectors, as little else beside a sum in order."""
    return any(isinstance(part, ir.Call) and is_vector_form(part.callee) for part in statements_in(loop.body))


@dataclass(frozen=True, slots=True)
class _Phi:
    """A phi function at the head of a loop: its line, its name and type, and the value in the first iteration."""

    line: int
    name: str
    type: str
    first: str


@dataclass(frozen=True, slots=True)
class _Steps:
    """How a loop counts: from ``first`` by ``step`` as long as the counter and ``bound`` are in an order."""

    first: str
    bound: str
    order: str
    step: str
    start: str | None = None
    factor: str = "1"

    def condition(self, writer: Writer, counter: str) -> str:
        return writer.compare(self.order, counter, self.bound)

    def index(self, writer: Writer, counter: str) -> str:
        """What the counter stands for."""
        return counter if self.start is None else writer.add(self.start, writer.mul(counter, self.factor))

    def following(self, writer: Writer, counter: str) -> str:
        return writer.op(f"add nsw i64 {counter}, {self.step}")
