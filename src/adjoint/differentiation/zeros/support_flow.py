"""Where cotangents come from, and of which the support is needed: a graph that is searched from the products back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from adjoint.analysis.joins import flows, reached
from adjoint.differentiation.zeros.called_supports import ASKING, Callees
from adjoint.differentiation.zeros.supports import is_support
from adjoint.ir.effects import effects
from adjoint.ir.nodes import Applied, Atom, Block, Call, Definition, Derived, Function, Load, Statement, Store, Var
from adjoint.ir.types import Array, Number, Scalar, Storage, is_handle, storage_of
from adjoint.ir.walk import binders_of, operands, statements_in, targets_of, terminators_in


def _asked(block: Block, statements: Sequence[Statement]) -> set[Var]:
    """What products, and the supports that they read, ask whether it was left out."""
    read = {atom for end in terminators_in(block) for atom in operands(end)}
    read.update(atom for statement in statements if not tells(statement) for atom in operands(statement))
    asked: set[Atom] = set()
    for statement in reversed(statements):
        if tells(statement) and not read.isdisjoint(targets_of(statement)):
            read.update(operands(statement))
            asked.update(operands(statement))
        elif isinstance(statement, Call) and statement.callee in ASKING:
            asked.add(statement.args[0])
    return variables_in(asked)


def tells(statement: Statement) -> bool:
    """Whether a statement computes a support."""
    targets = targets_of(statement)
    return isinstance(statement, (Call, Load)) and bool(targets) and all(map(is_support, targets))


class SupportFlow:
    """Where cotangents of a block come from, and what is needed of their supports."""

    def __init__(
        self,
        block: Block,
        seeds: Collection[Var],
        by_chance: Collection[Var],
        shadows: Collection[Var],
        complete: bool,
        primal: Callable[[Var], bool],
        carried: Collection[Var],
        callees: Callees,
    ) -> None:
        self.shadows = shadows
        self.callees = callees
        self.carried = frozenset(carried)
        """What the function is given a support of."""
        self.primal = primal
        self.onward: dict[Var, list[Var]] = {}
        self.back: dict[Var, list[Var]] = {}
        self.homes: dict[Storage, Var] = {}
        self.bound: set[Var] = set()
        statements = statements_in(block)
        for statement in statements:
            self.bound.update(targets_of(statement), binders_of(statement))
            self.statement(statement)
        for seed in (*seeds, *carried):
            self.share(seed)
        calls = [statement for statement in statements if isinstance(statement, Call) and is_called(statement)]
        across, made = self.across_calls(calls)
        self.linear = reached((*seeds, *carried, *filter(is_reference, across)), self.onward)
        self.unknown = self.not_known(statements, seeds, complete)
        by_chance = (*by_chance, *carried, *made, *filter(is_reference, across))
        tainted = reached((*(var for var in by_chance if var in self.linear), *self.unknown), self.onward)
        self.tainted = tainted & self.linear
        handed_out = variables_in(operands(block.terminator)) if carried else set()
        self.asked = (_asked(block, statements) | self.carried | across | handed_out) & self.tainted
        self.needed = reached(self.asked, self.back, self.tainted)
        self.calls = [call for call in calls if not self.tainted.isdisjoint(call.args)]
        """The calls that are given what may be zero by chance."""
        self.asking = [
            call
            for call in calls
            if callees.carried(call) is None and not self.needed.isdisjoint((*call.targets, *_memory(call)))
        ]
        """The calls across which a support is needed."""

    def across_calls(self, calls: Sequence[Call]) -> tuple[set[Var], set[Var]]:
        """What is given to functions with its support, and what they give with one."""
        given: set[Var] = set()
        made: set[Var] = set()
        for call in calls:
            carried = self.callees.carried(call)
            if carried is not None:
                given.update(carried.given(call))
                made.update(carried.made(call))
        return given, made

    def edge(self, source: Atom, target: Var) -> None:
        whole = isinstance(target.type, Scalar) and target.type.kind in ("int", "bool")
        if isinstance(source, Var) and not whole and not self.primal(source) and not self.primal(target):
            self.onward.setdefault(source, []).append(target)
            self.back.setdefault(target, []).append(source)

    def join(self, source: Atom, target: Var) -> None:
        """``target`` has the value of ``source``; a reference is to the same memory, unless nobody writes that."""
        self.edge(source, target)
        if isinstance(source, Var) and is_handle(target.type) and (is_handle(source.type) or is_container(source)):
            self.edge(target, source)

    def share(self, var: Var) -> None:
        """What lies in one class of memory may be one."""
        if not is_handle(var.type):
            return
        storage = storage_of(var.type)
        if storage is not None:
            self.join(self.homes.setdefault(storage, var), var)

    def statement(self, statement: Statement) -> None:
        for target in (*targets_of(statement), *binders_of(statement)):
            self.share(target)
        match statement:
            case Call() | Load() if tells(statement):
                pass
            case Call():
                self.call(statement)
            case Load(target=target, base=base):
                self.join(base, target)
            case Store(base=Var() as base, value=value):
                self.share(base)
                self.join(value, base) if is_reference(value) else self.edge(value, base)
            case _:
                for source, target in flows(statement):
                    self.join(source, target)

    def call(self, call: Call) -> None:
        for arg in operands(call):
            for target in _derived(call):
                self.edge(arg, target)
        called = is_called(call)
        if not called and effects(call.callee).hands_on:  # it makes a container, or takes something out of one
            for arg in filter(is_reference, call.args):
                for target in call.targets:
                    self.join(arg, target)
        if not call.targets or called:
            for memory in variables_in(call.args):
                if is_handle(memory.type) and (not called or memory in self.shadows):
                    self.share(memory)
                    for arg in variables_in(call.args) - {memory}:
                        held = is_reference(arg) and (not called or arg in self.shadows)
                        self.join(arg, memory) if held else self.edge(arg, memory)

    def not_known(self, statements: Iterable[Statement], seeds: Collection[Var], complete: bool) -> set[Var]:
        """Cotangents of which nothing is known: other functions made them, or they lie in memory from outside."""
        found = {seed for seed in seeds if seed not in self.carried and (not complete or is_container(seed))}
        given = {*seeds, *self.carried}
        found |= {var for var in self.linear if var not in self.bound and var not in given and is_handle(var.type)}
        for statement in statements:
            if not isinstance(statement, Call) or self.linear.isdisjoint(variables_in(operands(statement))):
                continue
            called = is_called(statement) and self.callees.carried(statement) is None
            if called or (len(statement.targets) > 1 and not is_called(statement)):
                found.update(statement.targets)
            if called:
                found.update(arg for arg in variables_in(statement.args) if arg in self.linear and is_handle(arg.type))
        memory = {var for var in found if is_handle(var.type)}
        handles = {var for var in self.linear if is_handle(var.type)}
        return found & self.linear | reached(memory, self.onward, handles)


def _derived(call: Call) -> tuple[Var, ...]:
    """The results of a call to which tangents flow: function values give values, as many tangents, and a pullback."""
    return call.targets[len(call.targets) // 2 : -1] if isinstance(call.callee, Applied) else call.targets


def _memory(call: Call) -> list[Var]:
    return [arg for arg in variables_in(call.args) if is_handle(arg.type)]


def is_called(call: Call) -> bool:
    return isinstance(call.callee, (Definition, Function, Derived))


def variables_in(atoms: Iterable[Atom]) -> set[Var]:
    return {atom for atom in atoms if isinstance(atom, Var)}


def is_reference(atom: Atom) -> bool:
    return isinstance(atom, Var) and is_handle(atom.type)


def is_container(var: Var) -> bool:
    return not isinstance(var.type, (Array, Number, Scalar))
