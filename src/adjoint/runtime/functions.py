"""Function values that are known only when a derivative runs: it calls what they carry."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, get_origin

import numpy as np

import adjoint
from adjoint import ir
from adjoint.analysis.memory.escape import returns_what_it_found
from adjoint.api.jvp_vjp import reverse_form
from adjoint.declarations.function_values import Fn, Signature, dtype_of, name_of, parts_of
from adjoint.diagnostics import error
from adjoint.dispatch.specialize import Specialization
from adjoint.runtime.array_functions.arrays import zeros_like

_FORWARD_OF = "__adjoint_forward_of__"


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


def with_pullback(function: Fn[..., Any], *args: Any, apart: bool = False, made: bool = False) -> tuple[Any, ...]:
    """The values of a function value, and then the pullback of this call.

    ``apart`` says that memory of the arguments or of the values is written: then they must not share any. ``made``
    says that of the values is, or memory that the function may have captured: then it must have made its values.
    """
    signature = _signature(function)
    locked = [*map(_locked, args)]
    value, pullback = _run(function, functools.partial(adjoint.vjp, _inner(function)), locked, args)
    _check_captured(function, pullback._compiled, len(args))
    if made:
        _check_made(function, pullback._compiled, len(args))
    values = _own(function, _leaves(function, signature.result, value), locked, args, apart)
    return (*values, Pulling(pullback, args, signature))


def called(function: Fn[..., Any], *args: Any, apart: bool = False, made: bool = False) -> Any:
    """The value of a function value; of several, a tuple without structure."""
    locked = [*map(_locked, args)]
    found = list(_leaves(function, _signature(function).result, _run(function, function, locked, args)))
    if made and any(isinstance(value, np.ndarray) for value in found):
        origin = _origin(function)
        given = args[: len(_signature(origin).parameters)]
        _check_made(function, reverse_form(_inner(origin), given), len(given))
    values = tuple(_own(function, found, locked, args, apart))
    return values[0] if len(values) == 1 else values


def _locked(arg: Any) -> Any:
    """An argument of a call, which must not write the arrays that it is handed."""
    if not isinstance(arg, np.ndarray):
        return arg
    view = arg.view()
    view.flags.writeable = False
    return view


def _run(function: Fn[..., Any], run: Callable[..., Any], locked: list[Any], args: tuple[Any, ...]) -> Any:
    try:
        return run(*locked)
    except ValueError as failure:
        if "read-only" not in str(failure) or not any(map(_is_writeable, args)):
            raise
        label = f"{_name(function)!r} writes memory that it is given"
        raise error("AD0303", None, label, helps=("let it write a copy",)) from None


def _is_writeable(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.flags.writeable


def _check_captured(function: Fn[..., Any], compiled: Specialization, count: int) -> None:
    """Refuses a function of ``count`` arguments that writes arrays which it has captured: others may read them."""
    if any(place >= count and isinstance(compiled.function.params[place].type, ir.Array) for place in compiled.written):
        label = f"{_name(function)!r} writes memory that it has captured"
        raise error("AD0303", None, label, helps=("let it write a copy",))


def _check_made(function: Fn[..., Any], compiled: Specialization, count: int) -> None:
    """Refuses a function of ``count`` arguments whose values may lie in memory that it neither made nor was given."""
    if returns_what_it_found(compiled.function, count):
        label = f"{_name(function)!r} may return memory that it has not made, and such memory is written"
        raise error("AD0303", None, label, helps=("let it return a copy",))


def _own(
    function: Fn[..., Any], values: Iterable[Any], locked: list[Any], args: tuple[Any, ...], apart: bool
) -> Iterator[Any]:
    """Values in memory of their own; an argument that is handed back is what it was."""
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    for value in values:
        if isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in arrays):
            if apart:
                label = f"{_name(function)!r} returns memory that it is given, and one of both is written"
                raise error("AD0303", None, label, helps=("let it return a copy",))
            same = [arg for arg, given in zip(args, locked, strict=True) if given is value]
            yield same[0] if same else value.copy()
        else:
            yield value


def pulled_back(pullback: Pulling, *cotangents: Any) -> Any:
    """``pullback(*cotangents)``"""
    return pullback(*cotangents)


def _name(function: Fn[..., Any]) -> str:
    return name_of(_origin(function))


def _origin(function: Fn[..., Any]) -> Fn[..., Any]:
    """The function value of which this is the forward derivative, if it is one."""
    while isinstance(found := getattr(function.function, _FORWARD_OF, None), Fn):
        function = found
    return function


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

    setattr(forward, _FORWARD_OF, function)
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
