"""Function values that are known only when a derivative runs: it calls what they carry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, get_origin

import numpy as np

import adjoint
from adjoint.diagnostics import error
from adjoint.functions import Fn, Signature, dtype_of, name_of, parts_of
from adjoint.runtime.arrays import zeros_like


class Pulling:
    """The pullback of one call of a function value.

    Called with a cotangent for each value, it gives one for each argument that varies: alone where there is one.
    """

    __adjoint_residual__ = True
    __slots__ = ("_places", "_pullback", "_result", "_zeros")

    def __init__(self, pullback: Callable[[Any], Any], args: tuple[Any, ...], signature: Signature) -> None:
        self._pullback, self._places = pullback, signature.places
        self._result = signature.result
        self._zeros = {place: zeros_like(args[place]) for place in self._places if _is_whole(args[place])}

    def __call__(self, *cotangents: Any) -> Any:
        given = self._pullback(_seed(self._result, iter(cotangents)))
        bars = tuple([self._zeros.get(place, given[place]) for place in self._places])
        return bars[0] if len(bars) == 1 else bars


def _is_whole(value: Any) -> bool:
    """Whether a number or an array is of integers, which have no cotangents."""
    return np.asarray(value).dtype.kind not in "fc"


def _seed(result: Any, cotangents: Iterator[Any]) -> Any:
    """Cotangents of values in the structure of the result."""
    parts = parts_of(result)
    return next(cotangents) if parts is None else tuple([_seed(part, cotangents) for part in parts])


def with_pullback(function: Fn[..., Any], *args: Any, apart: bool = False) -> tuple[Any, ...]:
    """The values of a function value, and then the pullback of this call.

    ``apart`` says that memory of the arguments or of the values is written: then they must not share any.
    """
    signature = _signature(function)
    value, pullback = adjoint.vjp(_inner(function), *args)
    values = _own(function, _leaves(function, signature.result, value), args, apart)
    return (*values, Pulling(pullback, args, signature))


def called(function: Fn[..., Any], *args: Any, apart: bool = False) -> Any:
    """The value of a function value; of several, a tuple without structure."""
    found = _leaves(function, _signature(function).result, function(*args))
    values = tuple(_own(function, found, args, apart))
    return values[0] if len(values) == 1 else values


def _own(function: Fn[..., Any], values: Iterable[Any], args: tuple[Any, ...], apart: bool) -> Iterator[Any]:
    """Values in memory of their own."""
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    for value in values:
        if isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in arrays):
            if apart:
                label = f"{name_of(function)!r} returns memory that it is given, and one of both is written"
                raise error("AD0303", None, label, helps=("let it return a copy",))
            yield value.copy()
        else:
            yield value


def pulled_back(pullback: Pulling, *cotangents: Any) -> Any:
    """``pullback(*cotangents)``"""
    return pullback(*cotangents)


def _inner(function: Fn[..., Any]) -> Any:
    """What is differentiated: compiled derivatives are found by the code of a plain function."""
    return function if function.declared else function.function


def _signature(function: Fn[..., Any]) -> Signature:
    assert function.signature is not None
    return function.signature


def _leaves(function: Fn[..., Any], result: Any, value: Any) -> Iterator[Any]:
    """The numbers and arrays of a value, each of the type that is declared."""
    parts = parts_of(result)
    if parts is None:
        yield _settled(function, result, value)
    elif not isinstance(value, tuple) or len(value) != len(parts):
        _refuse(function, f"a tuple of {len(parts)}", value)
    else:
        for part, item in zip(parts, value, strict=True):
            yield from _leaves(function, part, item)


def _settled(function: Fn[..., Any], kind: Any, value: Any) -> Any:
    """A number or an array of its declared type, in memory of its own."""
    if kind in (float, complex):
        real = np.ndim(value) == 0 and np.asarray(value).dtype.kind in ("fiu" if kind is float else "cfiu")
        return kind(value) if real else _refuse(function, f"a {kind.__name__}", value)
    if not isinstance(value, (int, float, complex, np.generic, np.ndarray)):
        _refuse(function, "a number or an array", value)
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, np.ndarray):
        if not isinstance(value, np.ndarray):
            _refuse(function, "an array", value)
        dtype = dtype_of(kind)
        if dtype is not None and value.dtype != dtype:
            _refuse(function, f"an array of {dtype}", value)
    return value


def _refuse(function: Fn[..., Any], wanted: str, value: Any) -> NoReturn:
    found = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    label = f"it returns {found}, and its type says {wanted}: {function.signature!r}"
    raise error("AD0221", None, label, helps=("let its type say what it returns",), name=name_of(function))


def forward_of(function: Fn[..., Any], places: tuple[int, ...]) -> Fn[..., Any]:
    """The forward derivative of a function value.

    It takes the arguments, then tangents of those in ``places``, and gives the value and its tangent; of a function
    value that is one itself, all values and then the tangents of all.
    """
    inner, signature = _inner(function), _signature(function)
    count = len(signature.parameters)
    tangents = _Sources(tuple(count + places.index(place) if place in places else None for place in range(count)))

    def forward(*args: Any) -> Any:
        dots = [None if source is None else args[source] for source in tangents.places]
        return adjoint.jvp(inner, args[: tangents.count], dots)

    return Fn(forward, signature.forward(places))


class _Sources:
    """Where among the arguments the tangent of each lies: known when a derivative is compiled."""

    def __init__(self, places: tuple[int | None, ...]) -> None:
        self.count, self.places = len(places), places

    @property
    def __adjoint_constant__(self) -> Any:
        return self.places


def as_function(value: Any, signature: Signature) -> Fn[..., Any]:
    """A value that is declared to be a function of a type, as one that carries its derivatives."""
    return signature(value)


def as_optional_function(value: Any, signature: Signature) -> Fn[..., Any] | None:
    """The same for a value that may be None."""
    return None if value is None else signature(value)


def as_list_of_functions(values: Iterable[Any], signature: Signature) -> list[Fn[..., Any]]:
    """The items of a sequence, each as a function value."""
    return [signature(value) for value in values]


def as_dict_of_functions(table: Mapping[Any, Any], signature: Signature) -> dict[Any, Fn[..., Any]]:
    """A mapping with each value as a function value."""
    return {key: signature(value) for key, value in table.items()}


def given(x: Any) -> Any:
    """An argument that must not vary: the value itself."""
    return x


def beside(y: Any, captured: Any) -> Any:
    """A value that is declared with its pullback, beside something that both capture, which must not vary."""
    return y
