"""Do compiled and interpreted derivatives agree? In values, types, errors, and what they leave in arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.api.tools.float_leaves import clone, fields_of, leaves, rebuild

Arguments = Sequence[Any]


@dataclass(frozen=True)
class Outcome:
    """What came of a comparison, and why.

    ``same``; ``refused`` in both forms; ``interpreted``, and the same, because it cannot be compiled; ``differs``.
    """

    kind: str
    message: str = ""


def _single(leaf: Any) -> Any:
    return leaf.astype(np.float32) if isinstance(leaf, np.ndarray) else leaf


def _fortran(leaf: Any) -> Any:
    return np.asfortranarray(leaf) if isinstance(leaf, np.ndarray) else leaf


def _strided(leaf: Any) -> Any:
    if not isinstance(leaf, np.ndarray) or leaf.ndim == 0:
        return leaf
    wide = np.zeros((*leaf.shape[:-1], 2 * leaf.shape[-1]), leaf.dtype)
    wide[..., ::2] = leaf
    return wide[..., ::2]


def _frozen(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        leaf = leaf.copy(order="K")
        leaf.flags.writeable = False
    return leaf


def _cut(extent: int) -> Callable[[Any], Any]:
    """What gives arrays with at most ``extent`` places in each dimension, contiguous ones."""

    def cut(leaf: Any) -> Any:
        return leaf[(slice(extent),) * leaf.ndim].copy() if isinstance(leaf, np.ndarray) else leaf

    return cut


VARIANTS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda leaf: leaf,
    "single": _single,
    "fortran": _fortran,
    "strided": _strided,
    "frozen": _frozen,
    "one": _cut(1),
    "empty": _cut(0),
}
"""Kinds of arrays, by what makes them of plain ones."""

SHORT = ("one", "empty")
"""Kinds of arrays that programs may read outside of: compiled with bounds checked."""

MODES = ("gradient", "reverse", "forward")


def has_arrays(args: Arguments) -> bool:
    """Whether kinds of arrays make a difference."""
    return any(isinstance(leaf, np.ndarray) for _, leaf in leaves(tuple(args)))


def compare(function: Callable[..., Any], args: Arguments, mode: str = "reverse", variant: str = "plain") -> Outcome:
    """Runs the derivative of a function in both forms."""
    change = VARIANTS[variant]

    def given() -> list[Any]:
        return [rebuild(arg, change, {}) for arg in clone(tuple(args))]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, theirs = given(), given()
        checked = variant in SHORT
        expected = _result(function, mine, mode, False)
        if isinstance(expected, ad.DifferentiationError):
            return Outcome("refused", str(expected))
        found = _result(function, theirs, mode, "strict", checked)
        reason = str(found) if isinstance(found, ad.DifferentiationError) else None
        if reason is not None:
            theirs = given()
            found = _result(function, theirs, mode, True, checked)
    difference = _deviation(expected, found, mine, theirs, 2e-3 if variant == "single" else 1e-9)
    if difference is not None:
        return Outcome("differs", difference)
    return Outcome("same") if reason is None else Outcome("interpreted", reason)


def _deviation(expected: Any, found: Any, mine: list[Any], theirs: list[Any], tolerance: float) -> str | None:
    """How two runs differ: in what they raised or returned, and in what they left in their arguments."""
    if isinstance(expected, Exception) or isinstance(found, Exception):
        alike = type(expected) is type(found)
        return None if alike else f"{expected!r} and {found!r}"
    return _difference(expected, found, tolerance) or _difference(mine, theirs, tolerance, "arguments")


def _result(
    function: Callable[..., Any], args: list[Any], mode: str, native: bool | str, boundscheck: bool = False
) -> Any:
    """The values and derivatives, or what was raised."""
    rng = np.random.default_rng(11)
    form: Any = {"native": native, "boundscheck": boundscheck}

    def drawn(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return rng.normal(size=leaf.shape).astype(leaf.dtype)
        return type(leaf)(rng.normal())

    try:
        if mode == "forward":
            tangents = [drawn(arg) if isinstance(arg, (float, np.ndarray)) and leaves(arg) else None for arg in args]
            return ad.jvp(function, args, tangents, **form)
        if mode == "gradient":
            wrt = tuple(place for place, arg in enumerate(args) if leaves(arg))
            return ad.value_and_grad(function, wrt, **form)(*args)
        value, pullback = ad.vjp(function, *args, **form)
        seed = rebuild(value, drawn, {})
        return value, pullback(seed), pullback(seed)
    except Exception as problem:
        return problem


def _relative(value: Any, tolerance: float) -> float:
    """How far a number or array may be off, beside its size: more in single precision."""
    return 2e-3 if getattr(value, "dtype", None) in (np.float32, np.complex64) else tolerance


def _difference(one: Any, other: Any, tolerance: float, path: str = "result") -> str | None:
    """Where two structures differ first, and how; None where they do not."""
    numbers = (float, np.floating, complex, np.complexfloating)
    if isinstance(one, numbers) and isinstance(other, numbers):
        rtol = max(_relative(one, tolerance), _relative(other, tolerance))
        close = np.allclose(one, other, rtol=rtol, atol=tolerance, equal_nan=True)
        return None if close else f"{path}: {one!r} and {other!r}"
    if type(one) is not type(other):
        return f"{path}: {type(one).__name__} and {type(other).__name__}"
    if isinstance(one, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"{path}: {one.dtype}{one.shape} and {other.dtype}{other.shape}"
        if one.dtype.kind in "fc":
            close = np.allclose(one, other, rtol=_relative(one, tolerance), atol=tolerance, equal_nan=True)
        else:
            close = np.array_equal(one, other)
        return None if close else f"{path}: {one} and {other}"
    if isinstance(one, (list, tuple)):
        if len(one) != len(other):
            return f"{path}: {len(one)} and {len(other)} items"
        parts = [(f"{path}[{place}]", *pair) for place, pair in enumerate(zip(one, other, strict=True))]
    elif isinstance(one, dict):
        if list(one) != list(other):
            return f"{path}: {list(one)} and {list(other)}"
        parts = [(f"{path}[{key!r}]", one[key], other[key]) for key in one]
    elif not callable(one) and fields_of(one):
        parts = [(f"{path}.{name}", getattr(one, name), getattr(other, name)) for name in fields_of(one)]
    else:
        return None if callable(one) or one == other else f"{path}: {one!r} and {other!r}"
    found = (_difference(mine, theirs, tolerance, name) for name, mine, theirs in parts)
    return next((difference for difference in found if difference), None)
