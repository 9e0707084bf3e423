"""Values as points that can be moved along their tangents."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, runtime_checkable

from adjoint.types.structure import (
    field_names,
    is_container,
    is_float_array,
    is_namedtuple,
    is_number,
    new_object,
    set_field,
)
from adjoint.types.vectors import tangent_class

T = TypeVar("T")


@runtime_checkable
class Differentiable(Protocol):
    """A type that says itself how its values move."""

    def moved(self, along: Any) -> Any:
        """The value that lies in the direction ``along``, a tangent vector."""


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
    result: T = _moved(x, along, {})
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
    in_place = x.flags.writeable if is_float_array(x) else is_container(x) and not _must_be_replaced(x)
    if not in_place:
        raise TypeError(f"a value of class {type(x).__qualname__} cannot be moved in place: use moved(x, along)")
    _moved_in_place(x, along, {})


def _moved_in_place(x: Any, along: Any, memo: dict[int, Any]) -> Any:
    """``x`` itself, moved, where it can change, and else the value that takes its place."""
    if along is None:
        return x
    if id(x) in memo:
        return memo[id(x)]
    if is_float_array(x) and x.flags.writeable:
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
    return isinstance(x, tuple) or is_frozen(x) or hasattr(type(x), "moved")


def _moved_part(x: Any, along: Any, memo: dict[int, Any]) -> Any:
    """A part that cannot change: a new one, with what is mutable in it moved in place."""
    if isinstance(x, tuple):
        items = [_moved_in_place(item, part, memo) for item, part in zip(x, along, strict=True)]
        if all(new is old for new, old in zip(items, x, strict=True)):
            return x
        return type(x)(*items) if is_namedtuple(x) else tuple(items)
    own = getattr(type(x), "moved", None)
    if own is None and is_container(x):
        result = new_object(type(x))
        moved_parts = {name: _moved_in_place(part, way, memo) for name, part, way in _parts_along(x, along)}
        for name in (*field_names(x), *_excluded(x, field_names(x))):
            set_field(result, name, moved_parts.get(name, getattr(x, name)))
        memo[id(x)] = result
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
    if is_number(x):
        return x if along is None else type(x)(x + along)
    if is_float_array(x):
        if id(x) not in memo:
            memo[id(x)] = x.copy(order="K") if along is None else (x + along).astype(x.dtype, copy=False)
        return memo[id(x)]
    if not is_container(x):
        return x if along is None else x + along
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
    own = getattr(type(x), "moved", None)
    if own is not None:
        memo[id(x)] = x if along is None else own(x, along)
        return memo[id(x)]
    names = field_names(x)
    if along is not None and not any(getattr(along, name, None) is not None for name in vars(along)):
        along = None
    result = memo[id(x)] = new_object(type(x))
    for name in (*names, *_excluded(x, names)):
        value = getattr(x, name)
        set_field(result, name, _moved(value, getattr(along, name, None) if name in names else None, memo))
    return result


def _excluded(x: Any, names: list[str]) -> list[str]:
    """The fields that carry no derivative by declaration: they are taken over."""
    if isinstance(x, tangent_class(type(x))):
        return []
    return [name for name in getattr(x, "__dataclass_fields__", ()) if name not in names and hasattr(x, name)]
