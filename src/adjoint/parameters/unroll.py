"""Updates of all parameters of a structure, written out as one straight-line function for each structure."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, overload

import numpy as np

from adjoint.codegen.texts import Emitted, load
from adjoint.diagnostics import error
from adjoint.dispatch.options import Native, resolve
from adjoint.parameters.formula import Formula, formula_of
from adjoint.parameters.fused import fused
from adjoint.parameters.guard import Guard
from adjoint.parameters.layout import (
    Layout,
    Leaves,
    Parameter,
    Places,
    difference,
    is_immutable,
    partner_problem,
    reach,
    tie_problem,
)
from adjoint.parameters.writing import Form, Writer

_MOST_PLANS = 64


class Plan:
    """An update that was written out for one structure."""

    def __init__(
        self,
        layout: Layout,
        emitted: Emitted,
        run: Callable[..., Any],
        fits: Callable[..., bool],
        takes: Sequence[str],
    ) -> None:
        self.layout = layout
        self.emitted = emitted
        self.run = run
        self.fits = fits
        self.numbers = _picker(takes)


def _picker(names: Sequence[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """Takes some values out of a dict, in order."""
    if not names:
        return lambda _: ()
    if len(names) == 1:
        (name,) = names
        return lambda values: (values[name],)
    return itemgetter(*names)


class Unrolled:
    """An update of one parameter, applied to all parameters of a structure; made by :func:`unrolled`."""

    def __init__(self, function: Callable[..., Any], native: Native = None, places: Places | None = None) -> None:
        self.function = function
        self.native = resolve(native, function)
        self._formula = formula_of(function)
        self._places = places
        self._plans: dict[Any, list[Plan]] = {}
        self._flags: tuple[str, ...] = ()
        self._variants: dict[Any, Unrolled] = {}
        self._base: Unrolled | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *structures: Any, **constants: Any) -> None:
        """Updates in place all structures that the function writes."""
        plan = self._plan(structures, constants, functional=False)
        plan.run(*structures, *self._numbers(plan, constants))

    def applied(self, *structures: Any, **constants: Any) -> Any:
        """The new value of the first structure, which stays as it is; the others are updated as by a call."""
        plan = self._plan(structures, constants, functional=True)
        new = plan.run(*structures, *self._numbers(plan, constants))
        return plan.layout.rebuilt(structures[0], new)

    def source(self, *structures: Any, **flags: bool) -> str:
        """The text of the update for such structures.

        Parameters
        ----------
        *structures
            As for a call.
        **flags
            The constants that are True or False; of the others only their names count.
        """
        self._check_count(structures)
        return self._new_plan(structures, flags_of(flags), functional=False).emitted.text

    def variant(self, native: Native, places: Places | None = None) -> Unrolled:
        """The same update as machine code or not, of all parameters or of those in some places only."""
        if native == self.native and places is None:
            return self
        key = (native, places if places is None else (places, places.layout))
        found = self._variants.get(key)
        if found is None:
            found = Unrolled(self.function, native, places)
            found._base = self
            found = self._variants.setdefault(key, found)
        return found

    @property
    def formula(self) -> Formula:
        """What is done to one parameter."""
        return self._formula

    def __repr__(self) -> str:
        return f"unrolled({self._formula.name})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._base is None:
            return str(self.function.__qualname__)
        return Unrolled.variant, (self._base, self.native, self._places)

    def _plan(self, structures: Sequence[Any], constants: dict[str, Any], functional: bool) -> Plan:
        try:
            key = (functional, len(structures), len(constants), *[constants[name] for name in self._flags])
        except KeyError:
            key = ()
        plans = self._plans.get(key, [])
        for plan in plans:
            if plan.fits(*structures):
                return plan
        self._check_count(structures)
        self.check_constants(constants)
        flags = flags_of(constants)
        if not flags.keys() <= {*self._flags}:  # this tells the plans apart from now on
            self._flags = (*self._flags, *(name for name in flags if name not in self._flags))
            self._plans = {}
            return self._plan(structures, constants, functional)
        plan = self._new_plan(structures, flags, functional)
        self._plans[key] = [plan, *plans[: _MOST_PLANS - 1]]
        return plan

    def _numbers(self, plan: Plan, constants: dict[str, Any]) -> tuple[Any, ...]:
        try:
            return plan.numbers(constants)
        except KeyError:
            self.check_constants(constants)
            raise

    def _check_count(self, structures: Sequence[Any]) -> None:
        if len(structures) != len(self._formula.values):
            wanted = ", ".join(self._formula.values)
            raise TypeError(f"{self._formula.name} takes a structure for each of {wanted}, not {len(structures)}")

    def check_constants(self, constants: dict[str, Any]) -> None:
        """Refuses constants that are not those of the function."""
        if constants.keys() != set(self._formula.constants):
            wanted, given = ", ".join(self._formula.constants) or "none", ", ".join(constants) or "none"
            raise TypeError(f"{self._formula.name} takes the constants {wanted}; it was given {given}")

    def _new_plan(self, structures: Sequence[Any], flags: dict[str, bool], functional: bool) -> Plan:
        formula = self._formula.specialized(flags)
        layout = structures[0].layout if isinstance(structures[0], Leaves) else Layout(structures[0])
        if self._places is not None:
            _check_same(layout, self._places.layout)
        written = [
            index
            for index, name in enumerate(formula.values)
            if name in formula.written and not (functional and index == 0)
        ]
        forms = tuple(_form(layout, value, index in written) for index, value in enumerate(structures))
        for index in written:
            if not forms[index].is_flat:
                _check_mutable(layout, structures[index])
        places = [place for place in range(len(layout)) if self._places is None or place in self._places]
        constants = [name for name in formula.constants if name not in flags]
        if not formula.takes_steps:
            _check_no_points(formula, [layout.parameters[place] for place in places])
        writer = Writer(formula, layout, forms, functional)
        packs: list[tuple[int, tuple[int, ...]]] = []
        if self._places is None and not functional and not self.native:
            packs = packs_of(formula, layout, structures)
        packed = frozenset(place for _, pack in packs for place in pack)
        guard = Guard(writer, layout, structures, written, packed).load()
        if self.native and not functional:
            emitted = fused(writer, places, constants, structures, strict=self.native == "strict")
        else:
            emitted = writer.write([place for place in places if place not in packed], constants, packs=packs)
        return Plan(layout, emitted, load(emitted), guard, constants)


def flags_of(constants: dict[str, Any]) -> dict[str, bool]:
    """Those of some constants that are True or False."""
    return {name: value for name, value in constants.items() if value is True or value is False}


def packs_of(formula: Formula, layout: Layout, structures: Sequence[Any]) -> list[tuple[int, tuple[int, ...]]]:
    """The packs of a layout whose arrays can be updated together: all of one dtype, and memory of their own."""
    flats = [structure for structure in structures if isinstance(structure, Leaves)]
    if layout.ties or not layout.packs or not formula.is_exact or any(not flat.packs for flat in flats):
        return []
    trees = [layout.leaves(structure) for structure in structures if not isinstance(structure, Leaves)]
    return [
        (number, places)
        for number, places in enumerate(layout.packs)
        if all(_can_join(tree[place], layout.parameters[place]) for tree in trees for place in places)
    ]


def _can_join(value: Any, parameter: Parameter) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == parameter.dtype and value.base is None


def _check_same(layout: Layout, known: Layout) -> None:
    problem = difference(layout, known)
    if problem is not None:
        raise error("AD0702", None, f"what was kept is that of another structure: {problem}")


def _form(layout: Layout, value: Any, is_written: bool) -> Form:
    if isinstance(value, Leaves):
        _check_same(layout, value.layout)
        return Form(is_flat=True)
    problem = partner_problem(layout, value) or tie_problem(layout, value)
    if problem is not None:
        raise error("AD0702", None, problem)
    absent = [place for place, parameter in enumerate(layout.parameters) if reach(value, parameter.steps) is None]
    if absent and is_written:
        raise error("AD0702", None, f"at {layout.parameters[absent[0]].path} there is nothing that could be written")
    return Form(absent=frozenset(absent))


def _check_no_points(formula: Formula, parameters: Sequence[Parameter]) -> None:
    for parameter in parameters:
        if parameter.point is not None:
            path = "".join(map(str, parameter.point)) or "the value itself"
            raise error("AD0705", None, f"'{formula.name}' does more than take a step from {path}")


def _check_mutable(layout: Layout, structure: Any) -> None:
    for parameter in layout.parameters:
        steps = parameter.steps if parameter.point is None else parameter.point
        value = reach(structure, steps)
        path = "".join(map(str, steps)) or "the value itself"
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            raise error("AD0703", None, f"the array at {path} is read-only")
        if not steps:
            if not isinstance(value, np.ndarray):
                raise error("AD0703", None, f"it is itself a value of type '{type(value).__qualname__}'")
            continue
        for way in (steps, *layout.points.get(steps, ())):
            holder = reach(structure, way[:-1])
            if is_immutable(holder):
                path, kind = "".join(map(str, way)), type(holder).__qualname__
                raise error("AD0703", None, f"{path} is held by a value of type '{kind}', which is immutable")


@overload
def unrolled(function: Callable[..., Any], *, native: Native = None) -> Unrolled: ...
@overload
def unrolled(*, native: Native = None) -> Callable[[Callable[..., Any]], Unrolled]: ...
def unrolled(function: Callable[..., Any] | None = None, *, native: Native = None) -> Any:
    """Makes of an update of one parameter the update of all parameters of a structure.

    The function says in ordinary Python what happens to one number or array. Its positional parameters stand for one
    structure each, of which the first tells the parameters; those that it assigns to are updated in place. Its
    keyword-only parameters are constants, the same for all parameters. For each structure that comes along a
    straight-line function is written, once: what a loop over the parameters would do, without the loop.

    Parameters
    ----------
    function
        Made of assignments to names and ``if``; it returns nothing. A condition on a constant that is True or False
        is decided beforehand.
    native
        Whether arrays are updated by machine code: one pass over the memory of each, if the function works
        element by element.

    Returns
    -------
    Unrolled
        Called with the structures, it updates them; ``applied`` returns a new value of the first instead, ``source``
        the text.

    Examples
    --------
    >>> import adjoint as ad
    >>> @ad.unrolled
    ... def descend(p, g, *, rate):
    ...     p -= rate * g
    >>> model = {"weight": np.array([1.0, 1.0]), "scale": 1.0}
    >>> descend(model, {"weight": np.array([0.5, 1.0]), "scale": 0.5}, rate=0.1)
    >>> model
    {'weight': array([0.95, 0.9 ]), 'scale': 0.95}
    >>> print(descend.source(model, model))
    def descend(ps, gs, rate):
        # ['weight']
        p = ps['weight']
        g = gs['weight']
        p -= rate * g
        # ['scale']
        p = ps['scale']
        g = gs['scale']
        p -= rate * g
        ps['scale'] = float(p)
    <BLANKLINE>
    """
    if function is None:
        return functools.partial(unrolled, native=native)
    if isinstance(function, Unrolled):
        return function.variant(native)
    return Unrolled(function, native)
