"""``value[key_path]`` for classes of the user's."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Generic, TypeVar

from adjoint.keypaths.walk import (
    all_key_paths,
    all_writable_key_paths,
    recursively_all_key_paths,
    recursively_all_writable_key_paths,
)
from adjoint.types.part_paths import IndexedByPaths

Paths = TypeVar("Paths", bound=list[Any])


class Listing(Generic[Paths]):
    """A method of a class and of its values: what a function of the one or the other gives."""

    def __init__(self, function: Callable[..., Paths]) -> None:
        self.function = function
        self.__doc__ = f"See :func:`adjoint.{function.__name__}`; of the class, what its declarations tell."

    def __get__(self, value: object, cls: type) -> Callable[..., Paths]:
        return MethodType(self.function, cls if value is None else value)


class KeyPathIterable(IndexedByPaths):
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

    all_key_paths = Listing(all_key_paths)
    all_writable_key_paths = Listing(all_writable_key_paths)
    recursively_all_key_paths = Listing(recursively_all_key_paths)
    recursively_all_writable_key_paths = Listing(recursively_all_writable_key_paths)
