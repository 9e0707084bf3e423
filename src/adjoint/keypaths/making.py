"""``keypath``: where key paths begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_origin, overload

from adjoint.keypaths.path import KeyPath, WritableKeyPath, parse

Root = TypeVar("Root")
Value = TypeVar("Value")


@overload
def keypath() -> WritableKeyPath[Any, Any]: ...
@overload
def keypath(root: str) -> KeyPath[Any, Any]: ...
@overload
def keypath(root: type[Root]) -> WritableKeyPath[Root, Root]: ...
@overload
def keypath(root: type[Root], way: Callable[[Root], Value]) -> WritableKeyPath[Root, Value]: ...
@overload
def keypath(root: type[Root], way: str) -> KeyPath[Root, Any]: ...
def keypath(root: Any = None, way: Any = None) -> KeyPath[Any, Any]:
    """A key path, written as the way to a part of a value.

    Parameters
    ----------
    root
        The class that the way starts from, which may be left out; or the text of a key path.
    way
        The way as a function or as text. To a type checker ``keypath(Model, lambda m: m.scale)`` is a key path from
        ``Model`` to the type of ``scale``; one that is written with attributes leads to anything.

    Examples
    --------
    >>> import adjoint as ad
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Layer:
    ...     weight: float
    >>> @dataclass
    ... class Model:
    ...     layers: list[Layer]
    >>> weight = ad.keypath(Model).layers[0].weight
    >>> weight
    WritableKeyPath(.layers[0].weight)
    >>> weight == ad.keypath(Model, lambda model: model.layers[0].weight) == ad.keypath(".layers[0].weight")
    True
    >>> model = Model([Layer(1.0)])
    >>> weight.set(model, weight.get(model) + 1.0)
    >>> model
    Model(layers=[Layer(weight=2.0)])
    """
    if isinstance(root, str):
        return parse(root)
    if root is not None and not isinstance(root, type) and get_origin(root) is None:
        raise TypeError(f"a key path starts from a class, or is written as text; got {root!r}")
    start: WritableKeyPath[Any, Any] = WritableKeyPath((), root)
    if way is None:
        return start
    if isinstance(way, str):
        return parse(way, root)
    path = way(start)
    if not isinstance(path, KeyPath):
        raise TypeError("the way of a key path consists of attributes and items only")
    return path
