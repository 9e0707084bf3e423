"""``value[key_path]`` for classes of the user's."""

from __future__ import annotations

from typing import Any, TypeVar

from adjoint.keypaths.path import KeyPath, WritableKeyPath
from adjoint.keypaths.walk import (
    all_key_paths,
    all_writable_key_paths,
    recursively_all_key_paths,
    recursively_all_writable_key_paths,
)

Value = TypeVar("Value")


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

    def all_key_paths(self, *, to: Any = None) -> list[KeyPath[Any, Any]]:
        """See :func:`adjoint.all_key_paths`."""
        return all_key_paths(self, to=to)

    def all_writable_key_paths(self, *, to: Any = None) -> list[WritableKeyPath[Any, Any]]:
        """See :func:`adjoint.all_writable_key_paths`."""
        return all_writable_key_paths(self, to=to)

    def recursively_all_key_paths(self, *, to: Any = None) -> list[KeyPath[Any, Any]]:
        """See :func:`adjoint.recursively_all_key_paths`."""
        return recursively_all_key_paths(self, to=to)

    def recursively_all_writable_key_paths(self, *, to: Any = None) -> list[WritableKeyPath[Any, Any]]:
        """See :func:`adjoint.recursively_all_writable_key_paths`."""
        return recursively_all_writable_key_paths(self, to=to)
