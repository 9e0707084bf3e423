"""Bundles of parameters: classes all of whose fields are parameters."""

from __future__ import annotations

import dataclasses
import functools
import operator
import typing
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from adjoint.declarations.differentiable_types import is_vector_type
from adjoint.keypaths import KeyPathIterable
from adjoint.parameters.iteration import copied, update_each, updated_each
from adjoint.parameters.layout import Layout
from adjoint.types.classes.annotations import field_types as declared_types
from adjoint.types.marks import no_derivative_fields
from adjoint.types.structure import map_structure
from adjoint.types.vectors import as_typed, tangent_class


class ClassValue:
    """An attribute of a class that is computed from it."""

    def __init__(self, compute: Callable[[type], Any]) -> None:
        self.compute = compute

    def __get__(self, instance: object, owner: type) -> Any:
        return self.compute(owner)


def field_types(cls: type) -> dict[str, Any]:
    """The declared types of the fields of a dataclass."""
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def parameter_type(types: Sequence[Any]) -> Any:
    """The type that parameters of some declared types have in common; a union where they have none."""
    effective = [getattr(kind, "Parameter", kind) for kind in types]
    return functools.reduce(operator.or_, dict.fromkeys(effective)) if effective else None


def is_uniform(types: Sequence[Any]) -> bool:
    """Whether parameters of some declared types have one type in common."""
    return len({getattr(kind, "Parameter", kind) for kind in types}) == 1 and all(
        not hasattr(kind, "Parameter") or is_uniform(list(field_types(kind).values())) for kind in types
    )


@functools.lru_cache(maxsize=1024)
def _parameter_of(cls: type) -> Any:
    return parameter_type(list(field_types(cls).values()))


class ParameterAggregate(KeyPathIterable):
    """A base for dataclasses all of whose fields are parameters, or bundles of them.

    Gradients of functions of such a bundle are bundles of the same class, which can be added and scaled. The parameters
    may have different types. With ``strict=True`` they may not: ``class Weights(ad.ParameterAggregate,
    strict=True)`` raises a TypeError when ``Parameter`` is asked for and there is no single one.

    Attributes
    ----------
    Parameter : type
        The type that all parameters have, those in nested aggregates included; a union where they differ.

    Examples
    --------
    >>> import adjoint as ad
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Parameters(ad.ParameterAggregate):
    ...     w: np.ndarray
    ...     b: float
    >>> parameters = Parameters(w=np.ones((2, 2)), b=1.0)
    >>> gradients = Parameters(w=np.full((2, 2), 0.5), b=0.5)
    >>> parameters.update(gradients, lambda p, g: p - 0.1 * g)
    >>> parameters
    Parameters(w=array([[0.95, 0.95],
           [0.95, 0.95]]), b=0.95)
    """

    __slots__ = ()

    def __init_subclass__(cls, strict: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if strict:
            cls.Parameter = ClassValue(_strict_parameter)

    Parameter: Any = ClassValue(_parameter_of)
    TangentVector: Any = ClassValue(tangent_class)

    @classmethod
    def __adjoint_is_own_tangent__(cls) -> bool:
        """Whether its gradients are of the same class: where all fields are declared as parameters."""
        if not dataclasses.is_dataclass(cls) or no_derivative_fields(cls):
            return False
        declared = declared_types(cls)
        return bool(declared) and all(map(is_vector_type, declared.values()))

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __neg__(self) -> Any:
        return self * -1.0

    def __mul__(self, factor: Any) -> Any:
        return self._scaled(factor, lambda part: part * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return self._scaled(divisor, lambda part: part / divisor)

    def _with(self, other: Any, combine: Callable[[Any, Any], Any]) -> Any:
        """Parameters that are combined one by one with those of another bundle of the class."""
        if type(other) is not type(self):
            return NotImplemented
        return map_structure(combine, self, other)

    def _scaled(self, factor: Any, scale: Callable[[Any], Any]) -> Any:
        """Parameters that are scaled by a number; each keeps its dtype."""
        if np.ndim(factor) or not isinstance(factor, (int, float, complex, np.number, np.ndarray)):
            return NotImplemented
        return map_structure(lambda part: as_typed(scale(part), part), self)

    def update(self, gradients: Any, fn: Callable[[Any, Any], Any]) -> None:
        """Updates each parameter with its gradient, in place, in order of declaration.

        Parameters
        ----------
        gradients
            Parameters of the same class, or a tangent of it.
        fn
            Given a parameter and its gradient, it returns the new parameter; ``operator.isub`` will do. For arrays it
            may write in place instead, and return nothing.
        """
        update_each(self, gradients, fn=fn)

    def updated(self, gradients: Any, fn: Callable[[Any, Any], Any]) -> Self:
        """The updated parameters, as a new value."""
        return updated_each(self, gradients, fn)

    @property
    def parameters_list(self) -> list[Any]:
        """The parameters as a list, in order of declaration; such a list can be assigned."""
        return list(Layout(self).leaves(self))

    @parameters_list.setter
    def parameters_list(self, values: Sequence[Any]) -> None:
        layout = Layout(self)
        if len(values) != len(layout):
            raise ValueError(f"there are {len(layout)} parameters, not {len(values)}")
        replacement = layout.rebuilt(self, [copied(value) for value in values])
        update_each(self, replacement, fn=lambda _, new: new)


def _strict_parameter(cls: type) -> Any:
    types = field_types(cls)
    if not is_uniform(list(types.values())):
        listed = ", ".join(f"{name}: {getattr(kind, '__name__', kind)}" for name, kind in types.items())
        raise TypeError(f"the parameters of {cls.__qualname__} have no type in common: {listed}")
    return _parameter_of(cls)
