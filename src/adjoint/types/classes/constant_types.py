"""Declared types of which no value carries a derivative."""

from __future__ import annotations

import datetime
import enum
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin

import numpy as np

from adjoint.types.classes.annotations import UNKNOWN, alternatives

EXAMPLES: dict[type, Any] = {
    datetime.date: datetime.date(2020, 1, 1),
    datetime.datetime: datetime.datetime(2020, 1, 1),
    datetime.time: datetime.time(12),
    datetime.timedelta: datetime.timedelta(days=1, seconds=2),
}
"""By which it is told what the arithmetic, the attributes and the methods of dates and spans of time give."""
_CONSTANT_CLASSES = (int, str, bytes, bytearray, enum.Enum, type, types.ModuleType, np.dtype, range, slice)


def never_varies(annotation: Any) -> bool:
    """Whether no value of a declared type carries a derivative."""
    if annotation is UNKNOWN or isinstance(annotation, TypeVar):
        return False
    return all(map(_is_constant_type, alternatives(annotation)))


def _is_constant_type(kind: Any) -> bool:
    origin, args = get_origin(kind) or kind, get_args(kind)
    if kind is None or origin in (types.NoneType, typing.Literal, Callable, types.FunctionType, typing.Callable):
        return True
    if not isinstance(origin, type):
        return False
    if issubclass(origin, np.ndarray):
        scalars = get_args(args[1]) if len(args) == 2 else ()
        return bool(scalars) and scalars[0] is not Any and never_varies(scalars[0])
    if issubclass(origin, (list, tuple, dict, set, frozenset)):
        parts = [arg for arg in (args[1:] if issubclass(origin, dict) else args) if arg is not Ellipsis]
        return bool(parts) and all(map(never_varies, parts))
    if issubclass(origin, np.generic):
        return not issubclass(origin, np.inexact) and origin not in (np.generic, np.number)
    return issubclass(origin, _CONSTANT_CLASSES) or (origin.__module__ == "collections.abc" and not args)
