"""Classes of tangent vectors, and of the variables of a value: one for each class of values."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from adjoint.types.classes.annotations import field_types
from adjoint.types.classes.safe_lookups import asked
from adjoint.types.lifting import ElementaryFunctionsOfFields
from adjoint.types.marks import no_derivative_fields
from adjoint.types.part_paths import IndexedByPaths
from adjoint.types.structure import map_structure


class ByClass:
    """An attribute of a class that each class that inherits it has for itself."""

    def __init__(self, find: Callable[[type], type]) -> None:
        self._find = find

    def __get__(self, instance: object, owner: type) -> type:
        return self._find(owner)


if TYPE_CHECKING:
    hidden_by_fields = property
else:

    class hidden_by_fields:
        """A property that gives way to a field of the same name."""

        def __init__(self, read):
            self._read = read
            self.__doc__ = read.__doc__

        def __get__(self, instance, owner):
            return self if instance is None else self._read(instance)


class zero_of_any_structure(hidden_by_fields):
    """The zero vector; of the class the one without fields, which is zero in any structure."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return owner() if instance is None and owner is not None else super().__get__(instance, owner)


class fields_at_hand:
    """The fields for the module ``dataclasses``: of an object what it has, of the class what is declared."""

    def __get__(self, instance: Any, owner: type) -> dict[str, Any]:
        names = owner.__dict__.get("__match_args__", ()) if instance is None else tuple(instance.__dict__)
        return _fields_called(names)


@functools.lru_cache(maxsize=1024)
def _fields_called(names: tuple[str, ...]) -> dict[str, Any]:
    import dataclasses  # lazy

    made = dataclasses.make_dataclass("Fields", [(name, Any, dataclasses.field(default=None)) for name in names])
    return {field.name: field for field in dataclasses.fields(made)}


class Fields(IndexedByPaths):
    """Named fields, of a value of the class that made the class of these."""

    _primal: ClassVar[Callable[[], type | None]] = lambda: None
    __array_ufunc__ = None  # a NumPy scalar times a vector asks the vector
    __hash__ = None  # type: ignore[assignment]
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init__(self, /, *values: Any, **fields: Any) -> None:
        if values:
            names = self.__match_args__
            if len(values) > len(names):
                raise TypeError(f"{type(self).__qualname__} takes {len(names)} fields by position, not {len(values)}")
            fields = dict(zip(names, values, strict=False)) | fields
        self.__dict__.update(fields)

    @classmethod
    def primal_class(cls) -> type:
        """The class of the values that these belong to."""
        primal = cls._primal()
        if primal is None:
            raise ReferenceError(f"the class of {cls.__qualname__} no longer exists")
        return primal

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        from adjoint.runtime.tangents import same_tangent  # lazy

        return same_tangent(self, other)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__qualname__}({fields})"


class TangentVector(Fields, ElementaryFunctionsOfFields):
    """Base of the synthesised tangent classes: a bag of named fields that is a vector.

    A field that is missing, or None, is zero. Vectors of one class can be added and scaled whatever fields they
    have; the result has the fields of both. The product and the quotient of two vectors, and the elementary
    functions, are taken field by field.
    """

    TangentVector: ClassVar[Any] = ByClass(lambda owner: owner)
    DifferentiableVariables: ClassVar[Any] = ByClass(lambda owner: owner)
    __dataclass_fields__: ClassVar[Any] = fields_at_hand()

    @zero_of_any_structure
    def zero(self) -> Self:
        """The zero vector of the same structure."""
        return self._mapped(lambda part: part * 0 if not isinstance(part, np.ndarray) else np.zeros_like(part))

    @hidden_by_fields
    def one(self) -> Self:
        """The vector of the same structure that is 1 everywhere."""
        return self._mapped(lambda part: part * 0 + 1 if not isinstance(part, np.ndarray) else np.ones_like(part))

    @hidden_by_fields
    def reciprocal(self) -> Self:
        """One over each number."""
        return self._mapped(lambda part: as_typed(1 / part, part))

    def moved(self, along: Self) -> Self:
        """The sum: a vector space is its own tangent space."""
        return self + along

    def __add__(self, other: object) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        from adjoint.runtime.tangents import accumulate  # lazy

        result: Self = accumulate(self, other)
        return result

    def __radd__(self, other: object) -> Self:
        return self if type(other) is int and other == 0 else NotImplemented  # so that sum() works

    def __sub__(self, other: object) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return self + (-other)

    def __neg__(self) -> Self:
        return self._mapped(lambda part: -part)

    def __mul__(self, factor: object) -> Self:
        if type(factor) is type(self):
            return self._paired(lambda part, other: as_typed(part * other, part), factor)
        if not _is_scalar(factor):
            return NotImplemented
        return self._mapped(lambda part: as_typed(part * factor, part))

    def __rmul__(self, factor: object) -> Self:
        return self * factor

    def __truediv__(self, divisor: object) -> Self:
        if type(divisor) is type(self):
            return self._paired(lambda part, other: as_typed(part / other, part), divisor)
        if not _is_scalar(divisor):
            return NotImplemented
        return self._mapped(lambda part: as_typed(part / divisor, part))

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank, (self.primal_class(),), dict(self.__dict__)

    def _mapped(self, fn: Callable[[Any], Any]) -> Self:
        result: Self = map_structure(lambda part: None if part is None else fn(part), self)
        return result

    def _paired(self, fn: Callable[[Any, Any], Any], other: Self) -> Self:
        result: Self = map_structure(lambda a, b: None if a is None or b is None else fn(a, b), self, other)
        return result


