"""The laws of differentiable types, checked at a value."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import tangents
from adjoint.types.differentiable import moved
from adjoint.types.marks import no_derivative_fields
from adjoint.types.structure import children, is_container, is_leaf_value, is_object, map_structure
from adjoint.types.variables import differentiable_variables, with_variables
from adjoint.types.vectors import tangent_class

_STEP = 1e-5


def check_type(value: Any, tangent: Any = None, *, tol: float = 1e-6) -> None:
    """Checks the laws of a differentiable type at one of its values.

    Parameters
    ----------
    value
        A value of the type, or a structure of such values.
    tangent
        A tangent at this value; a random one if it is absent.
    tol
        Tolerance, relative where numbers exceed 1.

    Raises
    ------
    AssertionError
        Names the law that does not hold, with what was compared.

    Notes
    -----
    The laws: tangents are their own tangents and variables, and variables their own variables; tangents form a vector
    space, in which the type's own ``+`` is the sum of the fields; a value that moves along zero stays, and else starts
    in the direction of the tangent; what carries no derivative stays with it; variables are what can be put back; the
    derivative of the identity gives a tangent back, in both modes.

    Examples
    --------
    >>> import adjoint as ad
    >>> @ad.differentiable
    ... class Vector(ad.VectorSpace):
    ...     x: float
    ...     y: float
    >>> ad.testing.check_type(Vector(1.0, 2.0))
    """
    t = random_tangent(value, 1) if tangent is None else tangent
    laws = _Laws(value, tol)
    laws.of_classes(value)
    laws.of_vectors(t, random_tangent(value, 2))
    laws.of_moving(t)
    laws.of_variables()
    laws.of_identity(t)


def random_tangent(value: Any, seed: int) -> Any:
    """A tangent of a value, with normally distributed numbers."""
    from adjoint.manifolds.gradient import tangent_from  # lazy

    rng = np.random.default_rng(seed)

    def drawn(zero: Any) -> Any:
        if isinstance(zero, np.ndarray):
            return np.asarray(rng.normal(size=zero.shape), dtype=zero.dtype)
        return type(zero)(rng.normal()) if is_leaf_value(zero) else zero

    return tangent_from(value, map_structure(drawn, tangents.zero(value)))


class _Laws:
    """The laws, for one value."""

    def __init__(self, value: Any, tol: float) -> None:
        self.value, self.tol = value, tol
        self.name = type(value).__qualname__

    def same(self, law: str, a: Any, b: Any) -> None:
        if not _close(a, b, self.tol):
            raise AssertionError(f"{self.name}: {law}\n  {a!r}\n  {b!r}")

    def is_same(self, law: str, a: Any, b: Any) -> None:
        if a is not b:
            raise AssertionError(f"{self.name}: {law}: {a!r} is not {b!r}")

    def of_classes(self, value: Any) -> None:
        if is_object(value):
            cls = type(value)
            tangent = tangent_class(cls)
            self.is_same("TangentVector.TangentVector is TangentVector", tangent_class(tangent), tangent)
            variables = getattr(cls, "DifferentiableVariables", None)
            if variables is not None:
                own = variables.DifferentiableVariables
                self.is_same("DifferentiableVariables.DifferentiableVariables is itself", own, variables)
                self.is_same("DifferentiableVariables.TangentVector is TangentVector", variables.TangentVector, tangent)
                of_tangent = getattr(tangent, "DifferentiableVariables", tangent)
                self.is_same("TangentVector.DifferentiableVariables is TangentVector", of_tangent, tangent)
        if is_container(value):
            for _, part in children(value):
                self.of_classes(part)

    def of_vectors(self, t: Any, u: Any) -> None:
        add, scale, zero = tangents.add, tangents.scale, tangents.zero(self.value)
        self.same("t + zero = t", add(t, zero), t)
        self.same("zero + t = t", add(zero, t), t)
        self.same("t + u = u + t", add(t, u), add(u, t))
        self.same("(t + u) + t = t + (u + t)", add(add(t, u), t), add(t, add(u, t)))
        self.same("t - t = zero", tangents.subtract(t, t), zero)
        self.same("1 t = t", scale(t, 1.0), t)
        self.same("0 t = zero", scale(t, 0.0), zero)
        self.same("2 (3 t) = 6 t", scale(scale(t, 3.0), 2.0), scale(t, 6.0))
        self.same("2 t + 3 t = 5 t", add(scale(t, 2.0), scale(t, 3.0)), scale(t, 5.0))
        self.same("2 (t + u) = 2 t + 2 u", scale(add(t, u), 2.0), add(scale(t, 2.0), scale(u, 2.0)))
        if t is not None:
            total = map_structure(lambda a, b: a + b if is_leaf_value(a) else a, t, u)
            self.same("t + u is the sum of the fields", add(t, u), total)
        self.of_operators(t, u)

    def of_operators(self, t: Any, u: Any) -> None:
        """The operators of a class, where it has them, are the operations of the vector space."""
        if not is_object(t):
            return
        if hasattr(type(t), "__sub__"):
            self.same("t - u = t + (-u)", t - u, tangents.subtract(t, u))
        if hasattr(type(t), "zero"):
            self.same("t.zero is zero", t.zero, tangents.zero(self.value))
        if hasattr(type(t), "__rmul__") and hasattr(type(t), "__mul__"):
            self.same("2 t is twice t", 2.0 * t, tangents.scale(t, 2.0))

    def of_moving(self, t: Any) -> None:
        zero = tangents.zero(self.value)
        stays = moved(self.value, zero)
        self.is_same("a value that moves keeps its class", type(stays), type(self.value))
        self.same("moved(along=zero) stays", differentiable_variables(stays), differentiable_variables(self.value))
        ahead = moved(self.value, tangents.scale(t, _STEP))
        behind = moved(self.value, tangents.scale(t, -_STEP))
        direction = _difference(ahead, behind)
        expected = tangents.scale(t, 2 * _STEP) if t is not None else None
        self.same("moved starts in the direction of the tangent", _scaled(direction), _scaled(_leaves(expected)))
        self.of_kept(self.value, ahead)

    def of_kept(self, before: Any, after: Any) -> None:
        if not is_container(before):
            return
        if is_object(before):
            for name in no_derivative_fields(type(before)):
                if hasattr(before, name):
                    self.same(f"moving keeps .{name}", getattr(before, name), getattr(after, name))
        for (_, old), (_, new) in zip(children(before), children(after), strict=True):
            self.of_kept(old, new)

    def of_variables(self) -> None:
        variables = differentiable_variables(self.value)
        again = with_variables(copy.copy(self.value), variables)
        self.is_same("with_variables keeps the class", type(again), type(self.value))
        self.same("variables are what is put back", differentiable_variables(again), variables)
        self.of_kept(self.value, again)

    def of_identity(self, t: Any) -> None:
        if t is None:
            return
        value, pullback = ad.vjp(_identity, self.value)
        self.same("the pullback of the identity gives a cotangent back", pullback(t)[0], t)
        self.is_same("the pullback of the identity keeps the class", type(pullback(t)[0]), type(t))
        self.same("the identity", differentiable_variables(value), differentiable_variables(self.value))
        self.same("the differential of the identity", ad.jvp(_identity, (self.value,), (t,))[1], t)


def _identity(x: Any) -> Any:
    return x


def _leaves(structure: Any) -> list[Any]:
    if is_leaf_value(structure):
        return [structure]
    return [leaf for _, part in children(structure) for leaf in _leaves(part)] if is_container(structure) else []


def _difference(ahead: Any, behind: Any) -> list[Any]:
    return [a - b for a, b in zip(_leaves(ahead), _leaves(behind), strict=True)]


def _scaled(leaves: list[Any]) -> list[Any]:
    return [leaf / (2 * _STEP) for leaf in leaves]


def _close(a: Any, b: Any, tol: float) -> bool:
    if is_container(a) or is_container(b):
        mine, theirs = dict(children(a)), dict(children(b)) if is_container(b) else {}
        names = dict.fromkeys((*mine, *theirs))
        return all(_close(mine.get(name), theirs.get(name), tol) for name in names)
    if is_leaf_value(a) and is_leaf_value(b):
        single = any(np.asarray(leaf).dtype.itemsize < 8 for leaf in (a, b))
        scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
        return np.shape(a) == np.shape(b) and bool(np.all(np.abs(a - b) <= (1e-2 if single else tol) * scale))
    return a is b or bool(np.all(a == b))
