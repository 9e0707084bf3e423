"""Derivatives that users declare, found by the identity of what is called.

A bound method is a new object whenever somebody asks for it: it is known by its object and its function. A property is
known by its getter.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from adjoint.records import dataclass, replace
from adjoint.types.classes.safe_lookups import is_hashable

Fn = Callable[..., Any]
Place = int | str
"""A parameter: by its position, or by its name where it is given by name only."""


@dataclass(frozen=True, eq=False, slots=True)
class Declaration:
    """The derivative of a function as its user declares it; see :func:`adjoint.derivative_of`.

    Attributes
    ----------
    fn
        The function.
    wrt
        The parameters that the derivative is with respect to; None for all that are given by position.
    pullback
        Takes the arguments; returns the value and a pullback.
    differential
        Takes the arguments; returns the value and a differential.
    primal, adjoint
        The primal takes the arguments and returns checkpoints and the value. The adjoint takes what its parameters
        name of the arguments, the checkpoints, the value and the seed; returns the cotangents.
    transpose
        Of a function that is linear in ``wrt``: takes the other arguments and a cotangent; returns the cotangents.
    """

    fn: Fn
    wrt: tuple[Place, ...] | None = None
    pullback: Fn | None = None
    differential: Fn | None = None
    primal: Fn | None = None
    adjoint: Fn | None = None
    transpose: Fn | None = None

    @property
    def name(self) -> str:
        """What to call the function in messages."""
        return name_of(self.fn)

    @property
    def reverse(self) -> Fn | None:
        """What gives cotangents."""
        return self.pullback or self.adjoint or self.transpose

    def with_(self, **parts: Any) -> Declaration:
        """The declaration with more, or other, parts."""
        return replace(self, **parts)


def name_of(fn: Any) -> str:
    """What to call a function in messages."""
    return str(getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or _shown(fn))


def _shown(fn: Any) -> str:
    if isinstance(fn, functools.partial):
        return f"partial of {name_of(fn.func)}"
    return type(fn).__qualname__


class StandIn:
    """What is called in place of a method of one object, or of what has no hash, by which tables know callees."""

    def __init__(self, fn: Fn) -> None:
        self.fn = fn
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)


_declarations: dict[Hashable, Declaration] = {}
_numbered: list[Fn] = []
"""What machine code calls that cannot be imported by name."""
_stand_ins: dict[int, StandIn] = {}
_values: dict[int, StandIn] = {}
_owners: set[int] = set()
"""The objects of which a bound method has a declaration, by identity."""
_of_objects: list[tuple[Any, Any]] = []
"""The objects of which a declaration is for a method, with that, or for their call, with None."""


def add(declaration: Declaration) -> None:
    """Enters a declaration, in place of an earlier one."""
    _declarations[_key(declaration.fn)] = declaration
    owner = owner_of(declaration.fn)
    if owner is not None:
        _owners.add(id(owner))
        _of_objects.append((owner, getattr(declaration.fn, "__func__", None)))
    elif not isinstance(declaration.fn, (FunctionType, BuiltinFunctionType, type)):
        _of_objects.append((declaration.fn, None))


def callee_of(declaration: Declaration) -> Fn:
    """What to call where the function is called as it stands."""
    fn = declaration.fn
    if owner_of(fn) is None and is_hashable(fn):
        return fn
    stand_in = _stand_ins.setdefault(id(fn), StandIn(fn))
    _declarations[id(stand_in)] = declaration
    return stand_in


def value_of(declaration: Declaration) -> Fn:
    """What gives its first argument, which was computed of the others as the function would."""
    stand_in = _values.setdefault(id(declaration), StandIn(_first))
    stand_in.__name__ = declaration.name
    _declarations[id(stand_in)] = declaration
    return stand_in


def _first(value: Any, *others: Any) -> Any:
    return value


def number_of(callee: Any) -> int | None:
    """A number by which this process knows a function whose derivative is declared; None for others."""
    if declaration_for(callee) is None:
        return None
    if not any(callee is known for known in _numbered):
        _numbered.append(callee)
    return next(number for number, known in enumerate(_numbered) if known is callee)


def numbered(number: int) -> Fn:
    """The function that has a number."""
    return _numbered[number]


def remove(callee: Any) -> None:
    """Forgets what is declared of a callee."""
    _declarations.pop(_key(callee), None)


def declaration_for(callee: Any) -> Declaration | None:
    """What is declared of a callee, if anything."""
    if not _declarations:
        return None
    found = _declarations.get(id(callee))
    return found if found is not None or not _owners else _declarations.get(_key(callee))


def declaration_of_method(owner: Any, function: Any) -> Declaration | None:
    """What is declared of a method of this very object."""
    return _declarations.get((id(owner), id(function))) if id(owner) in _owners else None


def may_be_of_one_object(cls: type, function: Any) -> bool:
    """Whether something is declared of one object of a class: of a method of it, or of its call where that is None."""
    return any(declared is function and isinstance(owner, cls) for owner, declared in _of_objects)


def counts_by_identity(value: Any) -> bool:
    """Whether something is declared of this very object or of a method of it: others that look like it may differ."""
    return id(value) in _owners or id(value) in _declarations


def owner_of(callee: Any) -> Any:
    """The object of a bound method; None for what is no such method."""
    if isinstance(callee, (MethodType, BuiltinMethodType, MethodWrapperType)):
        owner = callee.__self__
        return None if isinstance(owner, ModuleType) else owner
    return None


def _key(callee: Any) -> Hashable:
    owner = owner_of(callee)
    if owner is None:
        return id(callee)
    return id(owner), id(callee.__func__) if isinstance(callee, MethodType) else callee.__name__
