"""The parameters of a structure: where its numbers and float arrays lie."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from adjoint.diagnostics import error
from adjoint.keypaths import KeyPath, WritableKeyPath
from adjoint.keypaths.steps import Field, Item, Step
from adjoint.runtime.tangents import zero_tangent
from adjoint.types.differentiable import is_frozen, own_moved
from adjoint.types.structure import (
    field_names,
    float_fields,
    is_container,
    is_float_array,
    is_namedtuple,
    is_number,
    is_object,
    memberwise,
    stored_fields,
)
from adjoint.types.vectors import Fields, tangent_class

_SMALL = 2048
"""Up to how many elements the calls for an array take more time than the elements."""


_LONG = 32
"""From how many numbers on a list is run through, rather than written out."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number or an array of a structure.

    Attributes
    ----------
    steps
        The way to it.
    type
        The class of the number, or ``numpy.ndarray``.
    dtype, shape
        Those of an array; for a number, the dtype it would have in one, and None.
    held_by_immutable
        Whether a tuple or a frozen dataclass holds it, so that it cannot be written in place.
    point
        The way to the point of a curved space that it is a coordinate of: the point can only be moved.
    """

    steps: tuple[Step, ...]
    type: type
    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None
    held_by_immutable: bool
    point: tuple[Step, ...] | None = None

    @property
    def path(self) -> str:
        """How one writes the way to it: ``.layers[0].weight``."""
        return "".join(map(str, self.steps))

    @property
    def key_path(self) -> KeyPath[Any, Any]:
        """The way to it, as a key path."""
        return (KeyPath if self.held_by_immutable else WritableKeyPath)(self.steps)

    @property
    def is_array(self) -> bool:
        return self.shape is not None

    @property
    def size(self) -> int:
        """The number of its elements."""
        return math.prod(self.shape or ())

    def filled(self, value: float) -> Any:
        """A number or array of the same kind, of which each element has one value."""
        return np.full(self.shape, value, self.dtype) if self.shape is not None else self.type(value)

    def converted(self, value: Any) -> Any:
        """A copy of a value that may stand for it, of the same kind."""
        return np.array(value, self.dtype) if self.shape is not None else self.type(value)

    def __str__(self) -> str:
        kind = self.type.__name__ if self.shape is None else f"an array of {self.dtype} with shape {self.shape}"
        return f"{kind} at {self.path}" if self.steps else kind

    def fits(self, value: Any) -> bool:
        """Whether a value may stand for it: a number for a number, an array of the same shape for an array."""
        if self.shape is None:
            return is_number(value) or (isinstance(value, int) and not isinstance(value, bool))
        return isinstance(value, (np.ndarray, np.generic)) and value.shape == self.shape and value.dtype.kind in "fc"


class Leaves(list[Any]):
    """The parameters of a structure, or tangents of them, in order: a short form of the structure.

    Attributes
    ----------
    layout
        What they are the parameters of.
    packs
        For each pack of the layout, the memory that all its arrays lie in, one after the other; or nothing, where
        they lie elsewhere.
    """

    def __init__(
        self,
        layout: Layout,
        values: Iterator[Any] | Sequence[Any],
        packs: Sequence[np.ndarray[Any, Any]] = (),
    ) -> None:
        super().__init__(values)
        self.layout = layout
        self.packs = tuple(packs)

    def assign(self, values: Sequence[Any]) -> None:
        """Takes over other values; arrays stay where they are."""
        for place, value in enumerate(values):
            if isinstance(self[place], np.ndarray):
                self[place][...] = value
            else:
                self[place] = value


class Places(frozenset[int]):
    """Some of the parameters of a structure, by their places in its layout."""

    def __new__(cls, layout: Layout, places: Iterable[int]) -> Places:
        return super().__new__(cls, places)

    def __init__(self, layout: Layout, places: Iterable[int]) -> None:
        self.layout = layout

    def __reduce__(self) -> tuple[Any, ...]:
        return Places, (self.layout, sorted(self))


class Layout:
    """The parameters of a structure, in order: declared fields first, parents before their children.

    An array or an object that is reached on two ways counts once, where it is reached first; ``ties`` are the places
    of such arrays with the other ways to them. Two structures with the same parameters have equal layouts. Objects
    that say themselves how they move are points of a space that may be curved: ``points`` are the ways to them, each
    with the other ways to the same object; ``aliases`` are such pairs of ways for all objects.

    Parameters
    ----------
    x
        A number, an array, or a structure of tuples, lists, dicts and objects. Fields that are declared to carry no
        derivative are not entered; numbers that are not floats are no parameters, except in fields annotated
        ``float``.

    Examples
    --------
    >>> Layout({"weight": np.ones((2, 2)), "scale": 3.0, "name": "first"}).paths
    ("['weight']", "['scale']")
    """

    def __init__(self, x: Any) -> None:
        walk = _Walk()
        walk.visit(x, (), held_by_immutable=not isinstance(x, np.ndarray), counts=False)
        self.parameters: tuple[Parameter, ...] = tuple(walk.parameters)
        self.ties: tuple[tuple[int, tuple[Step, ...]], ...] = tuple(walk.ties)
        self.aliases: tuple[tuple[tuple[Step, ...], tuple[Step, ...]], ...] = tuple(walk.aliases)
        self.points: dict[tuple[Step, ...], list[tuple[Step, ...]]] = {
            point: [other for first, other in walk.aliases if first == point] for point in walk.points
        }
        self.nodes: tuple[tuple[tuple[Step, ...], Any], ...] = tuple(walk.nodes)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Layout) and self.parameters == other.parameters and self.ties == other.ties
        )

    def __hash__(self) -> int:
        return hash(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def paths(self) -> tuple[str, ...]:
        """The ways to the parameters, as text."""
        return tuple(parameter.path for parameter in self.parameters)

    @functools.cached_property
    def packs(self) -> tuple[tuple[int, ...], ...]:
        """The places of small arrays of one dtype, which are best updated together."""
        small: dict[np.dtype[Any], list[int]] = {}
        for place, parameter in enumerate(self.parameters):
            if parameter.shape is not None and 0 < parameter.size <= _SMALL and parameter.point is None:
                small.setdefault(parameter.dtype, []).append(place)
        return tuple(tuple(places) for places in small.values() if len(places) > 1)

    @functools.cached_property
    def runs(self) -> tuple[range, ...]:
        """The places of long lists that hold numbers of one type and nothing else."""
        runs = []
        for steps, node in self.nodes:
            if not isinstance(node, list) or len(node) < _LONG or len({*map(type, node)}) != 1:
                continue
            first = next((place for place, p in enumerate(self.parameters) if p.steps[:-1] == steps), None)
            if first is not None and not self.parameters[first].is_array and self.parameters[first].point is None:
                runs.append(range(first, first + len(node)))
        return tuple(runs)

    def filled(self, value: float) -> Leaves:
        """One value for all elements of all parameters."""
        values: list[Any] = [None] * len(self)
        packs = []
        for places in self.packs:
            sizes = [self.parameters[place].size for place in places]
            packs.append(np.full(sum(sizes), value, self.parameters[places[0]].dtype))
            for place, part in zip(places, np.split(packs[-1], np.cumsum(sizes)[:-1]), strict=True):
                values[place] = part.reshape(self.parameters[place].shape)
        for place, parameter in enumerate(self.parameters):
            if values[place] is None:
                values[place] = parameter.filled(value)
        return Leaves(self, values, packs)

    def leaves(self, x: Any) -> Leaves:
        """The parameters of another value of this structure; where a tangent has none, None."""
        return Leaves(self, [reach(x, parameter.steps) for parameter in self.parameters])

    def copied(self, x: Any) -> Leaves:
        """Copies of the parameters of another value or tangent of this structure; what a tangent lacks is zero."""
        problem = partner_problem(self, x)
        if problem is not None:
            raise error("AD0702", None, problem)
        found = zip(self.parameters, self.leaves(x), strict=True)
        return Leaves(self, [parameter.converted(0.0 if value is None else value) for parameter, value in found])

    def direction(self, x: Any, gradient: Any) -> Leaves:
        """The direction of steepest ascent at ``x``: what a gradient means where its parts are not all of that.

        Parts that belong to one array are added up. Where a class says by a method ``tangent_from`` what the tangent
        to its space is, it is asked.
        """
        problem = partner_problem(self, gradient)
        if problem is not None:
            raise error("AD0702", None, problem)
        parts = [{id(part): part} for part in self.leaves(gradient)]
        for place, steps in self.ties:
            part = reach(gradient, steps)
            parts[place][id(part)] = part
        totals = [sum(part for part in some.values() if part is not None) for some in parts]
        for point in self.points:
            holder, cotangent = reach(x, point), reach(gradient, point)
            own = getattr(type(holder), "tangent_from", None)
            if own is None or cotangent is None:
                continue
            tangent = own(holder, cotangent)
            for place, parameter in enumerate(self.parameters):
                if parameter.point == point:
                    totals[place] = reach(tangent, parameter.steps[len(point) :])
        return Leaves(self, totals)

    def rebuilt(self, x: Any, values: Sequence[Any]) -> Any:
        """A new value like ``x`` with these parameters; what is no parameter is taken over.

        It is made without any constructor of the user's. What ``x`` shares, the result shares.
        """
        return _Rebuild(values).visit(x, counts=False)


def reach(x: Any, steps: tuple[Step, ...]) -> Any:
    """The part of a value, or of a tangent, to which steps lead; None if it has none."""
    for step in steps:
        if x is None:
            return None
        x = getattr(x, step.name, None) if isinstance(step, Field) else _item(x, step.key)
    return x


def _item(x: Any, key: Any) -> Any:
    return x.get(key) if isinstance(x, dict) else x[key]


def is_immutable(x: Any) -> bool:
    """Whether nothing in ``x`` itself can be replaced."""
    return isinstance(x, tuple) or is_frozen(x)


def is_point(x: Any) -> bool:
    """Whether an object says itself how it moves."""
    return is_object(x) and not isinstance(x, Fields) and own_moved(type(x)) is not None


def point_moved(point: Any, moves: Sequence[Any]) -> Any:
    """A point in the direction whose coordinates are given; None is zero."""
    zero = zero_tangent(point)
    layout = Layout(zero)
    given = zip(layout.parameters, moves, strict=True)
    direction = [parameter.converted(0.0 if move is None else move) for parameter, move in given]
    move = own_moved(type(point))
    assert move is not None
    return move(point, layout.rebuilt(zero, direction))


def parts(x: Any) -> list[tuple[Any, Any, bool]]:
    """The parts of a container, and of each whether an integer there counts as a float."""
    if is_namedtuple(x):
        return [(Field(name), getattr(x, name), False) for name in x._fields]
    if isinstance(x, (tuple, list)):
        return [(Item(index), item, False) for index, item in enumerate(x)]
    if isinstance(x, dict):
        return [(Item(key), item, False) for key, item in x.items()]
    counted = float_fields(type(x))
    return [(Field(name), getattr(x, name), name in counted) for name in field_names(x)]


def is_parameter(x: Any, counts: bool) -> bool:
    """Whether ``x`` is a parameter; ``counts`` tells whether an integer is one."""
    if is_number(x) or is_float_array(x):
        return True
    return counts and isinstance(x, (int, np.integer)) and not isinstance(x, bool)


class _Walk:
    """One walk that lists parameters and containers."""

    def __init__(self) -> None:
        self.parameters: list[Parameter] = []
        self.nodes: list[tuple[tuple[Step, ...], Any]] = []
        self.ties: list[tuple[int, tuple[Step, ...]]] = []
        self.points: list[tuple[Step, ...]] = []
        self.aliases: list[tuple[tuple[Step, ...], tuple[Step, ...]]] = []
        self.point: tuple[Step, ...] | None = None
        self.seen: dict[int, tuple[Step, ...]] = {}
        self.arrays: dict[int, int] = {}

    def visit(self, x: Any, steps: tuple[Step, ...], *, held_by_immutable: bool, counts: bool) -> None:
        if is_parameter(x, counts):
            self.parameter(x, steps, held_by_immutable)
            return
        if not is_container(x):
            self.nodes.append((steps, x))
            return
        if not isinstance(x, tuple):
            first = self.seen.get(id(x))
            if first is not None:
                self.aliases.append((first, steps))
                return
            self.seen[id(x)] = steps
        self.nodes.append((steps, x))
        begins = self.point is None and is_point(x)
        if begins:
            self.point = steps
            self.points.append(steps)
        immutable = held_by_immutable if self.point is not None else is_immutable(x)
        for step, part, part_counts in parts(x):
            self.visit(part, (*steps, step), held_by_immutable=immutable, counts=part_counts)
        if begins:
            self.point = None

    def parameter(self, x: Any, steps: tuple[Step, ...], held_by_immutable: bool) -> None:
        if not isinstance(x, np.ndarray):
            kind = float if isinstance(x, (int, np.integer)) else type(x)
            self.parameters.append(Parameter(steps, kind, np.dtype(kind), None, held_by_immutable, self.point))
        elif id(x) in self.arrays and self.point is None:
            self.ties.append((self.arrays[id(x)], steps))
        else:
            if self.point is None:
                self.arrays[id(x)] = len(self.parameters)
            self.parameters.append(Parameter(steps, np.ndarray, x.dtype, x.shape, held_by_immutable, self.point))


class _Rebuild:
    """One walk that puts other parameters in the places of those that are there."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = iter(values)
        self.made: dict[int, Any] = {}

    def visit(self, x: Any, counts: bool) -> Any:
        if is_parameter(x, counts):
            if not isinstance(x, np.ndarray):
                return next(self.values)
            if id(x) not in self.made:
                self.made[id(x)] = next(self.values)
            return self.made[id(x)]
        if not is_container(x):
            return x
        if isinstance(x, tuple):
            items = [self.visit(part, counts) for _, part, counts in parts(x)]
            return type(x)(*items) if is_namedtuple(x) else tuple(items)
        if id(x) in self.made:
            return self.made[id(x)]
        result: Any
        if isinstance(x, list):
            result = self.made[id(x)] = []
            result.extend(self.visit(part, counts) for _, part, counts in parts(x))
        elif isinstance(x, dict):
            result = self.made[id(x)] = {}
            for step, part, part_counts in parts(x):
                result[step.key] = self.visit(part, part_counts)
        else:
            fields = {name: getattr(x, name) for name in stored_fields(x)}
            fields |= {step.name: self.visit(part, part_counts) for step, part, part_counts in parts(x)}
            result = self.made[id(x)] = memberwise(type(x), **fields)
        return result


