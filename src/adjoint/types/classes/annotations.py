"""The declared types of the fields of a class, and what functions are annotated with, as far as it can be known.

From Python 3.14 on annotations are evaluated when they are asked for: then some of their names may not be defined,
as those that only a type checker knows. Such an annotation counts as one that says nothing.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
import weakref
from collections.abc import Mapping
from typing import Any, ClassVar, Final, TypeVar, get_args, get_origin

from adjoint.types.classes.dataclass_fields import dataclass_fields, is_dataclass

UNKNOWN = Any
"""The declared type of what no declaration tells."""

_known: weakref.WeakKeyDictionary[type, dict[str, Any]] = weakref.WeakKeyDictionary()


def field_types(cls: Any, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The fields that a class declares, in their order, those of a base first, each with its declared type.

    Parameters
    ----------
    cls
        A class, or a generic one with its arguments.
    names
        What the names in annotations mean where that is neither in the module nor in the class: the local variables
        of a function in which the class is defined. They count at the first call for a class.
    """
    origin = get_origin(cls) or cls
    if not isinstance(origin, type):
        return {}
    if origin not in _known:
        _known[origin] = _read(origin, names or {})
    found = _known[origin]
    return found if origin is cls else {name: bound(cls, hint) for name, hint in found.items()}


def _read(cls: type, names: Mapping[str, Any]) -> dict[str, Any]:
    if cls.__module__.partition(".")[0] in ("builtins", "numpy"):
        return {}
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        scope = {**vars(sys.modules.get(base.__module__, typing)), base.__name__: base, **names}
        for name, annotation in own_annotations(base).items():
            hints[name] = _resolved(annotation, scope)
    if is_dataclass(cls):
        return {field.name: hints.get(field.name, UNKNOWN) for field in dataclass_fields(cls)}
    return {name: hint for name, hint in hints.items() if not is_class_variable(hint)}


def own_annotations(cls: type) -> dict[str, Any]:
    """The annotations in the body of a class."""
    found = vars(cls).get("__annotations__")
    if found is None and "__annotate_func__" in vars(cls):
        found = annotations_of(cls)
    return found if isinstance(found, dict) else {}


def annotations_of(holder: Any) -> dict[str, Any]:
    """The annotations of a function or a class; of what has none, no annotations."""
    try:
        found = getattr(holder, "__annotations__", None)
        if found is None and getattr(holder, "__annotate__", None) is not None:  # all that a wrapper has of them
            found = inspect.get_annotations(holder)
    except Exception:
        found = inspect.get_annotations(holder, **_unevaluated("format"))
    return found if isinstance(found, dict) else {}


def has_annotations(holder: Any) -> bool:
    """Whether something is of a kind that has annotations, be they none."""
    try:
        return hasattr(holder, "__annotations__") or hasattr(holder, "__annotate__")
    except Exception:  # it has some that cannot be evaluated
        return True


def signature(function: Any, **options: Any) -> inspect.Signature:
    """What `inspect.signature` says, whatever the annotations."""
    try:
        return inspect.signature(function, **options)
    except (NameError, AttributeError):
        return inspect.signature(function, **options, **_unevaluated("annotation_format"))


def _unevaluated(name: str) -> dict[str, Any]:
    """The option, under its name, that has annotations told with references in place of what is not defined."""
    import annotationlib  # type: ignore[import-not-found]  # lazy

    return {name: annotationlib.Format.FORWARDREF}


def _resolved(annotation: Any, scope: dict[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, scope)
    except Exception:  # names that only a type checker knows, or that are defined later
        return UNKNOWN


def is_class_variable(annotation: Any) -> bool:
    """Whether an annotation declares no field."""
    from dataclasses import InitVar  # lazy

    return (get_origin(annotation) or annotation) in (ClassVar, InitVar) or isinstance(annotation, InitVar)


def bound(cls: Any, annotation: Any) -> Any:
    """An annotation of a generic class with the arguments that ``cls`` gives."""
    origin = get_origin(cls)
    if origin is None:
        return annotation
    given = dict(zip(getattr(origin, "__parameters__", ()), get_args(cls), strict=False))
    if isinstance(annotation, TypeVar):
        return given.get(annotation, UNKNOWN)
    parameters = getattr(annotation, "__parameters__", ())
    return annotation[tuple(given.get(parameter, UNKNOWN) for parameter in parameters)] if parameters else annotation


def plain(annotation: Any) -> Any:
    """A declared type without what is said about it: ``Annotated``, ``Final``, and ``None`` as the alternative."""
    while True:
        annotation = _unnamed(annotation)
        origin, args = get_origin(annotation), get_args(annotation)
        if origin in (typing.Annotated, Final):
            annotation = args[0]
        elif has_alternatives(annotation):
            others = [arg for arg in args if arg is not type(None)]
            if len(others) != 1:
                return UNKNOWN
            annotation = others[0]
        elif isinstance(annotation, (TypeVar, str, typing.ForwardRef)):
            return UNKNOWN
        else:
            return annotation


def _unnamed(annotation: Any) -> Any:
    """What a name stands for that a ``type`` statement gives, as those of NumPy's ``NDArray`` are by now."""
    while True:
        named, args = get_origin(annotation) or annotation, get_args(annotation)
        if type(named).__name__ != "TypeAliasType":
            return annotation
        annotation = named.__value__[args] if args else named.__value__


def has_alternatives(annotation: Any) -> bool:
    """Whether a declared type is a union."""
    return get_origin(annotation) in (typing.Union, types.UnionType)


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """The members of a union; the annotation alone where it is none. What is said about it is left out."""
    annotation = _unnamed(annotation)
    while get_origin(annotation) in (typing.Annotated, Final):
        annotation = _unnamed(get_args(annotation)[0])
    return tuple(map(_unnamed, get_args(annotation))) if has_alternatives(annotation) else (annotation,)
