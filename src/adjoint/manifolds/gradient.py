"""Gradients that are tangent to the space in which the argument moves."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from adjoint import keypaths  # noqa: F401, what the hint Wrt refers to
from adjoint.api.derivative import Derivative, Wrt
from adjoint.api.gradients import grad
from adjoint.types.structure import children, field_names, is_container, is_namedtuple, is_object, memberwise
from adjoint.types.vectors import tangent_class


def tangent_from(value: Any, cotangent: Any) -> Any:
    """The tangent that a cotangent stands for: the direction of steepest ascent.

    Parameters
    ----------
    value
        A point, or a structure that holds points among numbers and arrays. Classes that are curved say by a method
        ``tangent_from`` what the tangent is; for anything else it is the cotangent itself.
    cotangent
        The derivatives of a number with respect to the coordinates, as :func:`adjoint.grad` gives them.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint.manifolds import Sphere
    >>> place = Sphere(np.array([1.0, 0.0]))
    >>> tangent_from(place, Sphere.TangentVector(point=np.array([5.0, 2.0])))
    Sphere.TangentVector(point=array([0., 2.]))
    """
    if cotangent is None or not is_container(value):
        return cotangent
    own = getattr(type(value), "tangent_from", None)
    if own is not None:
        return own(value, cotangent)
    if isinstance(value, dict):
        return {key: tangent_from(item, cotangent.get(key)) for key, item in value.items()}
    if is_object(value) and not is_namedtuple(value):
        names = [name for name in field_names(value) if getattr(cotangent, name, None) is not None]
        parts = {name: tangent_from(getattr(value, name), getattr(cotangent, name)) for name in names}
        return memberwise(tangent_class(type(value)), **parts)
    items = [tangent_from(item, part) for (_, item), part in zip(children(value), cotangent, strict=True)]
    if isinstance(value, list):
        return items
    return type(value)(*items) if is_namedtuple(value) else tuple(items)


class RiemannianGradient:
    """The gradient of a function, as a tangent of the space in which its argument moves."""

    def __init__(self, function: Callable[..., Any], wrt: Wrt = 0) -> None:
        self.plain: Derivative = grad(function, wrt)
        self.wrt = wrt

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        points = copy.deepcopy(self._chosen(args, kwargs))  # as they are before the function may write them
        cotangents = self.plain(*args, **kwargs)
        if not isinstance(self.wrt, (tuple, list)):
            return tangent_from(points[0], cotangents)
        return tuple(tangent_from(point, part) for point, part in zip(points, cotangents, strict=True))

    def _chosen(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        from adjoint.frontend.calls.argument_names import chosen  # lazy

        return chosen(self.plain.function, dict(self.plain.options)["wrt"], args, kwargs)

    def __repr__(self) -> str:
        return f"riemannian_{self.plain!r}"


def riemannian_grad(f: Callable[..., Any], wrt: Wrt = 0) -> RiemannianGradient:
    """The gradient of a function that returns a number, as a tangent: the direction of steepest ascent.

    Parameters
    ----------
    f, wrt
        As for :func:`adjoint.grad`.

    Returns
    -------
    RiemannianGradient
        Takes the arguments of ``f``. Its results are what ``moved`` takes; parts that are no points of a curved space
        have their plain gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint.manifolds import Simplex, riemannian_grad
    >>> entropy = lambda p: -np.sum(p.weights * np.log(p.weights))
    >>> even = Simplex(np.full(4, 0.25))
    >>> riemannian_grad(entropy)(even)
    Simplex.TangentVector(weights=array([0., 0., 0., 0.]))
    """
    return RiemannianGradient(f, wrt)
