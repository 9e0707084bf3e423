"""The extents of arrays, as terms: which arrays have one shape, whatever it is when the program runs.

An extent is a term over the extents of arrays whose making is not looked into: ``u[1:-1]`` has the extent of ``u``
less two, and so has ``u[2:]``. Terms that are equal are equal numbers, as long as the variables in them have the
values that they had when the terms were made: a term that leaves a loop names nothing that the loop binds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.joins import is_undefined
from adjoint.analysis.shapes.linear_indices import Linear
from adjoint.analysis.shapes.same_shape import is_by_elements, like_argument
from adjoint.analysis.shapes.selected_shapes import is_mask, selected_shape
from adjoint.analysis.shapes.shape_rules import displayed_shape, reduced_shape, told_shape, total_extent
from adjoint.analysis.shapes.taped_shapes import Shape, TapedShapes
from adjoint.analysis.shapes.terms import (
    ONE,
    Extent,
    as_extent,
    as_number,
    broadcast,
    names,
    replaced,
    substituted,
)
from adjoint.analysis.shapes.window_extents import WholeNumbers
from adjoint.ir.join import is_whole_number, type_of_atom
from adjoint.ir.walk import blocks_of, defined_by, defined_in, leaves
from adjoint.rules.registry import exchanges, rule_for
from adjoint.runtime import display
from adjoint.runtime.arithmetic import bundles, fused_loops
from adjoint.runtime.array_functions import arrays
from adjoint.runtime.array_functions.sequences import array_of

_PRODUCTS = (operator.matmul, np.matmul, arrays.empty_product)
_OF_A_SHAPE = (np.zeros, np.ones, np.empty, arrays.without_elements, bundles.zero_bundles, bundles.no_bundles_yet)
_REDUCTIONS = (
    *(np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.any, np.all, np.count_nonzero),
    *(np.nansum, np.nanmean, np.nanmax, np.nanmin, np.median, np.linalg.norm),
)
_MOST_TAPES = 4
"""So many tapes are looked through of which one is filled from the other."""
Shapes = tuple["Shape | None", ...]
_LAYOUT = ("dtype", "order")
"""Keywords that leave a shape as it is."""


def are_of_one_shape(one: ir.Atom, other: ir.Atom, extents: Callable[[], Extents]) -> bool:
    """Whether two arrays that are combined by elements have one shape and one dtype: by their types, or by terms."""
    mine, theirs = (getattr(atom, "type", None) for atom in (one, other))
    if not isinstance(mine, ir.Array) or not isinstance(theirs, ir.Array):
        return False
    if not ir.same_dtype(mine.dtype, theirs.dtype):
        return False
    if mine.dims == theirs.dims and mine.dims and all(dim == "many" for dim in mine.dims):
        return True
    return bool(extents().alike(one, other))


class Extents:
    """The shapes of the arrays of one function."""

    def __init__(self, function: ir.Function, called: dict[ir.Function, Shapes] | None = None) -> None:
        self.called = {} if called is None else called
        """The shapes of what functions give that are called, in terms of their parameters; none yet while in them."""
        self.shapes: dict[ir.Var, Shape] = {}
        self.tuples: dict[ir.Var, Shape] = {}
        self.whole = WholeNumbers()
        self.parts: dict[ir.Var, tuple[ir.Atom, ...]] = {}
        self.inner: dict[int, set[ir.Var]] = {}
        self.body = function.body
        self.tapes = TapedShapes(function.body)
        self.selected: dict[int, Shape | None] = {}
        self.decided: dict[ir.Atom, dict[Extent, tuple[Extent | None, ...]]] = {}
        """What extents behind a branch are on its paths, by its condition."""
        self.unset: dict[ir.Var, bool] = {}
        """What loops carry that is undefined before them, until its shape is known; whether a loop inside asked."""
        self.masks: dict[ir.Atom, Extent] = {}
        """How many elements a mask selects, of masks that are taken from tapes."""
        for param in function.params:
            self.name(param)
        self.block(function.body)
        for _ in range(_MOST_TAPES):
            if self.tapes.settle():
                break
            self.forget(defined_in(function.body))
            self.block(function.body)

    def of(self, atom: ir.Atom) -> Shape | None:
        """The extents of an array or number; None where not even the rank is known."""
        if isinstance(atom, ir.Const):
            return () if isinstance(atom.value, (bool, int, float, complex)) else None
        if not isinstance(atom, ir.Var):
            return None
        return () if isinstance(atom.type, ir.Scalar) else self.shapes.get(atom)

    def selection(self, statement: ir.Load | ir.Store) -> Shape | None:
        """The shape of the part of an array that a statement reads or writes."""
        return self.selected.get(id(statement))

    def alike(self, one: ir.Atom, other: ir.Atom) -> Shape | None:
        """The shape that two arrays of one dtype have in common; None where that is not known."""
        mine, theirs = (getattr(atom, "type", None) for atom in (one, other))
        if (
            not isinstance(mine, ir.Array)
            or not isinstance(theirs, ir.Array)
            or not ir.same_dtype(mine.dtype, theirs.dtype)
        ):
            return None
        shape = self.of(one)
        return shape if shape == self.of(other) else None

    def name(self, var: ir.Var) -> None:
        """Gives an array extents of its own."""
        if isinstance(var.type, ir.Array) and var.type.dims is not None:
            self.shapes[var] = tuple(
                ONE if dim == "one" else ("extent", var, axis) for axis, dim in enumerate(var.type.dims)
            )

    def bind(self, var: ir.Var, shape: Shape | None) -> None:
        if not isinstance(var.type, ir.Array):
            return
        if shape is None or (var.type.dims is not None and len(var.type.dims) != len(shape)):
            self.name(var)
        else:
            self.shapes[var] = shape

    def forget(self, variables: Iterable[ir.Var]) -> None:
        """Drops what was found of variables under assumptions that did not hold."""
        for var in variables:
            for known in (self.shapes, self.tuples, self.parts, self.masks):
                known.pop(var, None)
            self.whole.drop(var)

    def agree(self, call: ir.Call) -> None:
        """Takes note of extents, and whole numbers, that are others and so much more."""

        def number(source: fused_loops.Source) -> Linear:
            place, axis = source
            shape = self.of(call.args[place])
            return self.whole.of(call.args[place]) if axis is None or shape is None else as_number(shape[axis])

        for one, other, more in _value_of(call, "among"):
            self.unite(number(one), Linear(more) if other is None else number(other).plus(Linear(more)))

    def unite(self, mine: Linear, value: Linear) -> None:
        """Takes note that an extent, or a whole number, is another number."""
        if mine.constant or list(mine.terms.values()) != [1] or mine.terms.keys() & value.terms.keys():
            return
        (symbol,) = mine.terms
        self.whole.replace(symbol, value)
        term = as_extent(value)
        for known in (self.shapes, self.tuples):
            known.update(
                {
                    var: tuple(term if part == symbol else part for part in shape)
                    for var, shape in known.items()
                    if symbol in shape
                }
            )

    # Statements

    def block(self, block: ir.Block) -> None:
        counted = self.whole.counted
        for statement in block.statements:
            self.statement(statement)
        if isinstance(block.terminator, ir.Branch):
            self.block(block.terminator.then)
            self.block(block.terminator.orelse)
        self.whole.forget(counted)

    def statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Call(targets=targets, callee=ir.Definition(function=ir.Function() as callee), args=args):
                given = self.given_by(callee, args) or (None,) * len(targets)
                for target, shape in zip(targets, given, strict=True):
                    parts = enumerate(shape or ())
                    own = tuple([("extent", target, axis) if part is None else part for axis, part in parts])
                    self.bind(target, None if shape is None else own)
            case ir.Call(targets=(target,)):
                self.bind(target, self.result(statement))
                self.measure(statement, target)
            case ir.Call(callee=fused_loops.extents_agree):
                self.agree(statement)
            case ir.Call(callee=list.append, args=(ir.Var() as tape, value)) if tape in self.tapes:
                self.fill(tape, value)
            case ir.Call(targets=(target, *others)) if shape_in_arguments(statement) is not None:
                self.bind(target, self.result(statement))
                for other in others:
                    self.name(other)
            case ir.Call(targets=targets):
                for target in targets:
                    self.name(target)
            case ir.Load(target=target, base=base, key=key):
                self.selected[id(statement)] = shape = self.loaded(base, key)
                self.bind(target, shape)
                if is_mask(target) and (count := self.tapes.mask(base, key)) is not None:
                    self.masks[target] = count
                self.measure_part(target, base, key)
            case ir.Store(base=ir.Var() as tape, value=value) if tape in self.tapes:
                self.fill(tape, value)
            case ir.Store(base=base, key=ir.Subscript() as key):
                self.selected[id(statement)] = self.loaded(base, key)
            case ir.If() | ir.Guarded():
                for place, block in enumerate(blocks_of(statement)):
                    with self.on_path(statement, place):
                        self.block(block)
                self.join(statement)
            case ir.Loop():
                self.loop(statement)

    def result(self, call: ir.Call) -> Shape | None:
        callee, args = call.callee, call.args
        if callee in _REDUCTIONS:
            return reduced_shape(self, call)
        if not args:
            return None
        if any(name not in _LAYOUT for name, _ in call.kwargs):
            return told_shape(self, call)
        if callee is list.pop and isinstance(args[0], ir.Var):
            return self.tapes.of_item(args[0], None)
        place = like_argument(call)
        if place is not None:
            return self.of(args[place]) if place < len(args) else None
        given = shape_in_arguments(call)
        if given is not None:
            return self.made(given)
        if callee in _OF_A_SHAPE:
            return self.made(args[0])
        if callee is np.indices and len(args) == 1:
            return None if (size := self.made(args[0])) is None else (len(size), *size)
        if callee is array_of and all(isinstance(type_of_atom(leaf), ir.Scalar) for leaf in args[1:]):
            return displayed_shape(args[0])
        if callee in _PRODUCTS and len(args) == 2:
            return self.product(*args)
        if is_by_elements(call):
            return self.broadcast([self.of(arg) for arg in args])
        return told_shape(self, call)

    def given_by(self, callee: ir.Function, args: Sequence[ir.Atom]) -> Shapes:
        """The shapes of what a function gives that stays one."""
        if callee not in self.called:
            self.called[callee] = ()
            self.called[callee] = Extents(callee, self.called).given()
        known: dict[Extent, Linear] = {}
        for param, arg in zip(callee.params, args, strict=True):
            if param.type == ir.INT:
                known["number", param] = self.whole.of(arg)
            elif isinstance(param.type, ir.Array):
                known.update({("extent", param, axis): as_number(part) for axis, part in enumerate(self.of(arg) or ())})
        return tuple([_of_shape(shape, known) for shape in self.called[callee]])

    def given(self) -> Shapes:
        """The shapes of what the function itself gives."""
        ends = [end.values for end in leaves(self.body) if isinstance(end, ir.Return)]
        columns = ({self.of(atom) for atom in column} for column in zip(*ends, strict=True))
        return tuple([column.pop() if len(column) == 1 else None for column in columns])

    def product(self, a: ir.Atom, b: ir.Atom) -> Shape | None:
        """The shape of a product of vectors and matrices."""
        left, right = self.of(a), self.of(b)
        if left is None or right is None or not (0 < len(left) < 3 and 0 < len(right) < 3):
            return None
        return left[:-1] + right[1:]

    def measure(self, call: ir.Call, target: ir.Var) -> None:
        """Remembers what calls tell of extents."""
        shape = self.of(call.args[0]) if call.args else None
        if call.callee is np.shape and shape is not None:
            self.tuples[target] = shape
        elif call.callee is len and shape:
            self.whole.name(target, shape[0])
        elif call.callee is np.size and len(call.args) == 1 and shape and (count := total_extent(shape)) is not None:
            self.whole.name(target, count)
        elif call.callee is display.make_tuple and all(map(is_whole_number, call.args)):
            self.tuples[target] = tuple(map(self.number, call.args))
            self.parts[target] = call.args
        elif call.callee is operator.add and isinstance(target.type, ir.Tuple):
            if None not in (sides := [self.made(arg) for arg in call.args]):
                self.tuples[target] = sum(filter(None, sides), ())
        elif target.type == ir.INT:
            self.whole.compute(call, target)

    def measure_part(self, target: ir.Var, base: ir.Atom, key: ir.Key) -> None:
        if not isinstance(base, ir.Var):
            return
        if base in self.tuples and isinstance(key, ir.Subscript) and len(key.items) == 1:
            place = getattr(key.items[0], "value", None)
            known = self.tuples[base]
            if type(place) is int and -len(known) <= place < len(known):
                self.whole.name(target, known[place])

    def number(self, atom: ir.Atom) -> Extent:
        """The term of a whole number that is not negative."""
        if isinstance(atom, ir.Const):
            return atom.value  # type: ignore[no-any-return]
        return self.whole.extent(atom)

    def made(self, size: ir.Atom) -> Shape | None:
        if isinstance(size, ir.Var) and size in self.tuples:
            for part in self.parts.get(size, ()):
                self.whole.count(part)
            return self.tuples[size]
        match size:
            case ir.Const(value=int() as count):
                return (count,)
            case ir.Const(value=tuple() as counts) if all(isinstance(count, int) for count in counts):
                return counts
            case ir.Var(type=ir.Scalar(kind="int")):
                self.whole.count(size)
                return (self.number(size),)
            case _:
                return None

    def broadcast(self, parts: Sequence[Shape | None]) -> Shape | None:
        """The shape of an element-wise result."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        rank = max(map(len, known))
        columns = zip(*((ONE,) * (rank - len(part)) + part for part in known), strict=True)
        return tuple(broadcast(column) for column in columns)

    def loaded(self, base: ir.Atom, key: ir.Key) -> Shape | None:
        if isinstance(base, ir.Var) and base in self.tapes:
            return self.tapes.of_item(base, key)
        shape = self.of(base)
        if not isinstance(key, ir.Subscript) or shape is None or not isinstance(base, ir.Var):
            return None
        if not isinstance(base.type, ir.Array):
            return None
        return selected_shape(self, shape, key.items)

    def fill(self, tape: ir.Var, value: ir.Atom) -> None:
        is_array = isinstance(value, ir.Var) and isinstance(value.type, ir.Array)
        self.tapes.fill(tape, self.of(value) if is_array else None)

    # Where paths meet

    def join(self, statement: ir.If | ir.Guarded) -> None:
        """Extents that are one on each path are one behind it: of what a path leaves undefined nothing is asked."""
        yields = [leaf.values for b in blocks_of(statement) for leaf in leaves(b) if isinstance(leaf, ir.Yield)]
        known: dict[tuple[Extent | None, ...], Extent] = {}
        for place, target in enumerate(statement.targets):
            if isinstance(target.type, ir.Array):
                handed = [values[place] if place < len(values) else ir.UNDEFINED for values in yields]
                self.bind(target, self.joined(target, handed, known))
        if isinstance(statement, ir.If) and isinstance(type_of_atom(statement.cond), ir.Scalar):
            decided, targets = self.decided.setdefault(statement.cond, {}), set(statement.targets)
            for extent in [extent for extent in decided if names(extent, targets)]:
                del decided[extent]
            decided.update({extent: column for column, extent in known.items() if len(column) == 2})

    @contextmanager
    def on_path(self, statement: ir.Statement, place: int) -> Iterator[None]:
        """On a path of a branch, takes extents behind another branch on that condition for what they are there."""
        decided = self.decided.get(statement.cond) if isinstance(statement, ir.If) else None
        if not decided:
            yield
            return
        here = {extent: column[place] for extent, column in decided.items()}
        before = dict(self.shapes)
        self.shapes.update({var: tuple([replaced(extent, here) for extent in shape]) for var, shape in before.items()})
        yield
        self.shapes.update(before)

    def joined(
        self, target: ir.Var, handed: Sequence[ir.Atom], known: dict[tuple[Extent | None, ...], Extent]
    ) -> Shape | None:
        """The shape of what is one of several arrays; with it are ``known`` extents by what they are on each path."""
        shapes = [self.of(atom) for atom in handed]
        defined = [shape for atom, shape in zip(handed, shapes, strict=True) if not is_undefined(atom)]
        if not defined or None in defined or len({len(shape) for shape in defined if shape is not None}) > 1:
            return None
        result: list[Extent] = []
        for axis in range(len(defined[0] or ())):
            column = tuple([None if shape is None else shape[axis] for shape in shapes])
            one = {extent for extent in column if extent is not None}
            result.append(one.pop() if len(one) == 1 else known.setdefault(column, ("extent", target, axis)))
        return tuple(result)

    def loop(self, loop: ir.Loop) -> None:
        """Assumes that what a loop carries keeps its shape, and looks again without what does not."""
        inner, counted = self.bound_in(loop), self.whole.counted
        self.whole.enter(loop)
        known = [None if self.is_unset(init) else self.of(init) for init in loop.inits]
        fixed = [not self.is_unset(init) for init in loop.inits]
        waiting = [not holds for holds in fixed]
        while True:
            self.forget(inner)
            self.tapes.enter(loop, self.whole)
            unset = {param: False for param, waits in zip(loop.params, waiting, strict=True) if waits}
            self.unset |= unset
            for param, shape, holds in zip(loop.params, known, fixed, strict=True):
                self.bind(param, shape if holds else None)
            self.block(loop.body)
            asked = True in [self.unset.pop(param) for param in unset]
            handed_on = [leaf.values for leaf in leaves(loop.body) if isinstance(leaf, ir.Continue)]
            after = list(fixed)
            for place, holds in enumerate(fixed):
                found = {self.of(values[place]) for values in handed_on}
                if holds:
                    after[place] = found <= {known[place]}
                elif waiting[place] and len(found) == 1:  # each iteration is given what the one before makes
                    waiting[place] = False
                    known[place] = found.pop()
                    after[place] = known[place] is not None and not names(known[place], inner)
            if after == fixed:
                if not asked:
                    break
                waiting = [False] * len(waiting)  # what was taken for unset in loops inside is not
            fixed = after
        exits = [leaf.values for leaf in leaves(loop.body) if isinstance(leaf, ir.Exit)]
        for place, target in enumerate(loop.targets):
            found = {self.of(values[place]) for values in exits}
            if place < len(loop.params):
                found.add(self.of(loop.params[place]))
            shape = found.pop() if len(found) == 1 else None
            self.bind(target, shape if shape is None or not names(shape, inner) else None)
        self.tapes.leave(inner)
        self.whole.forget(counted)

    def is_unset(self, init: ir.Atom) -> bool:
        """Whether a loop begins with nothing, or with what a loop around it begins with nothing."""
        if isinstance(init, ir.Var) and init in self.unset:
            self.unset[init] = True
            return True
        return init == ir.UNDEFINED

    def bound_in(self, loop: ir.Loop) -> set[ir.Var]:
        found = self.inner.get(id(loop))
        if found is None:
            found = self.inner[id(loop)] = {*defined_by(loop), *self.tapes.shared_index(loop)}
        return found


def _of_shape(shape: Shape | None, known: Mapping[Extent, Linear]) -> tuple[Extent | None, ...] | None:
    return None if shape is None else tuple([substituted(extent, known) for extent in shape])


def _value_of(call: ir.Call, name: str) -> Any:
    value = dict(call.kwargs)[name]
    assert isinstance(value, ir.Const)
    return value.value


def shape_in_arguments(call: ir.Call) -> ir.Atom | None:
    """The argument that is the shape of the first result, where a rule says so."""
    if not exchanges(call.callee):
        return None
    rule = rule_for(call.callee)
    return None if rule is None or rule.shaped_by is None else call.args[rule.shaped_by]


__all__ = ["Extents", "Shape"]
