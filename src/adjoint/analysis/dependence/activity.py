"""Which values a derivative has to follow: those that depend on an input and that the result depends on.

Two passes over the regions, each repeated until nothing changes. Values are tracked one by one; memory is tracked by
storage class and without regard to time: a class is varied once anything varied is written to any of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence

from adjoint import ir
from adjoint.analysis.dependence.scalar_functions import NumberFlows, varies_smoothly
from adjoint.analysis.effects import written_args
from adjoint.analysis.memory.reachable import (
    GROWING,
    all_memory,
    is_ruled,
    lends_memory,
    may_write_anything,
    own_memory,
    parts,
)
from adjoint.analysis.messages import communicates
from adjoint.ir.join import is_array, reads_metadata, type_of_atom
from adjoint.ir.walk import leaves, operands, statements_in
from adjoint.records import dataclass, field
from adjoint.rules.kinds import Constant, NoDerivative
from adjoint.rules.registry import rule_for
from adjoint.runtime import tangents


@dataclass(slots=True)
class Marks:
    """A set of variables and storage classes that only grows."""

    vars: set[ir.Var] = field(default_factory=set)
    memory: set[ir.Storage] = field(default_factory=set)

    def size(self) -> int:
        return len(self.vars) + len(self.memory)

    def copy(self) -> Marks:
        return Marks(set(self.vars), set(self.memory))

    def has(self, atom: ir.Atom) -> bool:
        """Whether a value is marked, itself or in memory that can be reached from it."""
        if type(atom) is not ir.Var:
            return False
        if atom in self.vars or type(atom.type) is ir.Scalar:
            return atom in self.vars
        return ir.carries_derivative(atom.type) and any(storage in self.memory for storage in all_memory(atom.type))

    def has_slots(self, atom: ir.Atom) -> bool:
        """Whether what lies in a container's own slots is marked."""
        if not isinstance(atom, ir.Var):
            return False
        return atom in self.vars or own_memory(atom.type) in self.memory

    def add(self, atom: ir.Atom) -> None:
        if isinstance(atom, ir.Var) and ir.carries_derivative(atom.type):
            self.vars.add(atom)

    def add_slots(self, atom: ir.Atom) -> None:
        """Marks what lies in a container's own slots; the value itself where it has none."""
        self.add(atom)
        own = own_memory(atom.type) if isinstance(atom, ir.Var) else None
        if own is not None:
            self.memory.add(own)

    def add_all(self, atom: ir.Atom) -> None:
        """Marks a value and everything that can be reached from it."""
        self.add(atom)
        if isinstance(atom, ir.Var):
            self.memory.update(all_memory(atom.type))


@dataclass(frozen=True, slots=True)
class Activity:
    """What varies with the inputs, what the outputs depend on, and by :meth:`active` what does both.

    ``idle`` are the ids of statements that change memory after its last use: nothing depends on what they write.
    """

    varied: Marks
    useful: Marks
    idle: frozenset[int] = frozenset()

    def active(self, atom: ir.Atom) -> bool:
        """Whether a derivative flows through a value."""
        return self.varied.has(atom) and self.useful.has(atom)

    @property
    def memory(self) -> set[ir.Storage]:
        """The storage classes through which a derivative flows."""
        return self.varied.memory & self.useful.memory


def activity(
    function: ir.Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    flows: NumberFlows | None,
    handed_back: Iterable[ir.Var] = (),
    handed_out: Sequence[int] = (),
) -> Activity:
    """What is active in a function when ``outputs`` are differentiated with respect to the parameters ``wrt``.

    ``flows`` are those of a function of numbers alone; else None. ``handed_back`` are parameters whose memory the
    caller goes on with: what is written there counts as an output. ``handed_out`` are results to whose memory the
    caller writes what varies.
    """
    if flows is not None:
        returned = [leaf.values for leaf in leaves(function.body) if isinstance(leaf, ir.Return)]
        results = [values[output] for values in returned for output in outputs]
        starts = filter(varies_smoothly, [function.params[index] for index in wrt])
        ends = filter(varies_smoothly, [value for value in results if type(value) is ir.Var])
        return Activity(Marks(flows.reached(starts)), Marks(flows.reaching(ends)))
    varied, at_end = Marks(), Marks()
    for index in wrt:
        varied.add_all(function.params[index])
    for leaf in leaves(function.body):
        if isinstance(leaf, ir.Return):
            for place in handed_out:
                varied.add_all(leaf.values[place])
    _until_stable(varied, lambda: _forward_block(function.body, varied, _no_join))
    for leaf in leaves(function.body):
        if isinstance(leaf, ir.Return):
            for output in outputs:
                at_end.add_all(leaf.values[output])
    for param in handed_back:
        at_end.memory.update(all_memory(param.type))
    useful = _useful(function.body, at_end, frozenset())
    idle = _idle_changes(function.body, at_end.copy(), useful)
    return Activity(varied, _useful(function.body, at_end, idle) if idle else useful, idle)


