"""Key paths: the ways to the parts of a value, as values."""

from adjoint.keypaths.errors import KeyPathError
from adjoint.keypaths.making import keypath
from adjoint.keypaths.mixin import KeyPathIterable
from adjoint.keypaths.path import KeyPath, WritableKeyPath
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
