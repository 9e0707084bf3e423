"""Where cotangents come from, and of which the support is needed: a graph that is searched from the products back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects
from adjoint.analysis.joins import flows, reached
from adjoint.differentiation.zeros.called_supports import ASKING, Callees
from adjoint.differentiation.zeros.supports import is_support
from adjoint.ir.walk import binders_of, operands, statements_in, targets_of, terminators_in
from adjoint.runtime.arithmetic.numbers import choose
from adjoint.runtime.array_functions.arrays import match, spread, unbroadcast


def _asked(block: ir.Block, statements: Sequence[ir.Statement]) -> set[ir.Var]:
    """What products, and the supports that they read, ask whether it was left out."""
    read = {atom for end in terminators_in(block) for atom in operands(end)}
    read.update(atom for statement in statements if not tells(statement) for atom in operands(statement))
    asked: set[ir.Atom] = set()
    for statement in reversed(statements):
        if tells(statement) and not read.isdisjoint(targets_of(statement)):
            read.update(operands(statement))
            asked.update(asked_by(statement))
        elif isinstance(statement, ir.Call) and statement.callee in ASKING:
            asked.add(statement.args[0])
    return variables_in(asked)


def tells(statement: ir.Statement) -> bool:
    """Whether a statement computes a support."""
    targets = targets_of(statement)
    return isinstance(statement, (ir.Call, ir.Load)) and bool(targets) and all(map(is_support, targets))


def asked_by(statement: ir.Statement) -> list[ir.Atom]:
    """Of what a statement that computes a support reads supports: not of a condition, and not of a shape."""
    if not isinstance(statement, ir.Call):
        return list(operands(statement))
    if statement.callee in (spread, unbroadcast, match):
        return list(statement.args[:1])
    cond = statement.args[0] if statement.callee in (choose, np.where) else None
    return [atom for atom in operands(statement) if atom is not cond or (isinstance(cond, ir.Var) and is_support(cond))]


class SupportFlow:
    """Where cotangents of a block come from, and what is needed of their supports."""

    def __init__(
        self,
        block: ir.Block,
        seeds: Collection[ir.Var],
        by_chance: Collection[ir.Var],
        shadows: Collection[ir.Var],
        complete: bool,
        primal: Callable[[ir.Var], bool],
        carried: Collection[ir.Var],
        callees: Callees,
    ) -> None:
        self.shadows = shadows
        self.callees = callees
        self.carried = frozenset(carried)
        """What the function is given a support of."""
        self.primal = primal
        self.onward: dict[ir.Var, list[ir.Var]] = {}
        self.back: dict[ir.Var, list[ir.Var]] = {}
        self.homes: dict[ir.Storage, ir.Var] = {}
        self.bound: set[ir.Var] = set()
        statements = statements_in(block)
        for statement in statements:
            self.bound.update(targets_of(statement), binders_of(statement))
            self.statement(statement)
        for seed in (*seeds, *carried):
            self.share(seed)
        calls = [statement for statement in statements if isinstance(statement, ir.Call) and is_called(statement)]
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

    def across_calls(self, calls: Sequence[ir.Call]) -> tuple[set[ir.Var], set[ir.Var]]:
        """What is given to functions with its support, and what they give with one."""
        given: set[ir.Var] = set()
        made: set[ir.Var] = set()
        for call in calls:
            carried = self.callees.carried(call)
            if carried is not None:
                given.update(carried.given(call))
                made.update(carried.made(call))
        return given, made

    def edge(self, source: ir.Atom, target: ir.Var) -> None:
        if (
            isinstance(source, ir.Var)
            and not _is_whole(target.type)
            and not self.primal(source)
            and not self.primal(target)
        ):
            self.onward.setdefault(source, []).append(target)
            self.back.setdefault(target, []).append(source)

    def join(self, source: ir.Atom, target: ir.Var) -> None:
        """``target`` has the value of ``source``; a reference is to the same memory, unless nobody writes that."""
        self.edge(source, target)
        if (
            isinstance(source, ir.Var)
            and ir.is_handle(target.type)
            and (ir.is_handle(source.type) or is_container(source))
        ):
            self.edge(target, source)

    def share(self, var: ir.Var) -> None:
        """What lies in one class of memory may be one."""
        if not ir.is_handle(var.type):
            return
        storage = ir.storage_of(var.type)
        if storage is not None:
            self.join(self.homes.setdefault(storage, var), var)

    def statement(self, statement: ir.Statement) -> None:
        for target in (*targets_of(statement), *binders_of(statement)):
            self.share(target)
        match statement:
            case ir.Call() | ir.Load() if tells(statement):
                pass
            case ir.Call():
                self.call(statement)
            case ir.Load(target=target, base=base):
                self.join(base, target)
            case ir.Store(base=ir.Var() as base, value=value):
                self.share(base)
                self.join(value, base) if is_reference(value) else self.edge(value, base)
            case _:
                for source, target in flows(statement):
                    self.join(source, target)

    def call(self, call: ir.Call) -> None:
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
                if ir.is_handle(memory.type) and (not called or memory in self.shadows):
                    self.share(memory)
                    for arg in variables_in(call.args) - {memory}:
                        held = is_reference(arg) and (not called or arg in self.shadows)
                        self.join(arg, memory) if held else self.edge(arg, memory)

    def not_known(self, statements: Iterable[ir.Statement], seeds: Collection[ir.Var], complete: bool) -> set[ir.Var]:
        """Cotangents of which nothing is known: other functions made them, or they lie in memory from outside."""
        found = {seed for seed in seeds if seed not in self.carried and (not complete or is_container(seed))}
        given = {*seeds, *self.carried}
        found |= {var for var in self.linear if var not in self.bound and var not in given and ir.is_handle(var.type)}
        for statement in statements:
            if not isinstance(statement, ir.Call) or self.linear.isdisjoint(variables_in(operands(statement))):
                continue
            called = is_called(statement) and self.callees.carried(statement) is None
            if called or (len(statement.targets) > 1 and not is_called(statement)):
                found.update(statement.targets)
            if called:
                found.update(
                    arg for arg in variables_in(statement.args) if arg in self.linear and ir.is_handle(arg.type)
                )
        memory = {var for var in found if ir.is_handle(var.type)}
        handles = {var for var in self.linear if ir.is_handle(var.type)}
        return found & self.linear | reached(memory, self.onward, handles)


def _is_whole(type_: ir.Type) -> bool:
    """Whether values of a type are whole numbers or truths, of which none varies."""
    if isinstance(type_, ir.Array):
        return ir.is_whole_dtype(type_.dtype)
    return isinstance(type_, ir.Scalar) and type_.kind in ("int", "bool")


def _derived(call: ir.Call) -> tuple[ir.Var, ...]:
    """The results of a call to which tangents flow: function values give values, as many tangents, and a pullback."""
    return call.targets[len(call.targets) // 2 : -1] if isinstance(call.callee, ir.Applied) else call.targets


def _memory(call: ir.Call) -> list[ir.Var]:
    return [arg for arg in variables_in(call.args) if ir.is_handle(arg.type)]


def is_called(call: ir.Call) -> bool:
    return isinstance(call.callee, (ir.Definition, ir.Function, ir.Derived))


def variables_in(atoms: Iterable[ir.Atom]) -> set[ir.Var]:
    return {atom for atom in atoms if isinstance(atom, ir.Var)}


def is_reference(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and ir.is_handle(atom.type)


def is_container(var: ir.Var) -> bool:
    return not isinstance(var.type, (ir.Array, ir.Number, ir.Scalar))