def _useful(body: ir.Block, at_end: Marks, idle: frozenset[int]) -> Marks:
    useful = at_end.copy()
    walk = _Backward(useful, idle)
    _until_stable(useful, lambda: walk.block(body, _no_need))
    return useful


def derivative_ignores(callee: object) -> bool:
    """Whether a rule says that nothing flows through a call."""
    return isinstance(rule_for(callee), (Constant, NoDerivative))


def _until_stable(marks: Marks, step: Callable[[], None]) -> None:
    before = -1
    while marks.size() != before:
        before = marks.size()
        step()


Join = Callable[[ir.Terminator], None]


def _no_join(leaf: ir.Terminator) -> None:
    del leaf


# Forward: what depends on the inputs


def _forward_block(block: ir.Block, marks: Marks, join: Join) -> None:
    for statement in block.statements:
        _forward(statement, marks)
    if isinstance(block.terminator, ir.Branch):
        _forward_block(block.terminator.then, marks, join)
        _forward_block(block.terminator.orelse, marks, join)
    else:
        join(block.terminator)


def _flow(sources: Iterable[ir.Atom], sinks: Iterable[ir.Atom], marks: Marks) -> None:
    for source, sink in zip(sources, sinks, strict=False):
        if marks.has(source):
            marks.add(sink)


def _forward(statement: ir.Statement, marks: Marks) -> None:
    match statement:
        case ir.Call():
            _forward_call(statement, marks)
        case ir.Load() if reads_metadata(statement):
            pass
        case ir.Load(target=target, base=base):
            part_of_tuple = isinstance(target.type, ir.Tuple) and marks.has(base)
            if marks.has_slots(base) or part_of_tuple:
                of_array = isinstance(base, ir.Var) and isinstance(base.type, ir.Array)
                marks.add_slots(target) if of_array else marks.add(target)
        case ir.Store(base=base, value=value):
            if marks.has(value) and _lies_in_slot(value):
                marks.add_slots(base)
        case ir.If(then=then, orelse=orelse, targets=targets) | ir.Guarded(body=then, final=orelse, targets=targets):

            def join(leaf: ir.Terminator) -> None:
                if isinstance(leaf, ir.Yield):
                    _flow(leaf.values, targets, marks)

            _forward_block(then, marks, join)
            if orelse is not None:
                _forward_block(orelse, marks, join if isinstance(statement, ir.If) else _no_join)
            if isinstance(statement, ir.Guarded):
                for handler in statement.handlers:
                    _forward_block(handler.body, marks, join)
        case ir.Loop(params=params, inits=inits, body=body, targets=targets):
            _flow(inits, params, marks)

            def leave(leaf: ir.Terminator) -> None:
                if isinstance(leaf, ir.Continue):
                    _flow(leaf.values, params, marks)
                elif isinstance(leaf, ir.Exit):
                    _flow(leaf.values, targets, marks)

            _forward_block(body, marks, leave)
            _flow(params, targets, marks)


def _lies_in_slot(value: ir.Atom) -> bool:
    """Whether storing the value puts a cotangent into the slot: not a reference to memory of its own."""
    return isinstance(value, ir.Var) and (not ir.is_handle(value.type) or isinstance(value.type, (ir.Tuple, ir.Array)))


