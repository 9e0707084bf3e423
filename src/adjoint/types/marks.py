"""Fields that carry no derivative, by declaration."""

from __future__ import annotations

import re
import typing
import weakref
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_args, get_origin, overload

from adjoint.types.classes.annotations import field_types, own_annotations
from adjoint.types.classes.dataclass_fields import dataclass_fields
from adjoint.types.registry import registration

T = TypeVar("T")

KEY = "no_derivative"
"""The key under which the metadata of a dataclass field has the mark."""

_IN_TEXT = r"\b(NoDerivative|no_derivative)\b"


class Mark:
    """The class of ``no_derivative``: a mark for annotations, and a specifier of fields."""

    @overload
    def __call__(self, *, default: T, **options: Any) -> T: ...
    @overload
    def __call__(self, *, default_factory: Callable[[], T], **options: Any) -> T: ...
    @overload
    def __call__(self, **options: Any) -> Any: ...
    def __call__(self, **options: Any) -> Any:
        """A field of a dataclass that carries no derivative; the options are those of `dataclasses.field`."""
        import dataclasses  # lazy

        metadata = {**(options.pop("metadata", None) or {}), KEY: True}
        return dataclasses.field(**options, metadata=metadata)

    def __repr__(self) -> str:
        return "no_derivative"

    def __reduce__(self) -> str:
        return "no_derivative"


no_derivative = Mark()
"""Marks a field that carries no derivative: its value counts as a constant, and tangents have no such field.

Either in the annotation or as the specifier of the field:

>>> import adjoint as ad
>>> @ad.differentiable
... class Dense:
...     weight: float
...     name: ad.NoDerivative[str] = "dense"
...     use_bias: bool = ad.no_derivative(default=True)
>>> ad.grad(lambda dense: dense.weight * 3.0)(Dense(1.0))
Dense.TangentVector(weight=3.0)
"""

NoDerivative = Annotated[T, no_derivative]
"""``NoDerivative[T]`` annotates a field of the type ``T`` that carries no derivative."""

_known: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()


def no_derivative_fields(cls: type) -> frozenset[str]:
    """The fields of a class that its declaration excludes."""
    registered = registration(cls)
    if registered is not None:
        return frozenset(registered.no_derivative)
    known = _known.get(cls)
    if known is None:
        known = _known[cls] = frozenset(_marked(cls))
    return known


def exclude(cls: type, names: typing.Iterable[str]) -> None:
    """Excludes further fields of a class."""
    _known[cls] = no_derivative_fields(cls) | frozenset(names)


def _marked(cls: type) -> typing.Iterator[str]:
    for base in cls.__mro__:
        if base is not cls and base in _known:
            yield from _known[base]
        for name, annotation in own_annotations(base).items():
            if isinstance(annotation, str) and re.search(_IN_TEXT, annotation):
                yield name
    for name, annotation in field_types(cls).items():
        is_marked = get_origin(annotation) is Annotated and any(
            isinstance(mark, Mark) for mark in get_args(annotation)[1:]
        )
        if is_marked or hasattr(annotation, "__adjoint_function_type__"):  # what a function captures is no part of it
            yield name
    yield from (field.name for field in dataclass_fields(cls) if field.metadata.get(KEY))
