"""What decides which sets a function gives: indices, conditions, shapes; and what those depend on.

Each value has a level: 0 for what follows from whole numbers, shapes and what is no number, 1 for what depends on
floats, 2 for what depends on the argument that varies. A set that is chosen by something of level 0 is the same in all
calls with the same whole numbers and shapes. The analysis ignores the order of statements, and errs upwards.
"""

from __future__ import annotations

import operator
from collections.abc import Container, Iterable, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects, effects_of
from adjoint.analysis.joins import caught, joins
from adjoint.analysis.known_effects import FACT
from adjoint.diagnostics.spans import Span
from adjoint.differentiation.memory.slots import is_container
from adjoint.differentiation.memory.structural import roles_of
from adjoint.differentiation.reachability import Dependence
from adjoint.differentiation.sets.rules import kind_of
from adjoint.ir.join import reads_metadata, type_of_atom
from adjoint.ir.walk import key_atoms, operands, targets_of
from adjoint.records import dataclass
from adjoint.rules.kinds import Bilinear, Elementwise, General, Linear
from adjoint.rules.registry import rule_for
from adjoint.runtime import tangents
from adjoint.runtime.array_functions import arrays
from adjoint.runtime.sets.functions import either
from adjoint.types.classes.safe_lookups import is_one_of

