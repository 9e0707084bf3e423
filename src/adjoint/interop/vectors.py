"""Variables of several shapes as one vector, in the order in which another program has their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adjoint.records import dataclass

Numbers = np.ndarray[Any, Any]
Place = tuple[int, int, tuple[int, ...]]
"""Where the numbers of a variable are, and its shape."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, and its place in the vector of all."""

    name: str
    start: int
    stop: int
    shape: tuple[int, ...]


def laid_out(shapes: Mapping[str, tuple[int, ...]]) -> tuple[Variable, ...]:
    """Variables one behind the other."""
    found, start = [], 0
    for name, shape in shapes.items():
        stop = start + int(np.prod(shape))
        found.append(Variable(name, start, stop, shape))
        start = stop
    return tuple(found)


def reading(
    variables: tuple[Variable, ...], by_columns: bool = False
) -> tuple[tuple[Callable[[Numbers, Place], Any], ...], tuple[Place, ...]]:
    """How to read variables from a vector: functions, and what each takes besides that.

    The functions are the same for all variables of a rank, as what is compiled is compiled for functions.
    """
    matrix = _matrix_by_columns if by_columns else _array
    is_whole = len(variables) == 1 and variables[0].start == 0
    functions = (_number, _vector if is_whole else _slice, matrix)
    places = tuple([(variable.start, variable.stop, variable.shape) for variable in variables])
    return tuple([functions[min(len(shape), 2)] for _, _, shape in places]), places


def joining(variables: tuple[Variable, ...], by_columns: bool = False) -> Callable[[Any], Any]:
    """How to make one vector of the values of variables: of a tuple of them, or of the only one.

    Vectors are taken as they are: a view of what is written is another thing to a compiler than that itself.
    """
    if len(variables) == 1 and _is_vector(variables[0]):
        return _only
    matrix = _ravel_columns if by_columns else _ravel
    writers = tuple([_itself if _is_vector(each) else matrix if len(each.shape) == 2 else _ravel for each in variables])

    def joined(found: Any) -> Any:
        parts = found if isinstance(found, (tuple, list)) else (found,)
        return np.concatenate([write(part) for write, part in zip(writers, parts, strict=False)])

    return joined


def _is_vector(variable: Variable) -> bool:
    """Whether its values are; of one number they may be a number, too."""
    return len(variable.shape) == 1 and variable.shape[0] > 1


def _only(found: Any) -> Any:
    return found[0] if isinstance(found, (tuple, list)) else found


def _itself(part: Any) -> Any:
    return part


def _ravel(part: Any) -> Any:
    return np.ravel(part)


def _ravel_columns(matrix: Numbers) -> Numbers:
    return np.ravel(np.transpose(matrix))


def _number(vector: Numbers, place: Place) -> Any:
    return vector[place[0]]


def _vector(vector: Numbers, place: Place) -> Any:
    return vector


def _slice(vector: Numbers, place: Place) -> Any:
    return vector[place[0] : place[1]]


def _array(vector: Numbers, place: Place) -> Any:
    return np.reshape(vector[place[0] : place[1]], place[2])


def _matrix_by_columns(vector: Numbers, place: Place) -> Any:
    rows, columns = place[2]
    return np.transpose(np.reshape(vector[place[0] : place[1]], (columns, rows)))
