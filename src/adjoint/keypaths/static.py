"""What the declarations of a class say about the parts of its values."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypeVar, get_args, get_origin

from adjoint.keypaths.steps import Field, Item, Step

UNKNOWN = Any
"""The declared type of a part that no declaration tells."""


def declared_fields(cls: Any) -> dict[str, Any]:
    """The fields that a class declares, in their order, each with its type; those of a base first."""
    origin = get_origin(cls) or cls
    if not isinstance(origin, type):
        return {}
    return {name: bound(cls, hint) for name, hint in _fields(origin).items()}


@functools.lru_cache(maxsize=1024)
def _fields(cls: type) -> dict[str, Any]:
    if cls.__module__ in ("builtins", "numpy"):
        return {}
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):  # names that only a type checker knows
        hints = {}
    names: dict[str, None] = {}
    if dataclasses.is_dataclass(cls):
        names.update(dict.fromkeys(field.name for field in dataclasses.fields(cls)))
    else:
        for base in reversed(cls.__mro__):
            names.update(dict.fromkeys(vars(base).get("__annotations__", ())))
    fields = {name: hints.get(name, UNKNOWN) for name in names}
    return {name: hint for name, hint in fields.items() if get_origin(hint) is not ClassVar and hint is not ClassVar}


def bound(cls: Any, annotation: Any) -> Any:
    """An annotation of a generic class with the arguments that ``cls`` gives."""
    origin = get_origin(cls)
    if origin is None:
        return annotation
    given = dict(zip(getattr(origin, "__parameters__", ()), get_args(cls), strict=False))
    return _substituted(annotation, given)


def _substituted(annotation: Any, given: dict[Any, Any]) -> Any:
    if isinstance(annotation, TypeVar):
        return given.get(annotation, UNKNOWN)
    parameters = getattr(annotation, "__parameters__", ())
    if not parameters:
        return annotation
    return annotation[tuple(given.get(parameter, UNKNOWN) for parameter in parameters)]


def plain(annotation: Any) -> Any:
    """A declared type without what is said about it: ``Annotated``, ``Final``, and ``None`` as the alternative."""
    while True:
        origin, args = get_origin(annotation), get_args(annotation)
        if origin in (typing.Annotated, Final):
            annotation = args[0]
        elif origin in (typing.Union, types.UnionType):
            others = [arg for arg in args if arg is not type(None)]
            if len(others) != 1:
                return UNKNOWN
            annotation = others[0]
        elif isinstance(annotation, TypeVar):
            return UNKNOWN
        else:
            return annotation


def is_optional(annotation: Any) -> bool:
    """Whether the declared type has alternatives."""
    return get_origin(annotation) in (typing.Union, types.UnionType)


def part_type(annotation: Any, step: Step) -> Any:
    """The declared type of what a step leads to."""
    annotation = plain(annotation)
    origin, args = get_origin(annotation) or annotation, get_args(annotation)
    if isinstance(step, Field):
        return declared_fields(annotation).get(step.name, UNKNOWN)
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
    declared = declared_fields(cls).get(name)
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
