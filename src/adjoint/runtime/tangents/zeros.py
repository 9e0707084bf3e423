"""Zero tangents and zero shadows of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.tangents.parts import (
    Memo,
    Walk,
    counts_integers,
    is_integer,
    new_zeros,
    of_foreign_arrays,
)
from adjoint.types.array_libraries import is_array, is_foreign
from adjoint.types.structure import (
    field_names,
    float_fields,
    is_container,
    is_float_array,
    is_namedtuple,
    is_number,
    new_object,
    set_field,
    stored_fields,
)
from adjoint.types.vectors import shadow_class, tangent_class


def zero_number(x: Any) -> Any:
    """The zero of a number's own type: ``0.0``, ``np.float32(0.0)``."""
    return x.dtype.type(0) if isinstance(x, np.generic) else type(x)(0) if type(x) in (float, complex) else 0.0


def zero_tangent(x: Any, memo: Memo | None = None) -> Any:
    """The zero tangent of a value.

    Parameters
    ----------
    x
        Any value. What is shared in it, is shared in the result.
    memo
        What earlier calls made, by identity of the value, so that several values may share.

    Returns
    -------
    object
        Zeros of the same types and shapes for numbers and float arrays, the same kind of container for tuples, lists
        and dicts, a tangent vector for an object, None for anything else.
    """
    return _Zeros(mutable=False, memo=memo).of(x)


def zero_seed(x: Any) -> Any:
    """The zero cotangent of a result; an integer, where other paths return a float, has one too."""
    if is_foreign(x):
        return of_foreign_arrays().zeros_like(x)
    whole = isinstance(x, (int, np.integer, np.ndarray)) and not (is_number(x) or is_float_array(x))
    return np.zeros(np.shape(x))[()] if whole else zero_tangent(x)


def shadow(x: Any, memo: Memo | None = None) -> Any:
    """A zero shadow of a value: its zero tangent in mutable form."""
    return _Zeros(mutable=True, memo=memo).of(x)


Missing = tuple[tuple[str, Any], ...]
"""What objects may lack that is assigned later: names, each with what its cotangent is until then, or with what the
object lacks that the attribute holds; ``*`` stands for the items of a container."""


def shadow_with(x: Any, missing: Missing, memo: Memo | None = None, of_values: bool = False) -> Any:
    """A zero shadow that has a place for attributes, too, which the objects in ``x`` do not have yet.

    ``of_values``: each slot has an array of its own, as in `shadow_of_values`.

    >>> class Filter:
    ...     gain = 2.0
    >>> shadow_with(Filter(), (("state", 0.0),)).state
    0.0
    """
    result = _Zeros(mutable=True, memo=memo, share=not of_values).of(x)
    _complete(result, missing)
    return result


def _complete(shadow: Any, missing: Missing) -> None:
    for name, part in missing:
        if name == "*":
            items = () if shadow is None else shadow.values() if isinstance(shadow, dict) else shadow
            for item in items:
                _complete(item, part)
        elif isinstance(part, tuple):
            _complete(getattr(shadow, name, None), part)
        elif shadow is not None and not hasattr(shadow, name):
            set_field(shadow, name, part)


def shadow_of_values(x: Any) -> Any:
    """The same for a container whose arrays nobody writes: each slot has its own, even if one array is in several."""
    return _Zeros(mutable=True, memo=None, share=False).of(x)


def shadow_like(x: Any) -> Any:
    """A zero shadow for memory that generated code has just made."""
    if is_array(x):
        return new_zeros(x) if is_float_array(x) else None
    return _Zeros(mutable=True, memo=None).of(x)


def shadow_or_zeros(shadow: Any, x: Any) -> Any:
    """The shadow of an array or number, or zeros that nobody else sees where it has none: it is of integers.

    A shadow that is missing itself (``x`` is None) has no shadow.
    """
    return zeros_like(x) if shadow is None and x is not None else shadow


_WHOLE = (int, np.integer, np.bool_)
"""What a slot of floats may hold besides: 0 on one path, ``x**2`` on another."""


class _Zeros(Walk):
    """One walk over a structure."""

    def __init__(self, *, mutable: bool, memo: Memo | None, share: bool = True) -> None:
        super().__init__(memo)
        self.mutable = mutable
        self.share = share

    def of(self, x: Any) -> Any:
        if type(x) is float:
            return 0.0
        if is_number(x):
            return zero_number(x)
        if is_array(x):
            zeros = new_zeros(x) if is_float_array(x) else None
            return self.remember(x, zeros) if self.share and zeros is not None else zeros
        if not is_container(x):
            return None
        if id(x) in self.memo:
            return self.memo[id(x)]
        if isinstance(x, tuple):
            items = [self.of_slot(item, False) for item in x]
            if self.mutable:
                return self.remember(x, items)
            return self.remember(x, type(x)(*items) if is_namedtuple(x) else tuple(items))
        if isinstance(x, list):
            result: Any = self.remember(x, [])
            counted = not self.mutable and counts_integers(x)
            result.extend(self.of_slot(item, counted) for item in x)
            return result
        if isinstance(x, dict):
            result = self.remember(x, {})
            for key, item in x.items():
                result[key] = self.of_slot(item, False)
            return result
        return self.of_object(x)

    def of_slot(self, x: Any, counted: bool) -> Any:
        """That of what lies in a list, dict or object; ``counted`` whole numbers stand for floats."""
        is_float = isinstance(x, _WHOLE) if self.mutable else counted and is_integer(x)
        return 0.0 if is_float else self.of(x)

    def of_object(self, x: Any) -> Any:
        result = self.remember(x, new_object((shadow_class if self.mutable else tangent_class)(type(x))))
        counted = float_fields(type(x))
        empty = True
        for name in stored_fields(x) if self.mutable else field_names(x):
            value = getattr(x, name)
            zero = 0.0 if type(value) is float else self.of_slot(value, name in counted)
            if self.mutable or zero is not None:
                set_field(result, name, zero)
                empty = False
        if not self.mutable and empty:
            self.memo[id(x)] = None
            return None
        return result