class DifferentiableVariables(Fields):
    """Base of the synthesised classes of variables, where these are no tangent vectors: those of manifolds."""

    TangentVector: ClassVar[Any] = ByClass(lambda owner: tangent_class(owner.primal_class()))  # type: ignore[attr-defined]
    DifferentiableVariables: ClassVar[Any] = ByClass(lambda owner: owner)

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank_variables, (self.primal_class(),), dict(self.__dict__)


_tangents: weakref.WeakKeyDictionary[type, type[TangentVector]] = weakref.WeakKeyDictionary()
_variables: weakref.WeakKeyDictionary[type, type[DifferentiableVariables]] = weakref.WeakKeyDictionary()
_own: weakref.WeakKeyDictionary[type, weakref.ref[type] | None] = weakref.WeakKeyDictionary()


def tangent_class(cls: type) -> type[Any]:
    """The class of tangents of ``cls``, the same one at each call: its own ``TangentVector``, or a synthesised one.

    Examples
    --------
    >>> class Model: pass
    >>> tangent_class(Model)(weight=1.0)
    Model.TangentVector(weight=1.0)
    """
    if cls not in _own:
        found = _own_tangent_class(cls)
        _own[cls] = None if found is None else weakref.ref(found)
        if found is not None:
            declare_own_tangent(found)
    own = _own[cls]
    return shadow_class(cls) if own is None else own() or shadow_class(cls)


def declare_own_tangent(cls: type) -> None:
    """Makes the values of ``cls`` their own tangents."""
    _own[cls] = weakref.ref(cls)


def _own_tangent_class(cls: type) -> type | None:
    """The class that a user wrote for the tangents of ``cls``; the class itself for bundles of vectors.

    One that is not what it has to be is refused.
    """
    is_bundle = asked(cls, "__adjoint_is_own_tangent__")
    if is_bundle is not None and is_bundle():
        return cls
    own = own_tangent_vector(cls)
    if own is None or own is cls:
        return own
    from adjoint.types.classes.own_tangents import check_tangent_vector  # lazy

    check_tangent_vector(cls)
    return own


def own_tangent_vector(cls: type) -> type | None:
    """What a class defines itself as ``TangentVector``, unless it is the class of points of a curved space."""
    own = inspect.getattr_static(cls, "TangentVector", None)
    if not isinstance(own, type) or issubclass(own, TangentVector) or issubclass(cls, Fields):
        return None
    moved = getattr(cls, "moved", None)
    is_point = moved is not None and moved.__module__ not in SYNTHESISED and own is not cls
    return None if is_point or not field_types(cls) else own


SYNTHESISED = ("adjoint.declarations.differentiable_types", "adjoint.types.protocols")
"""Where the members are defined that classes get."""


def shadow_class(cls: type) -> type[TangentVector]:
    """The synthesised class of tangents of ``cls``: fields may be missing, hold anything, and be assigned."""
    if issubclass(cls, TangentVector):
        return cls
    known = _tangents.get(cls)
    if known is None:
        known = _tangents.setdefault(cls, type("TangentVector", (TangentVector,), _namespace(cls, "TangentVector")))
    return known


def belongs_to(tangent: TangentVector, cls: type) -> bool:
    """Whether a tangent of a synthesised class is one of values of ``cls``, itself perhaps a class of tangents."""
    return any(type(tangent) is shadow_class(base) for base in cls.__mro__[:-1])


def variables_class(cls: type) -> type[DifferentiableVariables]:
    """The class of the variables of ``cls`` where these are no tangents."""
    known = _variables.get(cls)
    if known is None:
        name = "DifferentiableVariables"
        known = _variables.setdefault(cls, type(name, (DifferentiableVariables,), _namespace(cls, name)))
    return known


def _namespace(cls: type, name: str) -> dict[str, Any]:
    what = "A tangent vector" if name == "TangentVector" else "The variables of a value"
    excluded = no_derivative_fields(cls)
    return {
        "__module__": cls.__module__,
        "__qualname__": f"{cls.__qualname__}.{name}",
        "__doc__": f"{what} of :class:`{cls.__qualname__}`.",
        "__match_args__": tuple(field for field in field_types(cls) if field not in excluded),
        "_primal": staticmethod(weakref.ref(cls)),  # a strong reference would keep the cache's key alive
    }


def _blank(cls: type) -> TangentVector:
    return shadow_class(cls)()


def _blank_variables(cls: type) -> DifferentiableVariables:
    return variables_class(cls)()


def _is_scalar(x: object) -> bool:
    return isinstance(x, (int, float, complex, np.number)) or (isinstance(x, np.ndarray) and x.ndim == 0)


def as_typed(result: Any, part: Any) -> Any:
    """The result of an operation on a part, with the dtype of the part."""
    return np.asarray(result, dtype=part.dtype) if isinstance(part, np.ndarray) else result
