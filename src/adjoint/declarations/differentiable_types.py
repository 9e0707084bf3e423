"""``@differentiable``: what a dataclass gets that says it can be differentiated."""

from __future__ import annotations

import ast
import dataclasses
import sys
import typing
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, get_args, get_origin, overload

import numpy as np

from adjoint.declarations.asserted import assertion_of, overridden
from adjoint.diagnostics import diagnostic, warn
from adjoint.keypaths import KeyPathIterable
from adjoint.types.classes.annotations import UNKNOWN, alternatives, field_types, plain
from adjoint.types.classes.conforming import conform, write_members
from adjoint.types.classes.constant_types import never_varies
from adjoint.types.classes.own_tangents import check_tangent_vector, declaration
from adjoint.types.differentiable import move, moved
from adjoint.types.marks import exclude, no_derivative, no_derivative_fields
from adjoint.types.protocols import PROTOCOLS
from adjoint.types.variables import assign_variables, differentiable_variables, is_manifold, with_variables
from adjoint.types.vectors import ByClass, declare_own_tangent, tangent_class, variables_class

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])


@overload
def differentiable(cls: C, /) -> C: ...
@overload
def differentiable(
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    order: bool = False,
    unsafe_hash: bool = False,
    frozen: bool = False,
    match_args: bool = True,
    kw_only: bool = False,
    slots: bool = False,
    weakref_slot: bool = False,
) -> Callable[[C], C]: ...
@overload
def differentiable(function: F, /) -> F: ...
@overload
def differentiable(
    *,
    wrt: int | str | tuple[int | str, ...] | None = None,
    result: int | None = None,
    native: bool | str = False,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> Callable[[F], F]: ...
@dataclass_transform(field_specifiers=(dataclasses.field, no_derivative))
def differentiable(cls: Any = None, /, **options: Any) -> Any:
    """Makes a class a dataclass whose values can vary; declares a function or a method to be differentiable.

    What is declared of a function is checked where it stands, if annotations tell the types of its arguments; of a
    method, where its class is decorated. Else it is told where it is differentiated, and ``adjoint check`` finds it.

    Parameters
    ----------
    cls
        The class; one that is a dataclass already stays as it is. Or the function, method or property.
    **options
        Those of `dataclasses.dataclass`. For a function:

        ``wrt``
            The parameters for which it can be differentiated, by index or name, in their order.
        ``result``
            The component of the tuple that it returns which can be differentiated.
        ``native``, ``fastmath``, ``boundscheck``
            Its derivatives are compiled without asking, as by those options of :func:`grad`.

    Returns
    -------
    type or callable
        The function itself; or the class, with

        ``TangentVector``, ``DifferentiableVariables``
            The classes of its gradients and of :func:`differentiable_variables`: the class itself where it has ``+``
            and ``-`` and all of its fields are vectors; else one class with a field for each field that varies.
        ``differentiable_variables``
            All that varies, as one value; where everything is mutable it can be assigned.
        ``with_variables(variables)``
            A value that differs in what varies.
        ``moved(along=tangent)``, ``move(along=tangent)``
            The value in the direction of a tangent, new or in place.
        ``gradient(f)``
            The gradient of a function at the value.
        ``value[key_path]``
            The part that a key path leads to.

        What the class defines itself stays. A protocol that it names among its bases (``AdditiveArithmetic``,
        ``VectorSpace``, ``PointwiseMultiplicative``, ``ElementaryFunctions``, ``VectorNumeric``) is implemented field
        by field.

    Raises
    ------
    DifferentiationError
        AD0430 for a function that cannot be differentiated by its signature; for others what differentiating refuses.

    Warns
    -----
    DifferentiationWarning
        For a field that cannot vary by its declared type and is not marked with :data:`no_derivative`; for a method
        that overrides a declared one and is not declared itself.

    Examples
    --------
    >>> import adjoint as ad
    >>> @ad.differentiable
    ... class Vector(ad.VectorNumeric):
    ...     x: float
    ...     y: float
    ...     z: float
    >>> ad.grad(lambda v: (v + v).x)(Vector(1.0, 2.0, 3.0))
    Vector(x=2.0, y=0.0, z=0.0)
    """
    scope = dict(sys._getframe(1).f_locals)
    if cls is None:
        return lambda subject: _declared(subject, options, scope)
    return _declared(cls, options, scope)


_OF_FUNCTIONS = {"wrt", "result", "native", "fastmath", "boundscheck"}


def _declared(subject: Any, options: dict[str, Any], scope: dict[str, Any]) -> Any:
    if isinstance(subject, type):
        if options.keys() & _OF_FUNCTIONS:
            raise TypeError(f"{', '.join(sorted(options.keys() & _OF_FUNCTIONS))}: for functions, not for a class")
        return _declared_class(subject, options, scope)
    from adjoint.api.differentiable_functions import declare  # lazy

    if not options.keys() <= _OF_FUNCTIONS:
        raise TypeError(f"{', '.join(sorted(options.keys() - _OF_FUNCTIONS))}: for classes, not for a function")
    return declare(subject, scope=scope, **options)


def _declared_class(cls: Any, options: dict[str, bool], scope: dict[str, Any]) -> Any:
    if "__dataclass_params__" not in vars(cls):
        cls = dataclasses.dataclass(cls, **options)
    elif options:
        raise TypeError(f"{cls.__qualname__} is a dataclass already: give its options there")
    hints = field_types(cls, scope)
    _exclude_what_cannot_vary(cls, hints)
    conform(cls)
    check_tangent_vector(cls, scope)
    if _is_own_tangent(cls, hints):
        declare_own_tangent(cls)
        if not hasattr(cls, "zero"):
            write_members(cls, ["zero"])
    _add_members(cls)
    if any(assertion_of(member) is not None for member in vars(cls).values()) or _overrides(cls):
        from adjoint.api.differentiable_functions import check_class  # lazy

        check_class(cls)
    return cls


def _overrides(cls: type) -> bool:
    """Whether a member overrides one that is declared to be differentiable, and is not declared itself."""
    return any(overridden(cls, name) is not None for name in vars(cls))


# -- fields that cannot vary


def _exclude_what_cannot_vary(cls: type, hints: dict[str, Any]) -> None:
    marked = no_derivative_fields(cls)
    unmarked = [name for name, hint in hints.items() if name not in marked and (never_varies(hint) or _is_final(hint))]
    inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__dataclass_fields__", ())}
    for name in unmarked:
        if name not in inherited:
            _warn_of(cls, name)
    exclude(cls, unmarked)


def _is_final(annotation: Any) -> bool:
    """Whether a field is not to be assigned again, so that it cannot move."""
    return annotation is typing.Final or get_origin(annotation) is typing.Final


def _warn_of(cls: type, name: str) -> None:
    node, span = declaration(cls, name)
    hint = field_types(cls)[name]
    kind = ast.unparse(node.annotation) if node is not None else getattr(hint, "__name__", "...")
    if _is_final(hint):
        kind = getattr(plain(hint), "__name__", "...")
    default = f" = {ast.unparse(node.value)}" if node is not None and node.value is not None else ""
    fixes = [f"mark it: {name}: ad.NoDerivative[{kind}]{default}"]
    label = f"values of the type {kind} do not vary"
    if _is_final(hint) and not never_varies(hint):
        label = "a Final field is not assigned again, so it does not move"
        fixes.append("or leave out Final: then it varies")
    warn(diagnostic("AD0503", span, label, helps=fixes, name=f"{cls.__qualname__}.{name}"))


# -- values that are their own tangents


def _is_own_tangent(cls: type, hints: dict[str, Any]) -> bool:
    has_arithmetic = all(hasattr(cls, name) for name in ("__add__", "__sub__"))
    has_own = isinstance(vars(cls).get("TangentVector"), type)
    return has_arithmetic and not has_own and not no_derivative_fields(cls) and all(map(is_vector_type, hints.values()))


def is_vector_type(annotation: Any) -> bool:
    """Whether all values of a declared type are their own tangents."""
    if len(alternatives(annotation)) > 1:
        return False
    kind = plain(annotation)
    origin, args = get_origin(kind) or kind, get_args(kind)
    if not isinstance(origin, type) or kind is UNKNOWN:
        return False
    if issubclass(origin, (list, tuple, dict)):
        parts = [arg for arg in (args[1:] if issubclass(origin, dict) else args) if arg is not Ellipsis]
        return bool(parts) and all(map(is_vector_type, parts))
    if issubclass(origin, np.ndarray):
        scalars = get_args(args[1]) if len(args) == 2 else ()
        return not scalars or (isinstance(scalars[0], type) and issubclass(scalars[0], np.inexact))
    return issubclass(origin, (float, complex, np.inexact)) or tangent_class(origin) is origin


# -- members


class Synthesised:
    """The members that a class gets; what it defines itself takes their place."""

    TangentVector = ByClass(tangent_class)
    DifferentiableVariables = ByClass(lambda cls: variables_class_of(cls))

    def _get_variables(self) -> Any:
        """All of the value that varies, as one value."""
        return differentiable_variables(self)

    def _set_variables(self, variables: Any) -> None:
        assign_variables(self, variables)

    differentiable_variables = property(_get_variables, _set_variables)

    def with_variables(self, variables: Any) -> Any:
        """A value like this one that has these variables."""
        return with_variables(self, variables)

    def moved(self, along: Any) -> Any:
        """The value in the direction of a tangent."""
        return moved(self, along)

    def move(self, along: Any) -> None:
        """Moves the value along a tangent, in place."""
        move(self, along)

    def gradient(self, f: Callable[[Any], Any]) -> Any:
        """The gradient of a function at this value."""
        from adjoint.api.gradients import grad  # lazy

        return grad(f)(self)

    __getitem__ = KeyPathIterable.__getitem__
    __setitem__ = KeyPathIterable.__setitem__


_MEMBERS = {
    name: member
    for name, member in vars(Synthesised).items()
    if not name.startswith("_") or name in ("__getitem__", "__setitem__")
}


def _add_members(cls: type) -> None:
    fields = field_types(cls)
    for name, member in _MEMBERS.items():
        if name in fields:
            continue
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if owner is None or owner in PROTOCOLS or vars(owner)[name] is member:
            setattr(cls, name, member)


def variables_class_of(cls: type) -> type:
    """The class of variables, as far as the declarations tell: that of tangents, unless there are points among them."""
    if is_manifold(cls):
        return cls
    kinds = [hint for name, hint in field_types(cls).items() if name not in no_derivative_fields(cls)]
    return variables_class(cls) if any(map(_has_points, kinds)) else tangent_class(cls)


def _has_points(annotation: Any) -> bool:
    kind = plain(annotation)
    origin, args = get_origin(kind) or kind, get_args(kind)
    if not isinstance(origin, type):
        return False
    if issubclass(origin, (list, tuple, dict)):
        return any(_has_points(arg) for arg in args if arg is not Ellipsis)
    return is_manifold(origin) or bool(
        getattr(origin, "DifferentiableVariables", None) is not None and _variables_differ(origin)
    )


def _variables_differ(cls: type) -> bool:
    return cls.DifferentiableVariables is not tangent_class(cls)  # type: ignore[attr-defined]