def _read_values(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The arguments of a call on whose values its results may depend."""
    if call.callee in tangents.LAYOUTS:
        return call.args[:1]
    return ir.differentiated_args(call) if isinstance(call.callee, (ir.Declared, ir.Applied)) else operands(call)


def _forward_call(call: ir.Call, marks: Marks) -> None:
    if communicates(call.callee):
        for atom in (*call.targets, *(call.args if isinstance(call.callee, ir.Definition) else ())):
            marks.add_all(atom) if ir.is_handle(type_of_atom(atom)) else marks.add_slots(atom)
        return
    args = _read_values(call)
    if not any(map(marks.has, args)) or derivative_ignores(call.callee):
        return
    if call.callee in GROWING:
        if any(marks.has(arg) and _lies_in_slot(arg) for arg in args[1:]):
            marks.add_slots(args[0])
        return
    if may_write_anything(call):
        for arg in args:
            if lends_memory(arg):
                marks.add_all(arg)
    value_flows = any(marks.has(arg) for arg in args if _lies_in_slot(arg)) or is_ruled(call)
    for target in call.targets:
        if ir.is_handle(target.type) and not value_flows and not isinstance(target.type, ir.Array):
            marks.add(target) if marks.has(args[0]) else None
        else:
            marks.add_slots(target)
    if isinstance(call.callee, (ir.Definition, ir.Derived)):
        for arg in args:
            if isinstance(arg, ir.Var) and marks.has(arg):
                marks.memory.update(_rearranged_memory(arg.type))
        for arg in _may_be_written(call, args):
            marks.add_all(arg)
        for target in call.targets:
            marks.add_all(target)


def _rearranged_memory(type_: ir.Type | None) -> Iterator[ir.Storage]:
    """The classes of containers of which it changes what they hold: shadows have to follow that.

    The derivative of a called function follows all that it is given, and finds a place for each item.
    """
    if isinstance(type_, (ir.List, ir.Dict)) and type_.storage.written:
        yield type_.storage
    for part in parts(type_):
        yield from _rearranged_memory(part)


# Backward: what the outputs depend on


Need = Callable[[ir.Terminator], None]


def _no_need(leaf: ir.Terminator) -> None:
    del leaf


class _Backward:
    """A walk from a function's end to its start; changes of memory in ``idle`` are passed over."""

    def __init__(self, marks: Marks, idle: frozenset[int] = frozenset()) -> None:
        self.marks = marks
        self.idle = idle

    def block(self, block: ir.Block, need: Need) -> None:
        if isinstance(block.terminator, ir.Branch):
            self.block(block.terminator.then, need)
            self.block(block.terminator.orelse, need)
        else:
            need(block.terminator)
        for statement in reversed(block.statements):
            self.statement(statement)

    def statement(self, statement: ir.Statement) -> None:
        marks = self.marks
        match statement:
            case ir.Call():
                self.call(statement)
            case ir.Load(target=target, base=base):
                if marks.has(target):
                    marks.add_slots(base)
            case ir.Store(base=base, value=value):
                if self.reaches(statement, lambda found: found.has_slots(base)):
                    # of an array the numbers are stored; of anything else a reference, which is needed where it is read
                    marks.add_slots(value) if is_array(value) else marks.add(value)
            case ir.If(then=then, orelse=orelse, targets=targets):
                self.block(then, self.yielding(targets))
                self.block(orelse, self.yielding(targets))
            case ir.Loop(params=params, inits=inits, targets=targets):
                _flow(targets, params, marks)
                self.iterations(statement)
                _flow(params, inits, marks)
            case ir.Guarded(targets=targets):
                if statement.final is not None:
                    self.block(statement.final, _no_need)
                for block in (*(handler.body for handler in statement.handlers), statement.body):
                    self.block(block, self.yielding(targets))

    def yielding(self, targets: tuple[ir.Var, ...]) -> Need:
        def need(leaf: ir.Terminator) -> None:
            if isinstance(leaf, ir.Yield):
                _flow(targets, leaf.values, self.marks)

        return need

    def iterations(self, loop: ir.Loop) -> None:
        def leave(leaf: ir.Terminator) -> None:
            if isinstance(leaf, ir.Continue):
                _flow(loop.params, leaf.values, self.marks)
            elif isinstance(leaf, ir.Exit):
                _flow(loop.targets, leaf.values, self.marks)

        self.block(loop.body, leave)

    def reaches(self, statement: ir.Statement, is_useful: Callable[[Marks], bool]) -> bool:
        """Whether a change of memory is of use; ``is_useful`` tells whether the memory, or a result, is."""
        return id(statement) not in self.idle and is_useful(self.marks)

    def call(self, call: ir.Call) -> None:
        if derivative_ignores(call.callee):
            return
        args, marks = _read_values(call), self.marks
        if communicates(call.callee) and self.reaches(call, lambda found: True):
            for arg in args:
                marks.add_all(arg)
            return
        if call.callee in GROWING:
            if self.reaches(call, lambda found: found.has_slots(args[0])):
                for arg in args[1:]:
                    marks.add(arg)
            return
        written = _may_be_written(call, args)
        reached = any(map(marks.has, call.targets))
        if not self.reaches(call, lambda found: reached or any(map(found.has, written))):
            return
        for arg in args:
            if isinstance(call.callee, (ir.Definition, ir.Derived)) or is_ruled(call):
                marks.add_all(arg)  # of containers it reads what lies in them, too
            elif (
                _is_display(call)
                and isinstance(arg, ir.Var)
                and ir.is_handle(arg.type)
                and not isinstance(arg.type, ir.Tuple)
            ):
                continue  # a reference: its memory is needed where it is read
            else:
                marks.add_slots(arg)


class _InTime(_Backward):
    """The same walk with memory useful from its last read on only: ``marks`` are those of the place that it came to.

    ``needed`` are the changes of memory after which something is read. What is more than a move of numbers counts as
    needed wherever its memory is useful at any time.
    """

    def __init__(self, at_end: Marks, always: Marks) -> None:
        super().__init__(at_end)
        self.always = always
        self.needed: set[int] = set()

    def iterations(self, loop: ir.Loop) -> None:
        _until_stable(self.marks, lambda: super(_InTime, self).iterations(loop))

    def reaches(self, statement: ir.Statement, is_useful: Callable[[Marks], bool]) -> bool:
        found = is_useful(self.marks if moves_numbers(statement) else self.always)
        if found:
            self.needed.add(id(statement))
        return found


def moves_numbers(statement: ir.Statement) -> bool:
    """Whether all that a change of memory does to cotangents is to move numbers."""
    match statement:
        case ir.Store(base=base, value=value):
            return isinstance(type_of_atom(base), ir.Array) or isinstance(type_of_atom(value), ir.Scalar)
        case ir.Call(callee=list.append | list.insert, args=(_, *_, value)):
            return not ir.is_handle(type_of_atom(value))
        case ir.Call(callee=ir.Definition(), args=args, targets=targets):
            return not any(_may_be_rearranged(type_of_atom(atom)) for atom in (*args, *targets))
        case _:
            return False


def _may_be_rearranged(type_: ir.Type | None) -> bool:
    """Whether more than numbers may change in memory: what lies in it, or how much of that."""
    return ir.is_handle(type_) and not isinstance(type_, ir.Array)


def _idle_changes(body: ir.Block, at_end: Marks, useful: Marks) -> frozenset[int]:
    """Changes of useful memory that nothing reads any more: what they would move is zero."""
    changes = [statement for statement in statements_in(body) if moves_numbers(statement)]
    if not changes:
        return frozenset()
    walk = _InTime(at_end, useful)
    walk.block(body, _no_need)
    return frozenset(id(statement) for statement in changes) - walk.needed


def _may_be_written(call: ir.Call, args: tuple[ir.Atom, ...]) -> list[ir.Atom]:
    """The arguments of a call that it may write, for all that is known here."""
    if isinstance(call.callee, (ir.Definition, ir.Derived)):
        return [arg for arg in written_args(call) if isinstance(arg, ir.Var) and ir.is_handle(arg.type)]
    return [arg for arg in args if lends_memory(arg)] if may_write_anything(call) else []


def _is_display(call: ir.Call) -> bool:
    """Whether a call only makes a container (no rule says that it computes)."""
    takes_out = call.callee in (list.pop, dict.pop, dict.get, dict.setdefault, operator.getitem)
    return (
        not is_ruled(call)
        and not takes_out
        and any(
            ir.is_handle(target.type) and not isinstance(target.type, (ir.Array, ir.Scalar)) for target in call.targets
        )
    )