def difference(layout: Layout, other: Layout) -> str | None:
    """What one structure has that another one has not; None if both have the same parameters."""
    for mine, theirs in zip_longest(layout.parameters, other.parameters):
        if mine != theirs:
            return f"there is {mine or 'nothing more'}, where there was {theirs or 'nothing more'}"
    return None if layout.ties == other.ties else "other arrays are one and the same"


def partner_problem(layout: Layout, partner: Any) -> str | None:
    """Why ``partner`` is no tangent of a structure, nor another value of it; None if it is.

    A tangent may lack parts, or have None in their places: they are zero.
    """
    for steps, node in layout.nodes:
        other = reach(partner, steps)
        problem = None if other is None else _node_problem(node, other)
        if problem is not None:
            return f"at {_text(steps)} {problem}"
    for parameter in layout.parameters:
        value = reach(partner, parameter.steps)
        if value is not None and not parameter.fits(value):
            return f"at {_text(parameter.steps)} there is {_described(value)} for {_kind_of(parameter)}"
    return None


def tie_problem(layout: Layout, partner: Any) -> str | None:
    """Why it is not clear what a partner has for an array that is reached on two ways; None if it is."""
    for place, steps in layout.ties:
        first = layout.parameters[place].steps
        if reach(partner, first) is not reach(partner, steps):
            return f"{_text(first)} and {_text(steps)} are one array, for which there are two"
    return None


