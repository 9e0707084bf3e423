"""What the declarations of a class say about the parts of its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, get_args, get_origin

from adjoint.keypaths.steps import Field, Item, Step
from adjoint.types.classes.annotations import UNKNOWN, field_types, plain
from adjoint.types.classes.dataclass_fields import is_dataclass


def part_type(annotation: Any, step: Step) -> Any:
    """The declared type of what a step leads to."""
    annotation = plain(annotation)
    origin, args = get_origin(annotation) or annotation, get_args(annotation)
    if isinstance(step, Field):
        return field_types(annotation).get(step.name, UNKNOWN)
    if origin is list and args:
        return args[0]
    if origin is dict and len(args) == 2:
        return args[1]
    if origin is tuple and args:
        if len(args) == 2 and args[1] is Ellipsis:
            return args[0]
        if isinstance(step.key, int) and -len(args) <= step.key < len(args):
            return args[step.key]
    return UNKNOWN


def is_read_only(annotation: Any, step: Step) -> bool:
    """Whether declarations forbid to assign to what a step leads to."""
    annotation = plain(annotation)
    origin = get_origin(annotation) or annotation
    if not isinstance(origin, type):
        return False
    if isinstance(step, Item):
        return issubclass(origin, tuple)
    return is_read_only_field(origin, step.name)


def is_read_only_field(cls: type, name: str) -> bool:
    """Whether a field is one of a frozen dataclass or named tuple, or declared ``Final``."""
    params = getattr(cls, "__dataclass_params__", None)
    if issubclass(cls, tuple) or (params is not None and params.frozen and name in cls.__dataclass_fields__):  # type: ignore[attr-defined]
        return True
    declared = field_types(cls).get(name)
    if declared is not None:
        return declared is Final or get_origin(declared) is Final
    member = getattr(cls, name, None)
    return isinstance(member, property) and member.fset is None


def is_declared_read_only(annotation: Any, steps: Sequence[Step]) -> bool:
    """Whether something on the way cannot be assigned to, so that nothing below it can."""
    for step in steps:
        if is_read_only(annotation, step):
            return True
        annotation = part_type(annotation, step)
    return False


def first_missing(annotation: Any, steps: Sequence[Step], start: int = 0) -> tuple[int, Any] | None:
    """The first step from ``start`` on that declarations rule out, and the declared type that lacks the part.

    What they leave open may be there: attributes of classes that declare no fields, members of a union.
    """
    for index, step in enumerate(steps):
        if index >= start and not _may_have(annotation, step):
            return index, annotation
        annotation = part_type(annotation, step)
    return None


def _may_have(annotation: Any, step: Step) -> bool:
    kind = plain(annotation)
    origin, args = get_origin(kind) or kind, get_args(kind)
    if kind is UNKNOWN or not isinstance(origin, type):
        return True
    if isinstance(step, Field):
        is_open = not (is_dataclass(origin) or origin.__module__ in ("builtins", "numpy"))
        return step.name in field_types(kind) or hasattr(origin, step.name) or hasattr(origin, "__getattr__") or is_open
    if issubclass(origin, tuple) and isinstance(step.key, int):
        count = len(getattr(origin, "_fields", args if args and args[-1] is not Ellipsis else ()))
        return not count or -count <= step.key < count
    return hasattr(origin, "__getitem__") or not (is_dataclass(origin) or origin.__module__ in ("builtins", "numpy"))
