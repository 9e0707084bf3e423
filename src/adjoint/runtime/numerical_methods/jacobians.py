"""Matrices of derivatives inside functions, in the part of the language that is differentiated itself."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad


def jacobian_of(function: Any, args: Any, place: Any, has_aux: Any, again: Any) -> Any:
    """The Jacobian with respect to one argument; in a pair with what is beside the value, where that is asked for.

    ``again`` says that the arguments are copies, and that the function runs once more for something else.
    """
    x = args[place]
    if _is_number(x):
        found = _directional(function, args, _along(args, place, _one(x)), has_aux, again)
        return (found[1], found[2]) if has_aux else found[1]
    n = _count(x)
    columns = [
        _vector(_column(function, _own(args), _along(args, place, _unit(x, n, i)), has_aux)[1]) for i in range(n - 1)
    ]
    found = _directional(function, args, _along(args, place, _unit(x, n, n - 1)), has_aux, again)
    columns.append(_vector(found[1]))
    matrix = _in_structure(np.stack(columns, axis=-1), found[1], x)
    return (matrix, found[2]) if has_aux else matrix


def jacobians_of(function: Any, args: Any, places: Any, has_aux: Any) -> Any:
    """The Jacobians with respect to several arguments."""
    first = [jacobian_of(function, _own(args), place, has_aux, True) for place in places[:-1]]
    last = jacobian_of(function, args, places[-1], has_aux, False)
    return ((*[found[0] for found in first], last[0]), last[1]) if has_aux else (*first, last)


def hessian_of(function: Any, args: Any, place: Any, has_aux: Any) -> Any:
    """The Hessian with respect to one argument."""
    return jacobian_of(ad.grad(function, place, has_aux=has_aux), args, place, has_aux, False)


def hessians_of(function: Any, args: Any, places: Any, has_aux: Any) -> Any:
    """The blocks of the Hessian with respect to several arguments, row by row."""
    return jacobians_of(ad.grad(function, places, has_aux=has_aux), args, places, has_aux)


def derivatives_of(function: Any, primals: Any, tangents: Any, has_aux: Any) -> Any:
    """The value of a function, and its derivatives in several directions."""
    derivatives = [_column(function, _own(primals), tangent, has_aux)[1] for tangent in tangents[:-1]]
    found = ad.jvp(function, primals, tangents[-1], has_aux=has_aux)
    derivatives.append(found[1])
    return (found[0], derivatives, found[2]) if has_aux else (found[0], derivatives)


def _directional(function: Any, args: Any, tangents: Any, has_aux: Any, again: Any) -> Any:
    if again:
        return _column(function, args, tangents, has_aux)
    return ad.jvp(function, args, tangents, has_aux=has_aux)


def _column(function: Any, args: Any, tangents: Any, has_aux: Any) -> Any:
    """A column behind which there is another: the function runs again, and finds what it found."""
    return ad.jvp(function, args, tangents, has_aux=has_aux)


def _along(args: Any, place: Any, unit: Any) -> Any:
    tangents = [None] * len(args)
    tangents[place] = unit
    return tuple(tangents)


def _own(args: Any) -> Any:
    """Arguments for a call that may write them."""
    return tuple([arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args])


def _is_number(x: Any) -> Any:
    return isinstance(x, (float, complex, np.floating, np.complexfloating))


def _is_array(x: Any) -> Any:
    return isinstance(x, np.ndarray) and np.issubdtype(x.dtype, np.inexact)


def _one(x: Any) -> Any:
    return 1.0 if isinstance(x, float) else type(x)(1.0)


def _unit(x: Any, n: Any, i: Any) -> Any:
    if isinstance(x, np.ndarray):
        unit = np.zeros(x.size) if x.dtype == np.float64 else np.zeros(x.size, x.dtype)
        unit[i] = 1.0
        return unit.reshape(x.shape)
    numbers = np.zeros(n)
    numbers[i] = 1.0
    return _taken(x, numbers, 0, True)[0]


def _count(x: Any) -> Any:
    """How many numbers of a structure vary."""
    if _is_array(x):
        return x.size
    if _is_number(x):
        return 1
    total = 0
    for part in _parts(x):
        total = total + _count(part)
    return total


def _parts(x: Any) -> Any:
    if isinstance(x, dict):
        return list(x.values())
    return x if isinstance(x, (list, tuple)) else ()


def _rebuilt(x: Any, parts: Any) -> Any:
    """The structure of ``x``, of other parts."""
    if isinstance(x, dict):
        return dict(zip(x, parts, strict=True))
    if isinstance(x, list):
        return parts
    return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)


def _part_by_part(x: Any, start: Any, take: Any) -> Any:
    """The structure of ``x``, of what is taken for each part from where the last one ended, and where the last ends."""
    parts = []
    for part in _parts(x):
        taken, start = take(part, start)
        parts.append(taken)
    return _rebuilt(x, parts), start


def _taken(x: Any, numbers: Any, start: Any, is_tangent: Any) -> Any:
    """The structure of ``x`` of these numbers from a place on, or a tangent of it, and the place behind them."""
    if _is_array(x):
        return _as(x, numbers[start : start + x.size].reshape(x.shape)), start + x.size
    if _is_number(x):
        return type(x)(numbers[start]), start + 1
    if not isinstance(x, (dict, list, tuple)):
        return None if is_tangent else x, start
    return _part_by_part(x, start, lambda part, at: _taken(part, numbers, at, is_tangent))


def _as(x: Any, numbers: Any) -> Any:
    return numbers if x.dtype == np.float64 else numbers.astype(x.dtype)


def ravelled(x: Any) -> Any:
    """The numbers of a structure as one vector, and the way back."""
    return np.concatenate(_pieces(x)), lambda vector: _taken(x, vector, 0, False)[0]


def _vector(tangent: Any) -> Any:
    """A number or an array as it is, the numbers of a structure in one array."""
    return tangent if isinstance(tangent, np.ndarray) or _is_number(tangent) else np.concatenate(_pieces(tangent))


def _pieces(tangent: Any) -> Any:
    if _is_array(tangent):
        return [np.ravel(tangent)]
    if _is_number(tangent):
        return [np.reshape(tangent, (1,))]
    pieces: list[Any] = []
    for part in _parts(tangent):
        pieces = [*pieces, *_pieces(part)]
    return pieces


def _in_structure(matrix: Any, value: Any, x: Any) -> Any:
    """The matrix in the structure of the result, and that of the argument at each of its leaves."""
    if isinstance(x, np.ndarray) and (isinstance(value, np.ndarray) or _is_number(value)):
        return matrix if np.ndim(x) == 1 else matrix.reshape(np.shape(value) + np.shape(x))
    return _of_value(value, x, matrix.reshape(-1, matrix.shape[-1]), 0)[0]


def _of_value(value: Any, x: Any, matrix: Any, start: Any) -> Any:
    if isinstance(value, np.ndarray) or _is_number(value):
        stop = start + np.size(value)
        return _of_argument(value, x, matrix[start:stop], 0)[0], stop
    if not isinstance(value, (dict, list, tuple)):
        return None, start
    return _part_by_part(value, start, lambda part, at: _of_value(part, x, matrix, at))


def _of_argument(value: Any, x: Any, rows: Any, start: Any) -> Any:
    if _is_number(x) and _is_number(value):
        return rows[0, start].item(), start + 1
    if _is_array(x) or _is_number(x):
        stop = start + np.size(x)
        return rows[:, start:stop].reshape(np.shape(value) + np.shape(x)), stop
    if not isinstance(x, (dict, list, tuple)):
        return None, start
    return _part_by_part(x, start, lambda part, at: _of_argument(value, part, rows, at))
