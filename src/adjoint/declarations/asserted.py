"""Functions that are declared to be differentiable, as far as the compiler asks: what was declared, and where."""

from __future__ import annotations

import types
from typing import Any

from adjoint.diagnostics import Diagnostic, DifferentiationError, Span, diagnostic
from adjoint.records import dataclass
from adjoint.sources import definitions

MARK = "__adjoint_differentiable__"
"""The attribute of a function that tells what was declared of it."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """What ``@ad.differentiable`` declares of a function.

    Attributes
    ----------
    wrt
        Positions of the parameters for which it can be differentiated; None where the declaration does not tell.
    result
        Which component of its result, None for the whole.
    """

    wrt: tuple[int, ...] | None = None
    result: int | None = None


_declared: set[str] = set()
"""The names under which functions were declared: most programs declare none."""


def mark(function: Any, assertion: Assertion) -> None:
    setattr(function, MARK, assertion)
    _declared.add(function.__name__)


def behind(member: Any) -> Any:
    """The function behind a member of a class: of a method of any kind, or of a property."""
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    return member.fget if isinstance(member, property) else member


def assertion_of(member: Any) -> Assertion | None:
    """What was declared of a function, or of a member of a class; None if nothing was."""
    function = behind(member)
    return getattr(function, MARK, None) if isinstance(function, types.FunctionType) else None


def overridden(cls: type, name: str) -> type | None:
    """The base of a class whose member of a name is declared to be differentiable, and that of the class is not."""
    if name not in _declared:
        return None
    owners = [base for base in cls.__mro__ if name in base.__dict__]
    if not owners or assertion_of(owners[0].__dict__[name]) is not None:
        return None
    return next((base for base in owners[1:] if assertion_of(base.__dict__[name]) is not None), None)


def lacking(cls: type, name: str, base: type) -> Diagnostic:
    """What is to be said of a member that overrides a declared one, and is not declared itself."""
    own = next(owner for owner in cls.__mro__ if name in owner.__dict__)
    others = [(place, "it is declared here")] if (place := _place(base.__dict__[name])) is not None else []
    label = f"{own.__name__}.{name} overrides {base.__name__}.{name}, which is declared to be differentiable"
    return diagnostic("AD0510", _place(own.__dict__[name]), label, others=others, name=f"{own.__name__}.{name}")


def _place(member: Any) -> Span | None:
    try:
        return definitions.find(behind(member)).heading
    except DifferentiationError:
        return None