FIXED, FLOATS, VARYING = 0, 1, 2
_LIKE = (
    *(
        np.zeros_like,
        np.empty_like,
        np.ones_like,
        np.full_like,
        arrays.zeros_in_memory,
        arrays.zeros_like,
        arrays.empty_sum,
    ),
    *(arrays.empty_product, tangents.shadow_like, tangents.shadow_of_values),
)
_OPERATORS = (
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.not_, operator.invert),
    *(operator.and_, operator.or_, operator.xor, operator.add, operator.sub, operator.mul, operator.floordiv),
    *(operator.mod, operator.neg, operator.pos, operator.truediv, operator.pow),
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Something that decides on sets, and depends on floats."""

    level: int
    what: str
    span: Span | None


class Steering:
    """The levels of everything in a function.

    Parameters
    ----------
    function
        The function.
    levels
        For each parameter its level, and that of its shape.
    united
        Whether both sides are run of a branch or a statement, by identity: then its condition decides nothing, and
        nothing may be decided by what the sides give.

    Attributes
    ----------
    reasons
        What decides on sets and is not of level 0.
    """

    def __init__(
        self, function: ir.Function, levels: Sequence[tuple[int, int]], united: Container[int] = frozenset()
    ) -> None:
        self.united = united
        self.memory = Dependence(function, (), ()).memory
        self.values: dict[ir.Var, int] = {}
        self.shapes: dict[ir.Var, int] = {}
        self.contents: dict[ir.Storage, int] = {}
        self.structures: dict[ir.Storage, int] = {}
        self.found: dict[tuple[str, int], Reason] = {}
        for param, (value, shape) in zip(function.params, levels, strict=True):
            self._hold(param, value, shape)
        changed = -1
        while changed != self._total():
            changed = self._total()
            self._block(function.body, FIXED)

    @property
    def reasons(self) -> list[Reason]:
        return sorted(self.found.values(), key=lambda reason: -reason.level)

    @property
    def level(self) -> int:
        """The highest level of what decides on sets."""
        return max((reason.level for reason in self.found.values()), default=FIXED)

    def value(self, atom: ir.Atom | None) -> int:
        """The level of a value, and of all that can be reached from it."""
        if not isinstance(atom, ir.Var):
            return FIXED
        inside = [self.contents.get(self.memory.find(storage), FIXED) for storage in ir.storages(atom.type)]
        return max(self.values.get(atom, FIXED), *inside, FIXED)

    def shape(self, atom: ir.Atom | None) -> int:
        """The level of the shape of an array, and of how many items there are in what else has items."""
        if not isinstance(atom, ir.Var):
            return FIXED
        inside = [self.structures.get(self.memory.find(storage), FIXED) for storage in ir.storages(atom.type)]
        own = self.shapes.get(atom, FIXED)
        return max(own, *inside, FIXED) if not _is_opaque(atom.type) else max(own, self.value(atom))

    # Taking down

    def _total(self) -> int:
        return sum(sum(table.values()) for table in (self.values, self.shapes, self.contents, self.structures))

    def _hold(self, var: ir.Var, value: int, shape: int) -> None:
        self.values[var] = max(value, self.values.get(var, FIXED))
        self.shapes[var] = max(shape, self.shapes.get(var, FIXED))
        if isinstance(var.type, (ir.List, ir.Dict, ir.Instance, ir.Tuple)) or (
            isinstance(var.type, ir.Array) and var.type.storage.written
        ):
            self._fill(var, value, shape)

    def _fill(self, atom: ir.Atom, value: int, shape: int) -> None:
        """Something is put into the memory that a value refers to."""
        for storage in ir.storages(type_of_atom(atom)):
            root = self.memory.find(storage)
            self.contents[root] = max(value, self.contents.get(root, FIXED))
            self.structures[root] = max(shape, self.structures.get(root, FIXED))

    def _steers(self, level: int, what: str, span: Span | None) -> None:
        if level:
            key = what, id(span)
            if key not in self.found or self.found[key].level < level:
                self.found[key] = Reason(level, what, span)

    # The walk

    def _block(self, block: ir.Block, around: int) -> None:
        for statement in block.statements:
            self._statement(statement, around)
        end = block.terminator
        if isinstance(end, ir.Branch):
            level = self._condition(end)
            self._block(end.then, max(around, level))
            self._block(end.orelse, max(around, level))

    def _statement(self, statement: ir.Statement, around: int) -> None:
        match statement:
            case ir.Call():
                self._call(statement, around)
            case ir.Load():
                self._load(statement)
            case ir.Store(base=base, key=key, value=value):
                self._index(key_atoms(key), statement.span)
                level = max(self.value(value), *map(self.value, key_atoms(key)), around)
                self._fill_one(base, level, self.shape(value))
            case ir.If():
                inner = max(around, self._condition(statement))
                for block in (statement.then, statement.orelse):
                    self._block(block, inner)
            case ir.Loop(over=over, index=index):
                if isinstance(over, ir.Range):
                    level = max(map(self.value, (over.start, over.stop, over.step)))
                    self._steers(level, "the number of iterations", statement.span)
                    if index is not None:
                        self._hold(index, level, FIXED)
                elif isinstance(over, ir.Items):
                    self._steers(self.shape(over.iterable), "the number of iterations", statement.span)
                    if index is not None:
                        self._hold(index, self.value(over.iterable), self.shape(over.iterable))
                self._block(statement.body, around)
            case ir.Guarded():
                if statement.handlers:
                    self._steers(VARYING, "whether an exception is raised", statement.span)
                for block in (
                    statement.body,
                    *[handler.body for handler in statement.handlers],
                    *([] if statement.final is None else [statement.final]),
                ):
                    self._block(block, around)
        own, of_shape = self._conditions(statement, True), self._conditions(statement, False)
        for source, target in joins(statement):
            self._hold(target, max(self.value(source), own), max(self.shape(source), of_shape))
        for source, target in caught(statement):
            self._hold(target, self.value(source), self.shape(source))
        if isinstance(statement, ir.Loop) and statement.exit is not None:
            self._hold(statement.exit, own, FIXED)

    def _condition(self, node: ir.If | ir.Branch) -> int:
        """The level of what depends on which side is taken; takes down what a condition decides on."""
        if id(node) in self.united:
            return VARYING
        level = self.value(node.cond)
        self._steers(level, "the condition", node.span)
        return level

    def _conditions(self, statement: ir.Statement, of_both: bool) -> int:
        """The level of what decides which values a statement hands out; ``of_both`` counts where both sides are run."""
        match statement:
            case ir.If(then=then, orelse=orelse):
                own = self._of_one(statement, of_both)
                return max(own, self._ends(then, of_both), self._ends(orelse, of_both))
            case ir.Loop(over=ir.Range() as over, body=body):
                return max(*map(self.value, (over.start, over.stop, over.step)), self._ends(body, of_both))
            case ir.Loop(over=ir.Items(iterable=iterable), body=body):
                return max(self.shape(iterable), self._ends(body, of_both))
            case ir.Loop(body=body):
                return self._ends(body, of_both)
            case ir.Guarded():
                return VARYING if statement.handlers else FIXED
            case _:
                return FIXED

    def _of_one(self, node: ir.If | ir.Branch, of_both: bool) -> int:
        if id(node) in self.united:
            return VARYING if of_both else FIXED
        return self.value(node.cond)

    def _ends(self, block: ir.Block, of_both: bool) -> int:
        end = block.terminator
        if not isinstance(end, ir.Branch):
            return FIXED
        return max(self._of_one(end, of_both), self._ends(end.then, of_both), self._ends(end.orelse, of_both))

    def _fill_one(self, base: ir.Atom, value: int, shape: int) -> None:
        type_ = type_of_atom(base)
        storage = getattr(type_, "storage", None)
        if isinstance(storage, ir.Storage):
            root = self.memory.find(storage)
            self.contents[root] = max(value, self.contents.get(root, FIXED))
            if not isinstance(type_, ir.Array):
                self.structures[root] = max(shape, self.structures.get(root, FIXED))
        elif isinstance(base, ir.Var):
            self._hold(base, value, shape)

    def _index(self, atoms: Iterable[ir.Atom], span: Span | None) -> None:
        for atom in atoms:
            self._steers(max(self.value(atom), self.shape(atom)), "an index", span)

    def _load(self, load: ir.Load) -> None:
        base, target = load.base, load.target
        if reads_metadata(load):
            self._hold(target, self.shape(base), FIXED)
            return
        atoms = key_atoms(load.key)
        self._index(atoms, load.span)
        keys = max(map(self.value, atoms), default=FIXED)
        self._hold(target, max(self.value(base), keys), max(self.shape(base), keys))

    def _call(self, call: ir.Call, around: int) -> None:
        args = operands(call)
        callee = call.callee
        value = max(map(self.value, args), default=FIXED)
        if isinstance(callee, (ir.Definition, ir.Function)):
            self._steers(VARYING, "a function that stays a function", call.span)
        found = effects_of(call)
        if found is FACT or effects(callee) is FACT:
            level = max(map(self.shape, args), default=FIXED)
            self._results(call, level, level)
            return
        if is_one_of(callee, _LIKE):
            filling = max(map(self.value, args[1:]), default=FIXED)
            self._results(call, filling, max(self.shape(args[0]), filling))
            return
        is_declared = isinstance(callee, (ir.Declared, ir.Applied, ir.Derived))
        if not is_declared and not found.known:
            value = VARYING
            for arg in args:
                self._fill(arg, VARYING, VARYING)
        elif not found.confined and call.targets and not is_declared and not found.pure:
            value = max(value, FLOATS) if not any(map(_is_opaque_atom, args)) else VARYING
        for place in found.writes:
            if place < len(args):
                others = [arg for number, arg in enumerate(args) if number != place]
                level = max(map(self.value, others), default=FIXED)
                items = [arg for arg in others if ir.may_vary(type_of_atom(arg))]
                counts = [self.value(arg) for arg in others if arg not in items]
                shape = max(*map(self.shape, items), *counts, around, FIXED)
                self._fill(args[place], max(level, around), shape)
        self._results(call, value, self._shape_of(call, args, value))

    def _shape_of(self, call: ir.Call, args: Sequence[ir.Atom], value: int) -> int:
        """The level of the shapes of what a call gives; takes down what decides on its sets."""
        rule = None if isinstance(call.callee, (ir.Declared, ir.Applied, ir.Derived)) else rule_for(call.callee)
        shape = max(map(self.shape, args), default=FIXED)
        roles = roles_of(call, is_container)
        if roles is not None:
            kept = [self.value(arg) for arg, role in zip(call.args, roles, strict=True) if role == "same"]
            return max([shape, *kept])
        if _is_elementwise(call) or (rule is not None and kind_of(rule) == "elementwise"):
            return shape
        if isinstance(rule, (Elementwise, Linear, Bilinear, General)) and call.callee is not np.arange:
            settings = [self.value(arg) for arg in args if not ir.may_vary(type_of_atom(arg))]
            level = max(settings, default=FIXED)
            self._steers(level, f"an argument of {rule.name}", call.span)
            return max(shape, level)
        if isinstance(call.callee, (ir.Declared, ir.Derived)):
            return max(shape, value) if any(isinstance(target.type, ir.Array) for target in call.targets) else shape
        return max(shape, value)

    def _results(self, call: ir.Call, value: int, shape: int) -> None:
        for target in targets_of(call):
            is_number = isinstance(target.type, ir.Scalar)
            self._hold(target, value, FIXED if is_number else shape)
            if not is_number and isinstance(target.type, ir.Array):
                self._steers(shape, "the shape of an array", call.span)


def _is_elementwise(call: ir.Call) -> bool:
    """Whether the result has the common shape of the arguments, as far as it is known without a rule."""
    callee = call.callee
    if isinstance(callee, np.ufunc) or callee in (either, np.round, np.around, np.fix):
        return True
    return callee in _OPERATORS and not any(map(is_container, call.args))


def _is_opaque(type_: ir.Type | None) -> bool:
    return not isinstance(type_, (ir.Scalar, ir.Array, ir.List, ir.Dict, ir.Instance, ir.Tuple))


def _is_opaque_atom(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and _is_opaque(atom.type)
