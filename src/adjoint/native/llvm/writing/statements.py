"""Statements of the IR as LLVM IR: blocks, calls, branches, and what terminators hand out."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.known_effects import UNKNOWN
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import targets_of
from adjoint.native.costs import LONGEST_FUNCTION
from adjoint.native.llvm.rules.table import applied
from adjoint.native.llvm.values import (
    OBJECT,
    Array,
    Complex,
    Kind,
    Known,
    LeftToPython,
    List,
    ListKind,
    Number,
    Object,
    StructKind,
    Tuple,
    TupleKind,
    Unsupported,
    Value,
    joined,
    kind,
    kinds_in,
    parts,
    references,
    types_of_parts,
)
from adjoint.native.llvm.writing.declared import declared_kind, kind_of_type
from adjoint.native.llvm.writing.emission import (
    Emission,
    Guard,
    Learnt,
    Scope,
    is_of_python,
    is_same_known,
    is_undefined,
)
from adjoint.native.llvm.writing.frozen_loads import frozen_loads
from adjoint.native.llvm.writing.last_uses import last_uses, variables_read
from adjoint.native.llvm.writing.outlining import Cut, Long
from adjoint.records import dataclass, field
from adjoint.runtime import display
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.tangents import follow_view

if TYPE_CHECKING:
    from adjoint.native.llvm.writing.program import Program


_DECIDED_AS_THEY_RUN = (follow_view, unbroadcast)
"""Functions that give an argument itself or a new array, as its shape is when they run: their rules do the same."""


@dataclass(eq=False, slots=True)
class Frame:
    """Where terminators lead: what they hand out, by the block that does, for each place that one can go to."""

    depth: int
    keys: dict[str, tuple[Any, ...]]
    labels: dict[str, str]
    handed: dict[str, list[tuple[str, list[Value], int]]] = field(default_factory=dict)


class Statements(Emission):
    """Writes all but loops."""

    MAIN = "main"
    """The name of the function that Python's wrapper calls."""

    def __init__(self, program: Program, learnt: dict[Any, Kind]) -> None:
        super().__init__(program, learnt)
        self.frames: list[Frame] = []
        self.name = ""
        self.frozen_loads: Set[ir.Var] = frozenset()
        self._cuts: list[Cut] = []
        self._blocks = 0

    def mark(self) -> tuple[Any, ...]:
        return (*super().mark(), len(self._cuts))

    def back_to(self, mark: tuple[Any, ...]) -> None:
        *rest, cuts = mark
        super().back_to(tuple(rest))
        del self._cuts[cuts:]

    def function(self, function: ir.Function, name: str, kinds: Sequence[Kind | Any]) -> str:
        """The text of a function whose arguments are of these kinds."""
        writer, self.name = self.writer, name
        scope = Scope()
        self.scopes.append(scope)
        params: list[tuple[str, str]] = []
        for param, found in zip(function.params, kinds, strict=True):
            if isinstance(found, Known):
                self.env[param] = found
                continue
            names = [(part, writer.name()) for part in types_of_parts(found)]
            params += names
            self.env[param] = self.assembled(found, [each for _, each in names], None)
        self.frames.append(Frame(0, {"return": ()}, {}))
        self.frozen_loads = frozen_loads(function, name != self.MAIN)
        self.block(function.body)
        text = ", ".join(["ptr noalias %call", "ptr noalias %out", *(f"{part} {each}" for part, each in params)])
        # inlined into what Python calls, arrays of the caller's might lie anywhere, also in memory that is new here
        inlined = " noinline" if name == self.MAIN else ""
        head = f"define internal i32 @{name}({text}){inlined} {{"
        if len(writer.lines) > LONGEST_FUNCTION:
            self.program.long[name] = Long(head, self.allocas, writer.lines, self._cuts)
        return "\n".join([head, "entry:", *self.allocas, *writer.lines, "}"])

    # Blocks

    def block(self, block: ir.Block) -> None:
        """Writes the statements and the terminator, in a scope that is there."""
        scope = self.scopes[-1]
        scope.last = last_uses(block)
        raised = _made_for_the_end(block)
        if raised is not None:
            scope.last |= dict.fromkeys(variables_read(raised), len(block.statements))
        number = self._blocks = self._blocks + 1
        for place, statement in enumerate(block.statements):
            self._cut(number)
            self.program.require_one_kind_of_numbers()
            try:
                self.statement(statement)
            except Unsupported as reason:
                reason.span = reason.span or getattr(statement, "span", None)
                raise
            self._give_up(scope, place)
        self._cut(number)
        if isinstance(block.terminator, ir.Raise):
            self._raise(block.terminator, raised)
        else:
            self.terminator(block.terminator)

    def _cut(self, block: int) -> None:
        """Notes that a statement of a block begins here, or its last one ends."""
        self._cuts.append(Cut(len(self.writer.lines), self.writer.label, block))

    def _inner(self, block: ir.Block) -> None:
        self.scopes.append(Scope())
        self.block(block)
        self.scopes.pop()

    def _give_up(self, scope: Scope, place: int) -> None:
        """Releases what no statement behind this place needs."""
        for owner in scope.ended(place):
            del scope.owned[owner]
            self.release(owner.base)

    def statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.If():
                self._if(statement)
            case ir.Loop():
                self.loop(statement)
            case ir.Guarded():
                self._guarded(statement)
            case _:
                try:
                    self.with_lessons(lambda: self._simple(statement))
                except Learnt:
                    if targets_of(statement):
                        raise

    def _simple(self, statement: ir.Statement) -> None:
        """Writes a statement without blocks."""
        self._made = statement, 0
        match statement:
            case ir.Call():
                self._call(statement)
            case ir.Load(target=target, base=base, key=key):
                given = self.value(base)
                if isinstance(given, List) and given.kind.element is None:
                    self._learn_item(given.kind, target)
                write = functools.partial(self.program.written("load"), self, given, key)
                found = self._else_by_python(write, statement)
                self.bind(target, self._frozen(found) if target in self.frozen_loads else found)
            case ir.Store(base=base, key=key, value=value, mode=mode):
                put = functools.partial(self.program.written("store"), self, self.value(base), key)
                self._else_by_python(lambda: put(self.value(value), mode), statement)

    def _frozen(self, value: Value) -> Value:
        """A number that stays as it was loaded."""
        if not isinstance(value, (Number, Complex)):
            return value
        names = [self.writer.op(f"freeze {part} {name}") for part, name in parts(value)]
        return self.assembled(value.kind, names, None)

    def _learn_item(self, found: ListKind, target: ir.Var) -> None:
        """Starts again with what a list holds on which nothing was put before it is read."""
        if found.read_only:
            return
        try:
            item: Kind = kind_of_type(target.type)
        except Unsupported:
            item = OBJECT
        self.learn(("list", found.key), OBJECT if item == OBJECT else ListKind(item, key=found.key))

    def _call(self, call: ir.Call) -> None:
        found = self._given_by(call)
        if len(call.targets) == 1:
            self.bind(call.targets[0], found)
        elif call.targets:
            items = found.items if isinstance(found, Tuple) else ()
            if len(items) != len(call.targets):
                raise Unsupported("a call that gives something else")
            for target, item in zip(call.targets, items, strict=True):
                self.bind(target, item)

    def _given_by(self, call: ir.Call) -> Value:
        """What a call gives."""
        callee = call.callee.value if isinstance(call.callee, ir.Const) else call.callee
        args = [self.value(arg) for arg in call.args]
        if isinstance(callee, ir.Definition) and callee.function is not None:
            return self.called(callee.function, callee, args, call.targets)
        if isinstance(callee, ir.Function):
            return self.called(callee, callee, args, call.targets)
        named = {name: self.value(value) for name, value in call.kwargs}
        found = self._else_by_python(lambda: self._as_told(call, args, self._by_rule(callee, args, named)), call)
        return Known(None) if found is None else Tuple(tuple(found)) if isinstance(found, list) else found

    def _by_rule(self, callee: Any, args: Sequence[Value], named: Mapping[str, Value]) -> Any:
        rule = self.program.calls(callee)
        if rule is None:
            raise Unsupported(f"a call of {getattr(callee, '__qualname__', callee)}")
        return applied(callee, rule, self, *args, **named)

    def _as_told(self, call: ir.Call, args: Sequence[Value], found: Any) -> Any:
        """What a rule gives; no form where that is not what the IR says of it.

        A rule that knows less than its function (of an option, of a view) is noticed here, and never wrong.
        """
        (target,) = call.targets if len(call.targets) == 1 else (None,)
        if target is None or not isinstance(target.type, (ir.Array, ir.Scalar)) or isinstance(found, Object):
            return found
        rank = found.kind.rank if isinstance(found, Array) else 0 if isinstance(found, (Number, Complex)) else None
        announced = ir.rank_of(target.type)
        if rank is None or (announced is not None and rank != announced):
            raise Unsupported("a value of another rank than was announced")
        if isinstance(found, Array) and ir.is_written_array(target.type):
            self._require_sharing(call, args, found)
        return found

    def _require_sharing(self, call: ir.Call, args: Sequence[Value], found: Array) -> None:
        if any(call.callee is each for each in _DECIDED_AS_THEY_RUN):
            return
        facts = effects_of(call)
        given = {arg.base for arg in args if isinstance(arg, Array)}
        if facts is not UNKNOWN and (found.base in given) != (facts.view_of is not None):
            raise Unsupported("a copy that is a view where memory is written, or a view that is a copy")

    def _else_by_python(self, write: Callable[[], Any], statement: ir.Call | ir.Load | ir.Store) -> Any:
        """What a rule gives; where it has no form for such a statement, what Python gives."""
        mark = self.mark()
        try:
            return write()
        except Unsupported as reason:
            self.back_to(mark)
            try:
                return self.program.written("python")(self, statement)
            except Unsupported:
                raise reason from None

    def loop(self, loop: ir.Loop) -> None:
        """Writes a loop."""
        raise NotImplementedError

    # Branches

    def _condition(self, atom: ir.Atom) -> str:
        found = self.program.written("truth")(self, self.value(atom))
        return str(found.name)

    def _if(self, statement: ir.If) -> None:
        writer = self.writer
        then, orelse, end = (writer.new_label(hint) for hint in ("then", "else", "end"))
        frame = Frame(len(self.scopes), {"yield": statement.targets}, {"yield": end})
        self.frames.append(frame)
        writer.branch(self._condition(statement.cond), then, orelse)
        writer.start(then)
        self._inner(statement.then)
        writer.start(orelse)
        self._inner(statement.orelse)
        self.frames.pop()
        self._meet(frame, "yield", statement.targets)

    def _guarded(self, statement: ir.Guarded) -> None:
        """Numbers only: nothing is referred to that an exception would have to give up."""
        if statement.context is not None or statement.final is not None:
            raise Unsupported("what is done whatever happens")
        writer = self.writer
        handlers = [(self._classes(each.exception), writer.new_label("handler")) for each in statement.handlers]
        frame = Frame(len(self.scopes), {"yield": statement.targets}, {"yield": writer.new_label("end")})
        guard = Guard(handlers)
        self.frames.append(frame)
        self.guards.append(guard)
        self._inner(statement.body)
        self.guards.pop()
        for handler, (_, label) in zip(statement.handlers, handlers, strict=True):
            if label in guard.entered:
                writer.start(label)
                self._inner(handler.body)
        self.frames.pop()
        self._meet(frame, "yield", statement.targets)

    def _classes(self, exception: ir.Atom | None) -> tuple[type[BaseException], ...]:
        """The classes that a handler is for."""
        value = Known(BaseException) if exception is None else self.value(exception)
        given = value.items if isinstance(value, Tuple) else (value,)
        found = [each.value for each in given if isinstance(each, Known)]
        if len(found) < len(given) or not all(isinstance(each, type) for each in found):
            raise Unsupported("handlers of exceptions of classes that are known at run time")
        return tuple(found)

    def _meet(self, frame: Frame, goal: str, targets: Sequence[ir.Var]) -> str | None:
        """Begins the block to which terminators led, and binds what they handed out; how a loop was left."""
        writer = self.writer
        incoming = frame.handed.get(goal, [])
        writer.start(frame.labels[goal])
        if not incoming:
            writer.line("unreachable")
            writer.start(writer.new_label("never"))
            for target in targets:
                self.bind(target, Known(ir.UNDEFINED))
            return None
        met = [
            self._met(frame.keys[goal][place], [(label, values[place]) for label, values, _ in incoming])
            for place in range(len(targets))
        ]
        number = None
        if goal == "exit":
            number = writer.phi("i64", [(str(each), label) for label, _, each in incoming])
        for target, (found, names) in zip(targets, met, strict=True):
            self.bind(target, found if isinstance(found, Known) else self.assembled(found, names, self.owning))
        return number

    def _met(self, key: Any, incoming: Sequence[tuple[str, Value]]) -> tuple[Kind | Known, list[str]]:
        """The kind and the parts of what was handed out for a variable."""
        given = [value for _, value in incoming if not is_undefined(value)]
        if not given:
            return Known(ir.UNDEFINED), []
        if key not in self.told:
            with contextlib.suppress(Learnt):
                found = self._agreed(key, given)
                return found, [] if isinstance(found, Known) else self.joined_parts(found, incoming)
        learnt = self.learnt[key]  # goes on as the next sweep will
        return learnt, [self.writer.name() for _ in types_of_parts(learnt)]

    def _agreed(self, key: Any, values: Sequence[Value]) -> Kind | Known:
        """The kind of what is handed out for a variable; a value that is the same everywhere and known."""
        first = values[0]
        if isinstance(first, Known) and first.value is not None and all(is_same_known(first, each) for each in values):
            return first
        if any(map(is_of_python, values)):
            self.learn(key, OBJECT)
        kinds = [kind(value) for value in values]
        if all(one == kinds[0] for one in kinds):
            return kinds[0]
        self.learn(key, joined(kinds))
        raise AssertionError

    def _wanted(self, key: Any, atom: ir.Atom) -> Value:
        """A value as it is handed out for a variable."""
        value = self.value(atom)
        if is_undefined(value):
            return value
        found = self.learnt.get(key) or declared_kind(key, value)
        if found is None:
            return value
        if isinstance(found, str) and found[0] in "fc" and isinstance(value, Number):
            self.check_exact(value)
        try:
            return self.converted(value, found, type_of_atom(atom))
        except Unsupported:
            if isinstance(value, Object) and key in self.learnt:  # what was learnt before the value was known to be one
                self.learn(key, OBJECT)
            raise

    # Terminators

    def terminator(self, end: ir.Terminator) -> None:
        match end:
            case ir.Yield(values=values):
                self._hand_out("yield", values)
            case ir.Continue(values=values):
                self._hand_out("continue", values)
            case ir.Exit(kind=number, values=values):
                self._hand_out("exit", values, number)
            case ir.Return(values=values):
                self._return(values)
            case ir.Branch(cond=cond, then=then, orelse=orelse):
                one, other = self.writer.new_label("then"), self.writer.new_label("else")
                self.writer.branch(self._condition(cond), one, other)
                self.writer.start(one)
                self._inner(then)
                self.writer.start(other)
                self._inner(orelse)

    def _raise(self, end: ir.Raise, made: ir.Call | None) -> None:
        """Leaves by an exception; Python makes it where its class or its text has no form, and nobody waits for it."""
        mark = self.mark()
        try:
            self.program.written("raise")(self, end)
        except Unsupported as reason:
            self.back_to(mark)
            if self.guards or end.exception is None or end.cause not in (None, ir.Const(None)):
                raise
            call = ir.Call((), display.raise_given, (end.exception,), (), end.span)
            if made is not None:
                call = ir.Call((), display.raise_made, (ir.Const(made.callee), *made.args), made.kwargs, end.span)
            try:
                self.program.written("python")(self, call)
            except Unsupported:
                raise reason from None
            self.leave(AssertionError, ("no exception was raised",))

    def _hand_out(self, goal: str, values: Sequence[ir.Atom], number: int = 0) -> None:
        frame = next(each for each in reversed(self.frames) if goal in each.keys)
        keys = frame.keys[goal]
        pairs = list(zip(keys, values, strict=False))
        handed = self.with_lessons(lambda: [self._wanted(key, atom) for key, atom in pairs])
        handed += [Known(ir.UNDEFINED)] * (len(keys) - len(handed))
        self._pass_on(handed, frame.depth)
        frame.handed.setdefault(goal, []).append((self.writer.label, handed, number))
        self.writer.jump(frame.labels[goal])

    def _pass_on(self, values: Sequence[Value], depth: int) -> None:
        """Retains what is handed out, and gives up all references of the scopes that are left."""
        held = dict.fromkeys(owner for scope in self.scopes[depth:] for owner in scope.owned)
        for value in values:
            for base, owner in references(value):
                if owner in held:
                    del held[owner]  # the reference itself is handed out
                else:
                    self.retain(base)
        for owner in held:
            self.release(owner.base)

    def _return(self, atoms: Sequence[ir.Atom]) -> None:
        writer = self.writer
        values = [self._wanted(("result", place), atom) for place, atom in enumerate(atoms)]
        kinds = tuple(map(kind, values))
        if self.name == self.MAIN:
            for found in kinds_in(TupleKind(kinds)):
                if isinstance(found, StructKind):
                    raise LeftToPython(found.cls)
        if self._results is not None and self._results != kinds:
            for place, (one, other) in enumerate(zip(self._results, kinds, strict=True)):
                if one != other:
                    self.learn(("result", place), joined([one, other]))
        self._results = kinds
        self._pass_on(values, 0)
        writer.put_parts("%out", parts(Tuple(tuple(values))))
        writer.line("ret i32 0")


def _made_for_the_end(block: ir.Block) -> ir.Call | None:
    """The call that makes the exception by which a block leaves."""
    if not isinstance(block.terminator, ir.Raise):
        return None
    for statement in block.statements:
        if isinstance(statement, ir.Call) and statement.targets == (block.terminator.exception,):
            callee = statement.callee
            return statement if isinstance(callee, type) and issubclass(callee, BaseException) else None
    return None
