"""From array statements to nodes: what each does to the elements of which axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from adjoint import ir
from adjoint.analysis.memory.alias import Aliases
from adjoint.native.fusion.nodes.complexes import is_complex, part_of_numbers
from adjoint.native.fusion.nodes.composites import COMPOSITES, reduction_of
from adjoint.native.fusion.nodes.recipes import REDUCTIONS, is_number, recipe_for
from adjoint.native.fusion.nodes.terms import (
    START,
    Axis,
    CannotCompose,
    Dims,
    Extent,
    Hollow,
    Map,
    Node,
    Operand,
    Place,
    Places,
    Recipe,
    Reduce,
    Write,
    composed,
)
from adjoint.native.fusion.nodes.views import View, selection, view_of
from adjoint.native.fusion.scalars import dtype_of_target, is_supported, rank_of
from adjoint.native.fusion.shapes import Shapes
from adjoint.types.classes.safe_lookups import found_in


class Recognizer:
    """Reads the statements of one segment in order."""

    def __init__(self, shapes: Shapes, aliases: Aliases) -> None:
        self.shapes = shapes
        self.aliases = aliases
        self.views: dict[ir.Var, View] = {}
        self.order = 0
        self.nodes: list[Node] = []

    def read(self, statement: ir.Statement) -> list[Node] | None:
        """The nodes of a statement; None where it has to stay as it is. Views have no nodes."""
        self.order += 1
        self.nodes = []
        try:
            return self.nodes if self._statement(statement) else None
        except CannotCompose:
            return None

    def _statement(self, statement: ir.Statement) -> bool:
        match statement:
            case ir.Store(base=ir.Var() as base):
                return self._store(statement, base)
            case ir.Call(targets=(target,)) | ir.Load(target=target):
                if (part := part_of_numbers(statement)) is not None:
                    return self._part(target, *part)
                view = view_of(statement, self.shapes)
                if view is not None:
                    return self.add_view(target, view)
                return isinstance(statement, ir.Call) and self._call(statement, target)
            case _:
                return False

    # Views

    def add_view(self, target: ir.Var, view: View) -> bool:
        base = self.views.get(view.base)
        if base is not None:
            places = _through(base, view.places)
            view = View(base.base, view.axes, places, view.dims)
        self.views[target] = view
        self.shapes.bind(target, view.dims)
        return True

    def operand(self, atom: ir.Atom, places: Places) -> Operand:
        """An element of an array, or of the array of which it is a view."""
        view = self.views.get(atom) if isinstance(atom, ir.Var) else None
        return Operand(atom, places) if view is None else Operand(view.base, _through(view, places))

    def _part(self, target: ir.Var, function: Any, base: ir.Var) -> bool:
        """The real or the imaginary parts: a view, whose elements are computed where nobody can tell."""
        return not self.aliases.is_written(base) and self.map(target, function, (base,))

    # Calls

    def _call(self, call: ir.Call, target: ir.Var) -> bool:
        if not is_supported(target.type):
            return False
        composite = found_in(COMPOSITES, call.callee)
        if found_in(REDUCTIONS, call.callee) is not None:
            composite = reduction_of(call.callee)
        if composite is None:
            return not call.kwargs and self.map(target, call.callee, call.args)
        try:
            arguments = signature(composite).bind(self, target, *call.args, **dict(call.kwargs))
        except TypeError:
            return False
        return bool(composite(*arguments.args, **arguments.kwargs))

    def map(self, target: ir.Var, callee: Any, args: Sequence[ir.Atom]) -> bool:
        """An element-wise call."""
        found = recipe_for(callee, args, dtype_of_target(target))
        return found is not None and self.apply(target, args, *found)

    def apply(self, target: ir.Var, args: Sequence[ir.Atom], recipe: Recipe, cost: int) -> bool:
        """A recipe for arguments that are broadcast."""
        shapes = [self.shapes.of(arg) for arg in args]
        known = [shape for shape in shapes if shape is not None]
        if len(known) < len(shapes) or not any(known) or not isinstance(target.type, ir.Array):
            return False
        return self.spread(target, self.shapes.broadcast(known, self.order), args, recipe, cost)

    def spread(self, target: ir.Var, dims: Dims, args: Sequence[ir.Atom | Extent], recipe: Recipe, cost: int) -> bool:
        """A recipe for arguments that are broadcast to ``dims``."""
        if rank_of(target) != len(dims) or self._needs_layout(target):
            return False
        axis_of = _axes(dims)
        operands = []
        for arg in args:
            if isinstance(arg, Extent):
                operands.append(Operand(arg))
                continue
            shape = self.shapes.of(arg)
            assert shape is not None
            operands.append(self.operand(arg, _aligned(shape, axis_of)))
        self.shapes.bind(target, dims)
        self.nodes.append(
            Map(
                order=self.order,
                axes=_present(axis_of),
                operands=tuple(operands),
                target=target,
                dtype=dtype_of_target(target),
                axis_of=axis_of,
                recipe=recipe,
                cost=cost,
            )
        )
        return True

    def hollow(self, target: ir.Var, dims: Dims) -> bool:
        """An array of which only the shape counts."""
        if rank_of(target) != len(dims):
            return False
        self.shapes.bind(target, dims)
        extents = tuple(Operand(extent) for extent in dims if extent is not None)
        dtype = dtype_of_target(target)
        self.nodes.append(Hollow(order=self.order, axes=(), operands=extents, target=target, dtype=dtype, dims=dims))
        return True

    def _needs_layout(self, target: ir.Var) -> bool:
        """Whether what is made of an array may be a view or a copy, as its layout in memory has it."""
        return rank_of(target) > 1 and self.aliases.is_written(target)

    # Reductions

    def reduced_axes(self, x: ir.Atom, axis: ir.Atom) -> frozenset[int] | None:
        """The axes that a reduction goes over; None where that is not known."""
        shape = self.shapes.of(x)
        if not shape or not isinstance(axis, ir.Const):
            return None
        value = axis.value
        axes = range(len(shape)) if value is None else value if isinstance(value, tuple) else (value,)
        if not all(type(place) is int and -len(shape) <= place < len(shape) for place in axes):
            return None
        return frozenset(place % len(shape) for place in axes)

    def reduce(
        self, target: ir.Var, x: ir.Atom, axes: frozenset[int], keepdims: bool, combine: Callable[..., Any], start: Any
    ) -> bool:
        """The elements of ``x`` combined along axes."""
        shape = self.shapes.of(x)
        assert shape is not None
        axis_of = _axes(shape)
        kept = [None if place in axes else axis for place, axis in enumerate(axis_of) if keepdims or place not in axes]
        dims = tuple(None if axis is None else axis.extent for axis in kept)
        has_one_layout = len(_present(kept)) < 2
        if rank_of(target) != len(dims) or (self._needs_layout(target) and not has_one_layout):
            return False
        self.shapes.bind(target, dims)
        self.nodes.append(
            Reduce(
                order=self.order,
                axes=_present(axis_of),
                operands=(self.operand(x, _aligned(shape, axis_of)),),
                target=target,
                dtype=dtype_of_target(target),
                axis_of=tuple(kept),
                combine=combine,
                start=start,
            )
        )
        return True

    # Stores

    def _store(self, store: ir.Store, base: ir.Var) -> bool:
        dims, value = self.shapes.of(base), self.shapes.of(store.value)
        if not is_supported(base.type) or not dims or value is None or store.mode == "add_at":
            return False
        if self.aliases.of(store.value) == self.aliases.of(base):
            return False  # element by element, it would read what it has written
        assert isinstance(base.type, ir.Array) and base.type.dtype is not None
        dtype = base.type.dtype
        items = store.key.items if isinstance(store.key, ir.Subscript) else ()
        target = selection(base, items, self.shapes, store)
        if isinstance(store.key, ir.Attribute) or not is_number(store.value) or target is None:
            return False
        if dtype.kind not in "fc" or (is_complex(store.value) and dtype.kind != "c"):
            return False
        if not any(target.axes) or not self._fits(value, target.dims):
            return False
        known = self.views.get(base)
        if known is not None:
            target = View(known.base, target.axes, _through(known, target.places), target.dims)
        self.nodes.append(
            Write(
                order=self.order,
                axes=_present(target.axes),
                operands=(self.operand(store.value, _aligned(value, target.axes)),),
                store=store,
                base=target.base,
                places=target.places,
                dtype=dtype,
            )
        )
        return True

    def _fits(self, value: Dims, extents: Dims) -> bool:
        """Whether what is stored into a selection fits; False also where only the program can tell."""
        if len(value) > len(extents):
            return False
        for mine, theirs in zip(value, extents[len(extents) - len(value) :], strict=True):
            if mine is None or (theirs is not None and mine.find() is theirs.find()):
                continue
            if theirs is None:
                return False
            if mine.find().may_be_one:
                self.shapes.require_fit(mine, theirs, self.order)
            else:
                self.shapes.equate(theirs, mine, self.order)
        return True


def _through(view: View, places: Places) -> Places:
    """Where in the base of a view the elements at places in the view lie."""
    via = {axis: place for axis, place in zip(view.axes, places, strict=True) if axis is not None}
    return tuple(composed(place, via) for place in view.places)


def _axes(dims: Dims) -> tuple[Axis | None, ...]:
    return tuple(None if extent is None else Axis(extent) for extent in dims)


def _present(axes: Sequence[Axis | None]) -> tuple[Axis, ...]:
    return tuple(axis for axis in axes if axis is not None)


def _aligned(shape: Dims, axis_of: Sequence[Axis | None]) -> Places:
    """Where an element of an array that is broadcast along axes lies in it."""
    places = []
    for extent, axis in zip(shape, axis_of[len(axis_of) - len(shape) :], strict=True):
        if extent is None or axis is None:
            places.append(START)
        elif extent.find() is axis.extent.find():
            places.append(Place(axis))
        else:
            places.append(Place(axis, step=extent if extent.find().may_be_one else None))
    return tuple(places)