def _node_problem(node: Any, other: Any) -> str | None:
    if not is_container(node):
        return f"there is {_described(other)} for {_described(node)}" if is_parameter(other, False) else None
    if isinstance(node, (tuple, list)):
        if not isinstance(other, (tuple, list)):
            return f"there is {_described(other)} for a {type(node).__name__}"
        return None if len(node) == len(other) else f"there are {len(other)} items for {len(node)}"
    if isinstance(node, dict):
        if not isinstance(other, dict):
            return f"there is {_described(other)} for a dict"
        extra = [key for key in other if key not in node]
        return f"there is a key {extra[0]!r} that the structure does not have" if extra else None
    if not _stands_for(other, node):
        return f"there is {_described(other)} for {_described(node)} or its tangent"
    known = field_names(node)
    extra = [name for name in vars(other) if name not in known] if isinstance(other, Fields) else []
    return f"there is a field {extra[0]!r} that the structure does not have" if extra else None


def _stands_for(other: Any, node: Any) -> bool:
    """Whether an object is of the class of another one, or of its tangents or variables."""
    cls = type(node)
    if type(other) in (cls, tangent_class(cls)):
        return True
    primal = cls.primal_class() if isinstance(node, Fields) else cls
    return isinstance(other, Fields) and issubclass(primal, other.primal_class())


def _text(steps: tuple[Step, ...]) -> str:
    return "".join(map(str, steps)) or "the top"


def _described(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"an array of {x.dtype} with shape {x.shape}"
    return f"a value of type '{type(x).__qualname__}'"


def _kind_of(parameter: Parameter) -> str:
    if parameter.shape is None:
        return "a number"
    return f"an array with shape {parameter.shape}"
