"""Key paths: the ways to the parts of a value, as values."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint.keypaths.making import keypath
    from adjoint.keypaths.mixin import KeyPathIterable
    from adjoint.keypaths.path import KeyPath, KeyPathError, WritableKeyPath
    from adjoint.keypaths.walk import (
        all_key_paths,
        all_writable_key_paths,
        recursively_all_key_paths,
        recursively_all_writable_key_paths,
    )

__all__ = [
    "KeyPath",
    "KeyPathError",
    "KeyPathIterable",
    "WritableKeyPath",
    "all_key_paths",
    "all_writable_key_paths",
    "keypath",
    "recursively_all_key_paths",
    "recursively_all_writable_key_paths",
]

_HOMES = dict.fromkeys(__all__, "walk") | {
    "KeyPath": "path",
    "KeyPathError": "path",
    "KeyPathIterable": "mixin",
    "WritableKeyPath": "path",
    "keypath": "making",
}


def __getattr__(name: str) -> Any:
    """Loaded at the first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
