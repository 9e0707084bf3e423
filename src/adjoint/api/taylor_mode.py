"""Derivatives of any order along a direction, by truncated Taylor series."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.api.across_processes import refuse_messages
from adjoint.api.derivative import function_of
from adjoint.api.jvp_vjp import checked_tangents, entries_of, specialized_jvp
from adjoint.api.sweeps.many_directions import copied
from adjoint.diagnostics import DifferentiationError, diagnostic, error
from adjoint.diagnostics.entrances import entrance
from adjoint.diagnostics.spans import Span
from adjoint.dispatch.aliasing.parts import overlaps_itself
from adjoint.dispatch.drawn_numbers import generators_in
from adjoint.dispatch.specialize import Specialization, specialization
from adjoint.frontend.differentiation.taylor.recurrences import of_series
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.entry import lower_operator
from adjoint.frontend.entry.restarts import Entry
from adjoint.records import replace
from adjoint.runtime.copies import copy_as_it_lies
from adjoint.runtime.taylor.functions import ORDER
from adjoint.runtime.taylor.series import RECURRENCES, NotCovered, Series, value_of
from adjoint.types.structure import field_names, is_container, is_namedtuple, is_object, new_object, set_field
from adjoint.types.vectors import tangent_class


@entrance
def jet(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], order: int, *, has_aux: bool = False
) -> tuple[Any, ...]:
    """The value of a function and its derivatives along a direction, up to an order.

    These are the derivatives of ``f(x + t * x_dot)`` by ``t`` at 0. Unlike nested forward mode, whose cost doubles with
    each order, ``k`` derivatives cost ``O(k**2)``.

    Parameters
    ----------
    f
        The function. It runs as Python, once, with truncated Taylor series for numbers and arrays. What it writes to
        its arguments, or to objects, lists, dicts and arrays outside, it writes to copies.
    primals, tangents
        Its arguments, and the direction, as :func:`adjoint.jvp` takes them.
    order
        How many derivatives.
    has_aux
        The function returns ``(value, aux)``: aux is returned as it is, behind the derivatives of the value.

    Returns
    -------
    tuple
        ``order + 1`` entries: the value, the first derivative and so on, each with the structure of the result.

    Raises
    ------
    DifferentiationError
        AD0423 for what series do not cover: functions of cotangents, declared derivatives of lists, dicts and objects,
        functions without a rule for forward mode; else what :func:`adjoint.jvp` raises.

    Examples
    --------
    >>> import adjoint as ad, math
    >>> def f(x):
    ...     return math.exp(2.0 * x)
    >>> ad.jet(f, (0.0,), (1.0,), order=4)
    (1.0, 2.0, 4.0, 8.0, 16.0)
    >>> ad.jet(lambda x: (x**3, {"seen": x}), (2.0,), (1.0,), order=2, has_aux=True)
    (8.0, 12.0, 12.0, {'seen': 2.0})
    """
    function_of(f, "jet")
    points, directions = entries_of(primals, "primals", "jet"), entries_of(tangents, "tangents", "jet")
    given: Any = order
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 0:
        label = f"the order of ad.jet is a whole number from 0, here it is {order!r}"
        raise error("AD0423", None, label, helps=("write ad.jet(f, (x,), (x_dot,), order=3)",))
    checked = checked_tangents(points, directions)
    moved = specialized_jvp(f, points, checked, has_aux=has_aux)  # refuses what has no derivative at all
    compiled = specialization(f, ("jet",), points, {}, lambda _: _lower(f, points))
    root = differentiated(f)
    inputs = compiled.inputs(root, points)
    if compiled.has_two_names(inputs):  # what is captured is a constant
        if moved.written:
            compiled.refuse_two_names(inputs)
        points = copied(points)
        compiled = specialization(f, ("jet",), points, {}, lambda _: _lower(f, points))
        inputs = compiled.inputs(root, points)
    count = int(order)
    memo: dict[int, Any] = {}
    curves = [
        _curve(point, direction, count, place in compiled.written, memo)
        for place, (point, direction) in enumerate(zip(points, checked, strict=True))
    ]
    token = ORDER.set(count)
    try:
        result = compiled.call(*curves, *_outside(compiled, inputs[len(points) :]))
    except NotCovered as problem:
        span = _place_of(problem, compiled)
        raise DifferentiationError(diagnostic("AD0423", span, f"{problem} is not covered for series")) from None
    except (TypeError, ValueError) as problem:
        if isinstance(problem, DifferentiationError) or _raises(f, points, type(problem)):
            raise
        span = _place_of(problem, compiled)
        label = f"this takes plain numbers and arrays only: {problem}"
        raise DifferentiationError(diagnostic("AD0423", span, label)) from None
    finally:
        ORDER.reset(token)
    value, *aux = result if has_aux else (result,)
    return (
        *(_derivative(value, place, {}) for place in range(count + 1)),
        *(_derivative(part, 0, {}) for part in aux),
    )


def _outside(compiled: Specialization, captured: Sequence[Any]) -> list[Any]:
    """What a function captures: copies of what it writes, which is given series; what is drawn is drawn for good."""
    pairs = zip(compiled.captured, captured, strict=True)
    drawn = list(generators_in(list(captured), set()))
    return [copied((value,), drawn)[0] if item.is_written else value for item, value in pairs]


def _by_declaration(callee: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """A function of series by its declared derivative."""
    points = value_of(args)
    compiled = specialization(callee, ("jet",), points, {}, lambda _: _lower(callee, points))
    inputs = compiled.inputs(differentiated(callee), points)
    return compiled.call(*args, *inputs[len(points) :])


RECURRENCES["declared"] = _by_declaration
RECURRENCES["told"] = lambda value: _derivative(value, 0, {})


def _lower(f: Callable[..., Any], points: tuple[Any, ...]) -> Entry:
    entry = lower_operator("call", f, (), points, {})
    refuse_messages(entry.function, "Taylor series")
    function = of_series(entry.function)
    return replace(entry, function=replace(function, name=f"{entry.function.name.removesuffix('_call')}_jet"))


def _raises(f: Callable[..., Any], points: tuple[Any, ...], kind: type[Exception]) -> bool:
    """Whether the function itself raises such an exception."""
    try:
        f(*copy.deepcopy(points))
    except kind:
        return True
    return False


def _place_of(problem: BaseException, compiled: Specialization) -> Span | None:
    """Where in the user's source the generated code was that raised."""
    trace, found = problem.__traceback__, None
    code = compiled.call.__code__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            found = compiled.emitted.lines.get(trace.tb_lineno)
        trace = trace.tb_next
    return found


