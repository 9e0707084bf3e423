"""Running over the parameters of structures: one, two, or any number together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from adjoint.diagnostics import error
from adjoint.parameters.layout import Layout, partner_problem
from adjoint.parameters.unroll import unrolled

T = TypeVar("T")


def _result(fn: Callable[[Any, Any], Any], p: Any, g: Any) -> Any:
    result = fn(p, g)
    if result is not None:
        return result
    if isinstance(p, np.ndarray):
        return p
    raise TypeError("an update of a number returns the new one: lambda p, g: p - 0.1 * g")


def copied(p: Any) -> Any:
    return p.copy() if isinstance(p, np.ndarray) else p


@unrolled
def update_each(p, g, *, fn):  # type: ignore[no-untyped-def]
    p = _result(fn, p, g)


@unrolled
def _updated_each(p, g, *, fn):  # type: ignore[no-untyped-def]
    p = _result(fn, copied(p), g)


def for_zipped_parameters(parameters: Any, gradients: Any, fn: Callable[[Any, Any], Any]) -> None:
    """Updates each parameter of a structure with the part of another one that belongs to it.

    Parameters
    ----------
    parameters
        A structure whose numbers and arrays are replaced, in order of declaration.
    gradients
        A structure like it, or a tangent of it.
    fn
        Given a parameter and its gradient, it returns the new parameter. For arrays it may write in place instead,
        and return nothing.

    Examples
    --------
    >>> import adjoint as ad
    >>> import operator
    >>> point = {"x": 1.0, "y": 2.0}
    >>> ad.for_zipped_parameters(point, {"x": 0.5, "y": 0.5}, operator.isub)
    >>> point
    {'x': 0.5, 'y': 1.5}
    """
    update_each(parameters, gradients, fn=fn)


def updated_each(parameters: T, gradients: Any, fn: Callable[[Any, Any], Any]) -> T:
    """A new structure with what :func:`for_zipped_parameters` would write."""
    result: T = _updated_each.applied(parameters, gradients, fn=fn)
    return result


def for_parameters(parameters: Any, fn: Callable[[Any], Any]) -> None:
    """Calls a function with each parameter of a structure, in order of declaration.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.for_parameters({"x": 1.0, "name": "a", "y": [2.0, 3.0]}, print)
    1.0
    2.0
    3.0
    """
    for value in Layout(parameters).leaves(parameters):
        fn(value)


def zip_parameters(*structures: Any) -> Iterator[tuple[Any, ...]]:
    """The parameters of several structures together, in order of declaration.

    Parameters
    ----------
    *structures
        The first tells what the parameters are; the others are like it, or tangents of it, in which what is missing
        is None.

    Examples
    --------
    >>> import adjoint as ad
    >>> list(ad.zip_parameters({"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}))
    [(1.0, 3.0), (2.0, 4.0)]
    """
    layout = Layout(structures[0])
    for other in structures[1:]:
        problem = partner_problem(layout, other)
        if problem is not None:
            raise error("AD0702", None, problem)
    return zip(*[layout.leaves(structure) for structure in structures], strict=True)
