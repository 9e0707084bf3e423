"""Classes of other libraries, whose fields cannot be told from the outside: what is declared of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class Registration:
    """What is known of a class that was not written for differentiation."""

    fields: tuple[str, ...]
    no_derivative: tuple[str, ...]
    make: Callable[..., Any] | None
    moved: Callable[[Any, Any], Any] | None


_registered: weakref.WeakKeyDictionary[type, Registration] = weakref.WeakKeyDictionary()


def registration(cls: type) -> Registration | None:
    """What was declared of a class or of one of its bases."""
    if not _registered:
        return None
    return next((_registered[base] for base in cls.__mro__ if base in _registered), None)


def has_registrations() -> bool:
    """Whether anything was declared of any class."""
    return bool(_registered)


def register_type(
    cls: type,
    *,
    fields: tuple[str, ...] | list[str] = (),
    no_derivative: tuple[str, ...] | list[str] = (),
    make: Callable[..., Any] | None = None,
    moved: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Declares a class of another library as differentiable.

    Parameters
    ----------
    cls
        The class. Subclasses count as declared, too.
    fields
        The attributes that vary: what they are is what a value is made of.
    no_derivative
        The attributes that do not vary, and that a value is made of besides.
    make
        Makes a value of the class: takes all attributes by keyword. Without it, a value is made without the
        constructor of the class, and its attributes are assigned.
    moved
        ``moved(value, tangent)``: the value in the direction of a tangent. Without it, each field is moved.

    Examples
    --------
    >>> import adjoint as ad
    >>> class Length:                          # imagine that it comes from elsewhere
    ...     def __init__(self, metres, unit):
    ...         self.metres, self.unit = metres, unit
    >>> ad.register_type(Length, fields=("metres",), no_derivative=("unit",))
    >>> ad.grad(lambda length: length.metres * length.metres)(Length(3.0, "m"))
    Length.TangentVector(metres=6.0)
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_type takes a class, not {cls!r}")
    for name in (*fields, *no_derivative):
        if not isinstance(name, str):
            raise TypeError(f"the fields of a type are given by name, not as {name!r}")
    if not fields:
        raise TypeError(f"{cls.__qualname__} needs fields that vary")
    both = set(fields) & set(no_derivative)
    if both:
        raise TypeError(f"{cls.__qualname__}.{both.pop()} is given as a field that varies and as one that does not")
    _registered[cls] = Registration(tuple(fields), tuple(no_derivative), make, moved)