def _curve(point: Any, direction: Any, order: int, written: bool, memo: dict[int, Any]) -> Any:
    """An argument that moves: series for the numbers and arrays that have a tangent, in a copy of its structure."""
    if isinstance(point, np.ndarray):
        if point.dtype.kind not in "fc" or (direction is None and not written):
            return point
        copied_array = np.array if overlaps_itself(point) else copy_as_it_lies  # what is a view of one, is one of all
        coefficients = [copied_array(point) for _ in range(order + 1)]
        for place, part in enumerate(coefficients[1:]):
            part[...] = 0 if place or direction is None else direction
        return Series(order, coefficients)
    if direction is None and not written:
        return point
    if isinstance(point, (float, complex, np.floating, np.complexfloating)):
        dot = point * 0 if direction is None else direction
        return Series(order, [point, dot, *[point * 0] * (order - 1)][: order + 1])
    if isinstance(point, (list, dict)) or is_object(point):
        if id(point) in memo:
            return memo[id(point)]
        return _container(point, direction, order, written, memo)
    if isinstance(point, tuple):
        dots = [None] * len(point) if direction is None else direction
        parts = [_curve(part, dot, order, written, memo) for part, dot in zip(point, dots, strict=True)]
        return type(point)(*parts) if is_namedtuple(point) else tuple(parts)
    return point


def _container(point: Any, direction: Any, order: int, written: bool, memo: dict[int, Any]) -> Any:
    if isinstance(point, list):
        made: Any = []
        memo[id(point)] = made
        dots = [None] * len(point) if direction is None else direction
        made.extend(_curve(part, dot, order, written, memo) for part, dot in zip(point, dots, strict=True))
    elif isinstance(point, dict):
        made = memo[id(point)] = {}
        for key, part in point.items():
            made[key] = _curve(part, None if direction is None else direction[key], order, written, memo)
    else:
        made = memo[id(point)] = new_object(type(point))
        for name in field_names(point):
            dot = None if direction is None else getattr(direction, name, None)
            set_field(made, name, _curve(getattr(point, name), dot, order, written, memo))
    return made


def _derivative(result: Any, place: int, memo: dict[int, Any]) -> Any:
    """The derivative of an order in the structure of the result; what does not vary has zeros and None."""
    if isinstance(result, Series):
        return result.at(place) * math.factorial(place) if place > 1 else result.at(place)
    if place == 0 and not _has_parts(result):
        return result
    if isinstance(result, tuple):
        parts = [_derivative(part, place, memo) for part in result]
        return type(result)(*parts) if is_namedtuple(result) else tuple(parts)
    if isinstance(result, list):
        return [_derivative(part, place, memo) for part in result]
    if isinstance(result, dict):
        return {key: _derivative(part, place, memo) for key, part in result.items()}
    if isinstance(result, np.ndarray) and result.dtype.kind in "fc":
        return np.zeros_like(result)
    if isinstance(result, (float, complex, np.floating, np.complexfloating)):
        return result * 0
    if _has_parts(result):
        return _object(result, place, memo)
    return None


def _has_parts(value: Any) -> bool:
    return is_container(value)


def _object(result: Any, place: int, memo: dict[int, Any]) -> Any:
    if id(result) not in memo:
        made = memo[id(result)] = new_object(type(result) if place == 0 else tangent_class(type(result)))
        for name in field_names(result):
            part = _derivative(getattr(result, name), place, memo)
            if place == 0 or part is not None:
                set_field(made, name, part)
    return memo[id(result)]


jet.__adjoint_operator__ = "jet"  # type: ignore[attr-defined]
__all__ = ["jet"]
