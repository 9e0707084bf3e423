"""Values as points that can be moved along their tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.types.array_libraries import is_foreign, is_writeable, name_of
from adjoint.types.registry import registration
from adjoint.types.structure import (
    excluded_fields,
    field_names,
    is_container,
    is_float_array,
    is_namedtuple,
    is_number,
    memberwise,
)
from adjoint.types.variables import is_manifold
from adjoint.types.vectors import TangentVector, belongs_to, tangent_class
from adjoint.types.zero import without_symbol

T = TypeVar("T")


def moved(x: T, along: Any) -> T:
    """The value ``x + along``: a new value like ``x``, made without any constructor of the user's.

    Parameters
    ----------
    x
        A number, an array, or a structure of them.
    along
        A tangent of ``x``; None, whole or in part, stands for zero.

    Examples
    --------
    >>> moved((1.0, "text"), (0.5, None))
    (1.5, 'text')
    """
    result: T = _moved(x, without_symbol(along), {})
    return result


def move(x: Any, along: Any) -> None:
    """Moves what is mutable in ``x`` along a tangent, in place; frozen parts are replaced in what holds them.

    Parameters
    ----------
    x
        An array, or a structure with lists, dicts or objects that are not frozen.
    along
        A tangent of ``x``; None, whole or in part, stands for zero.

    Raises
    ------
    TypeError
        If ``x`` itself cannot change: :func:`moved` makes a new value.

    Examples
    --------
    >>> model = {"weight": 1.0, "name": "a"}
    >>> move(model, {"weight": 0.5, "name": None})
    >>> model
    {'weight': 1.5, 'name': 'a'}
    """
    in_place = is_writeable(x) if is_float_array(x) else is_container(x) and not _must_be_replaced(x)
    if not in_place:
        raise TypeError(f"a value of class {type(x).__qualname__} cannot be moved in place: use moved(x, along)")
    _moved_in_place(x, without_symbol(along), {})


def _moved_in_place(x: Any, along: Any, memo: dict[int, Any]) -> Any:
    """``x`` itself, moved, where it can change, and else the value that takes its place."""
    if along is None:
        return x
    if id(x) in memo:
        return memo[id(x)]
    if x is None:
        return None
    _check_fits(x, along)
    if is_float_array(x) and is_writeable(x):
        memo[id(x)] = x
        x += along
        return x
    if not is_container(x) or _must_be_replaced(x):
        return _moved_part(x, along, memo)
    memo[id(x)] = x
    for name, part, direction in _parts_along(x, along):
        result = _moved_in_place(part, direction, memo)
        if result is part:
            continue
        if isinstance(x, (list, dict)):
            x[name] = result
        else:
            setattr(x, name, result)
    return x


def _must_be_replaced(x: object) -> bool:
    return isinstance(x, tuple) or is_frozen(x) or own_moved(type(x)) is not None


def _moved_part(x: Any, along: Any, memo: dict[int, Any]) -> Any:
    """A part that cannot change: a new one, with what is mutable in it moved in place."""
    if isinstance(x, tuple):
        items = [_moved_in_place(item, part, memo) for item, part in zip(x, along, strict=True)]
        if all(new is old for new, old in zip(items, x, strict=True)):
            return x
        return type(x)(*items) if is_namedtuple(x) else tuple(items)
    if is_container(x) and own_moved(type(x)) is None:
        fields = {name: getattr(x, name) for name in (*field_names(x), *excluded_fields(x))}
        fields |= {name: _moved_in_place(part, way, memo) for name, part, way in _parts_along(x, along)}
        result = memo[id(x)] = memberwise(type(x), **fields)
        return result
    memo[id(x)] = result = _moved(x, along, {})
    return result


def _parts_along(x: Any, along: Any) -> list[tuple[Any, Any, Any]]:
    if isinstance(x, list):
        return [(i, part, way) for i, (part, way) in enumerate(zip(x, along, strict=True))]
    if isinstance(x, dict):
        return [(key, part, along.get(key)) for key, part in x.items()]
    return [(name, getattr(x, name), getattr(along, name, None)) for name in field_names(x)]


def is_frozen(x: object) -> bool:
    """Whether ``x`` is an object of a frozen dataclass."""
    params = getattr(type(x), "__dataclass_params__", None)
    return params is not None and bool(params.frozen)


def _moved(x: Any, along: Any, memo: dict[int, Any]) -> Any:
    if along is not None and x is not None:  # nothing where something else may be does not move
        _check_fits(x, along)
    if is_number(x):
        return x if along is None else type(x)(x + along)
    if is_float_array(x):
        if id(x) not in memo and is_foreign(x):
            memo[id(x)] = x * 1 if along is None else x + along
        elif id(x) not in memo:
            memo[id(x)] = x.copy(order="K") if along is None else np.asarray(x + along, dtype=x.dtype)
        return memo[id(x)]
    if not is_container(x):
        return x if along is None or x is None else x + along
    if id(x) in memo:
        return memo[id(x)]
    result: Any
    if isinstance(x, tuple):
        directions = along if along is not None else [None] * len(x)
        items = [_moved(item, part, memo) for item, part in zip(x, directions, strict=True)]
        result = memo[id(x)] = type(x)(*items) if is_namedtuple(x) else tuple(items)
    elif isinstance(x, list):
        directions = along if along is not None else [None] * len(x)
        result = memo[id(x)] = []
        result.extend(_moved(item, part, memo) for item, part in zip(x, directions, strict=True))
    elif isinstance(x, dict):
        result = memo[id(x)] = {}
        for key, item in x.items():
            result[key] = _moved(item, None if along is None else along.get(key), memo)
    else:
        result = _moved_object(x, along, memo)
    return result


def _moved_object(x: Any, along: Any, memo: dict[int, Any]) -> Any:
    own = own_moved(type(x))
    if own is not None:
        memo[id(x)] = x if along is None else own(x, along)
        return memo[id(x)]
    if along is not None and not any(getattr(along, name, None) is not None for name in field_names(along)):
        along = None
    names = field_names(x)
    fields = {name: _moved(getattr(x, name), getattr(along, name, None), memo) for name in names}
    for name in excluded_fields(x):
        fields[name] = _moved(getattr(x, name), None, memo)
    memo[id(x)] = memberwise(type(x), **fields)
    return memo[id(x)]


def _check_fits(x: Any, along: Any) -> None:
    """Raises where ``along`` is no tangent of ``x``, as far as one step into it tells."""
    if is_foreign(x):
        fits = name_of(along) == name_of(x) and along.shape == x.shape and along.dtype == x.dtype
    elif is_number(x) or is_float_array(x) or type(x) is int or isinstance(x, np.integer):
        fits = _is_numeric(along, complex_too=np.iscomplexobj(x)) and np.shape(along) == np.shape(x)
    elif isinstance(x, (tuple, list)):
        fits = isinstance(along, (tuple, list)) and len(along) == len(x)
    elif isinstance(x, dict):
        fits = isinstance(along, dict) and along.keys() <= x.keys()
    elif own_moved(type(x)) is not None:
        return
    else:
        fits = is_container(x) and _has_fields_of(along, x)
    if not fits:
        raise ValueError(f"{_describe(x)} {_moves_along(x)}, not along {_describe(along)}")


def _is_numeric(along: Any, complex_too: bool) -> bool:
    """Whether a tangent is made of numbers; of real ones, where what moves is real."""
    if isinstance(along, np.ndarray):
        return along.dtype.kind in ("iufc" if complex_too else "iuf")
    if isinstance(along, (bool, np.bool_)):
        return False
    return isinstance(along, (int, float, np.integer, np.floating)) or (complex_too and np.iscomplexobj(along))


def _moves_along(x: Any) -> str:
    is_fixed = isinstance(x, (bool, str, bytes)) or (callable(x) and not is_container(x))
    if is_fixed or (isinstance(x, np.ndarray) and not is_float_array(x)):
        return "does not move along anything"
    return f"moves along {_tangent_of(x)}"


def _has_fields_of(along: Any, x: Any) -> bool:
    """Whether an object is a tangent of another: of its class where the class is synthesised, else by its fields."""
    if isinstance(along, TangentVector):
        return belongs_to(along, type(x))
    is_object = is_container(along) and not isinstance(along, (tuple, list, dict))
    return is_object and {*field_names(along)} <= {*field_names(x)}


def _tangent_of(x: Any) -> str:
    if is_number(x) or isinstance(x, (int, np.integer)):
        return "a number" if np.iscomplexobj(x) else "a real number"
    if is_float_array(x):
        return f"an array of shape {x.shape}"
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of length {len(x)}"
    return "a dict with some of its keys" if isinstance(x, dict) else f"a {tangent_class(type(x)).__qualname__}"


def _describe(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"an array of shape {x.shape}" if x.dtype.kind == "f" else f"an array of {x.dtype} of shape {x.shape}"
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of length {len(x)}"
    return repr(x) if isinstance(x, (int, float, complex, str, np.generic)) else f"a {type(x).__qualname__}"


def own_moved(cls: type) -> Callable[[Any, Any], Any] | None:
    """How a class says itself that its values move."""
    registered = registration(cls)
    if registered is not None:
        return registered.moved
    return cls.moved if is_manifold(cls) else None  # type: ignore[attr-defined]
