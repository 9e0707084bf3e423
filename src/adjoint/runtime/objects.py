"""Objects that generated code makes: never through a user's ``__init__``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType
from typing import Any, ClassVar, TypeVar

from adjoint.diagnostics import error

T = TypeVar("T")


def make_object(cls: type[T], names: tuple[str, ...], *values: Any) -> T:
    """An instance of ``cls`` with these attributes.

    >>> class Point:
    ...     pass
    >>> make_object(Point, ("x", "y"), 1.0, 2.0).y
    2.0
    """
    new: Any = cls.__new__
    instance: T = (native_new(cls) if isinstance(new, FunctionType) else new)(cls)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(instance, name, value)
    return instance


def native_new(cls: type) -> Any:
    """The ``__new__`` that makes instances of ``cls`` in the end: the first that is not written in Python."""
    return next(found for base in cls.__mro__ if not isinstance(found := base.__new__, FunctionType))


def native_setter(cls: type) -> Any:
    """The ``__setattr__`` that writes attributes in the end: that of ``threading.local`` is not that of ``object``."""
    return next(found for base in cls.__mro__ if not isinstance(found := base.__setattr__, FunctionType))


def attribute_or_none(instance: Any, name: str) -> Any:
    """What an attribute holds that may not have been assigned yet; None until then.

    >>> attribute_or_none(make_object(Exception, ("x",), 1.0), "y") is None
    True
    """
    return getattr(instance, name, None)


def first_items(iterable: Iterable[T], before: tuple[int, ...], after: tuple[int, ...]) -> list[T]:
    """What ``zip`` draws from an iterable between others of these lengths.

    As there, one more is drawn and lost where none of those before is the first to end.

    >>> numbers = iter(range(10))
    >>> first_items(numbers, (), (2,)), next(numbers)
    ([0, 1], 3)
    """
    count = min(*before, *after, sys.maxsize - 1)
    return list(islice(iterable, count + (count not in before)))[:count]


def put_attribute(instance: Any, name: str, value: Any) -> None:
    """Writes an attribute of a user's object, whose parts the generated code knows by themselves."""
    native_setter(type(instance))(instance, name, value)


def put_item(container: Any, key: Any, value: Any) -> None:
    """Writes an item of a user's list or dict, whose parts the generated code knows by themselves."""
    container[key] = value


def slice_bounds(sequence: Any, lower: Any, upper: Any, step: Any) -> tuple[int, int, int]:
    """Start, stop and step of ``sequence[lower:upper:step]``.

    >>> slice_bounds([1, 2, 3], 1, None, None)
    (1, 3, 1)
    """
    return slice(lower, upper, step).indices(len(sequence))


def check_least_length(sequence: Any, count: int) -> None:
    """Raises what unpacking ``sequence`` into at least ``count`` names would raise."""
    if len(sequence) < count:
        raise ValueError(f"not enough values to unpack (expected at least {count}, got {len(sequence)})")


def check_length(sequence: Any, count: int) -> None:
    """Raises what unpacking ``sequence`` into ``count`` names would raise."""
    check_size(len(sequence), count)


def check_size(size: int, count: int) -> None:
    """Raises what unpacking so many values into ``count`` names would raise."""
    if size != count:
        relation = f"too many values to unpack (expected {count})"
        if size < count:
            relation = f"not enough values to unpack (expected {count}, got {size})"
        raise ValueError(relation)


class Checkpoints:
    """Base of the dataclasses with a field for each value that a primal keeps; one for each derivative."""

    compiled: ClassVar[Any] = None
    """The compiled primal and adjoint that they are for."""
    made_for: ClassVar[Any] = None
    """What tells the derivative from others."""


def refuse_deletion(owner: Any, name: str) -> None:
    """Stands for ``del owner.name`` of what varies: where that happens, there is no derivative."""
    label = f"the attribute {name!r} of an object of class {type(owner).__name__!r} varies, and is deleted"
    raise error("AD0301", None, label, helps=("assign None instead",))


def itself(function: Any) -> Any:
    """The very function."""
    return function


def place_of_function(function: Any, *known: Any) -> int:
    """Which of several functions one is: methods are one where they are bound to one object.

    >>> place_of_function(len, abs, len)
    1
    """
    for place, other in enumerate(known):
        if function is other or (isinstance(function, _METHODS) and function == other):
            return place
    label = "a container holds a function that the program has not put there"
    raise error("AD0202", None, label, helps=("put functions into it in the function that is differentiated",))


_METHODS = (MethodType, BuiltinFunctionType, MethodWrapperType)


def untagged(value: Any, layout: Any) -> Any:
    """What a container holds, without the numbers that say which structure an item has.

    Examples
    --------
    >>> untagged([(0, 0.0), (1, 2.5)], ("list", ("tagged", True, "as it is", "as it is")))
    [None, 2.5]
    """
    if layout == "as it is":
        return value
    name, *parts = layout
    match name:
        case "tagged":
            may_be_none, *options = parts
            if may_be_none:
                return None if value[0] == 0 else untagged(value[value[0]], options[value[0]])
            return untagged(value[value[0] + 1], options[value[0]])
        case "dict":
            return {key: untagged(item, parts[0]) for key, item in value.items()}
        case "tuple":
            return tuple(untagged(item, part) for item, part in zip(value, parts, strict=True))
        case _:
            found = [untagged(item, parts[0]) for item in value]
            return tuple(found) if name == "tuple of any" else found
