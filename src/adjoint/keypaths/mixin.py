"""``value[key_path]`` for classes of the user's."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Generic, TypeVar

from adjoint.keypaths.path import KeyPath, WritableKeyPath
from adjoint.keypaths.walk import (
    all_key_paths,
    all_writable_key_paths,
    recursively_all_key_paths,
    recursively_all_writable_key_paths,
)

Value = TypeVar("Value")
Paths = TypeVar("Paths", bound=list[Any])


class Listing(Generic[Paths]):
    """A method of a class and of its values: what a function of the one or the other gives."""

    def __init__(self, function: Callable[..., Paths]) -> None:
        self.function = function
        self.__doc__ = f"See :func:`adjoint.{function.__name__}`; of the class, what its declarations tell."

    def __get__(self, value: object, cls: type) -> Callable[..., Paths]:
        return MethodType(self.function, cls if value is None else value)


class KeyPathIterable:
    """A base for classes whose values are read and written by key paths: ``model[path] -= 0.1 * gradient[path]``.

    Examples
    --------
    >>> import adjoint as ad
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Layer(ad.KeyPathIterable):
    ...     weight: float
    ...     bias: float
    >>> layer = Layer(1.0, 2.0)
    >>> for path in layer.all_writable_key_paths(to=float):
    ...     layer[path] *= 10.0
    >>> layer
    Layer(weight=10.0, bias=20.0)
    >>> Layer.all_key_paths()
    [WritableKeyPath(.weight), WritableKeyPath(.bias)]
    """

    __slots__ = ()

    def __getitem__(self, path: KeyPath[Any, Value]) -> Value:
        if not isinstance(path, KeyPath):
            raise TypeError(f"{type(self).__qualname__} is indexed by key paths, not by {path!r}")
        return path.get(self)

    def __setitem__(self, path: WritableKeyPath[Any, Value], part: Value) -> None:
        if not isinstance(path, WritableKeyPath):
            raise TypeError(f"{path!r} is not writable")
        path.set(self, part)

    all_key_paths = Listing(all_key_paths)
    all_writable_key_paths = Listing(all_writable_key_paths)
    recursively_all_key_paths = Listing(recursively_all_key_paths)
    recursively_all_writable_key_paths = Listing(recursively_all_writable_key_paths)
