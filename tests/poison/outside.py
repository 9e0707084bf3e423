"""Memory that a derivative shares with its callers: nobody's numbers change because somebody else writes.

Arguments, values, seeds and derivatives are overwritten with NaN as soon as they belong to the caller; what was
computed, and what is computed afterwards, must stay what it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.api.tools.float_leaves import clone, flatten, leaves, rebuild
from adjoint.testing import tangent_of
from poison.memory import captured_by, shared, shared_inside, spoil

MODES = ("vjp", "gradient", "jvp", "linearize", "artifacts", "hvp")


class Poisoned(AssertionError):
    """Somebody's numbers changed, or memory is shared that must not be."""


class Caller:
    """Calls derivatives of one function, and overwrites all that it is given."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], change: Callable[[Any], Any]) -> None:
        self.function = function
        self.args = args
        self.change = change
        self.wrt = tuple(place for place, arg in enumerate(args) if leaves(arg))
        plain = self.given()
        value = function(*plain)
        self.value = clone(value)
        self.aliases = shared(value, plain)
        self.inside = shared_inside(value)
        self.aliases_of_arguments = shared_inside(tuple(self.given()))

    def given(self) -> list[Any]:
        return [rebuild(arg, self.change, {}) for arg in clone(tuple(self.args))]

    def seed(self, number: int = 1) -> Any:
        rng = np.random.default_rng(number)
        return rebuild(self.value, lambda leaf: _drawn(rng, leaf), {})

    def tangents(self, number: int = 5) -> list[Any]:
        rng = np.random.default_rng(number)
        return [tangent_of(arg, rng.normal(size=flatten(arg).size)) if leaves(arg) else None for arg in self.given()]

    def is_scalar(self) -> bool:
        return isinstance(self.value, float)

    # What is asked of each operator.

    def vjp(self) -> None:
        pulled = clone(ad.vjp(self.function, *self.given())[1](self.seed()))
        other = clone(ad.vjp(self.function, *self.given())[1](self.seed(2)))
        args, seed = self.given(), self.seed()
        value, pullback = ad.vjp(self.function, *args)
        self.check_value(value, args)
        with self.spoilt_data():
            spoil(args)
            spoil(value)
            first = pullback(seed)
            self.check_seed(seed)
            self.check_derivative(
                "the cotangents", first, {"the seed": seed, "the arguments": args, "the value": value}
            )
            same("the cotangents, with all else overwritten,", first, pulled)
            spoil(seed)
            same("the cotangents, with the seed overwritten,", first, pulled)
            spoil(first)
            same("the cotangents for another seed", pullback(self.seed(2)), other)
            same("the cotangents of a second call", pullback(self.seed()), pulled)

    def gradient(self) -> None:
        if not self.is_scalar() or not self.wrt:
            return
        derivative = ad.value_and_grad(self.function, self.wrt)
        expected = clone(derivative(*self.given()))
        args = self.given()
        value, gradient = derivative(*args)
        same("the gradient of a second call", (value, gradient), expected)
        self.check_derivative("the gradient", gradient, {"the arguments": args})
        kept = derivative(*self.given())
        spoil(args)
        spoil(gradient)
        same("the gradient, with that of the call before overwritten,", derivative(*self.given()), expected)
        same("the gradient of an earlier call", kept, expected)

    def jvp(self) -> None:
        if not self.wrt:
            return
        expected = clone(ad.jvp(self.function, self.given(), self.tangents()))
        args, tangents = self.given(), self.tangents()
        value, tangent = ad.jvp(self.function, args, tangents)
        same("the tangent", (value, tangent), expected)
        self.check_value(value, args)
        same("the tangents that were given", tangents, self.tangents())
        self.check_derivative(
            "the tangent", tangent, {"the tangents": tangents, "the arguments": args, "the value": value}
        )
        spoil((args, tangents, value))
        same("the tangent, with all else overwritten,", tangent, expected[1])
        spoil(tangent)
        same("the tangent of a second call", ad.jvp(self.function, self.given(), self.tangents()), expected)

    def linearize(self) -> None:
        if not self.wrt:
            return
        expected = clone(ad.linearize(self.function, *self.given())[1](*self.tangents()))
        args, tangents = self.given(), self.tangents()
        value, differential = ad.linearize(self.function, *args)
        self.check_value(value, args)
        with self.spoilt_data():
            spoil((args, value))
            first = differential(*tangents)
            same("the differential, with all else overwritten,", first, expected)
            self.check_derivative(
                "the tangent", first, {"the tangents": tangents, "the arguments": args, "the value": value}
            )
            spoil((tangents, first))
            same("the differential of a second call", differential(*self.tangents()), expected)

    def artifacts(self) -> None:
        if not self.is_scalar() or not self.wrt:
            return
        derivative = ad.grad(self.function, self.wrt)
        kept, value = derivative.primal(*self.given())
        expected = clone(derivative.adjoint(kept, value, 1.5))
        args = self.given()
        kept, value = derivative.primal(*args)
        with self.spoilt_data():
            spoil(args)
            first = derivative.adjoint(kept, value, 1.5)
            same("the adjoint, with the arguments overwritten,", first, expected)
            self.check_derivative("the gradient", first, {"the arguments": args})
            spoil(first)
            same("the adjoint of a second call", derivative.adjoint(kept, value, 1.5), expected)

    def hvp(self) -> None:
        if not self.is_scalar() or not self.wrt:
            return
        expected = clone(ad.hvp(self.function, self.given(), self.tangents()))
        args, tangents = self.given(), self.tangents()
        found = ad.hvp(self.function, args, tangents)
        same("the product", found, expected)
        self.check_derivative("the product", found, {"the arguments": args, "the tangents": tangents})
        spoil((args, tangents))
        same("the product, with all else overwritten,", found, expected)
        spoil(found)
        same("the product of a second call", ad.hvp(self.function, self.given(), self.tangents()), expected)

    # What is checked each time.

    def check_value(self, value: Any, args: Any) -> None:
        _refuse("the value", "the arguments", shared(value, args) - self.aliases)
        _refuse("the value", "itself", shared_inside(value) - self.inside)

    def check_seed(self, seed: Any) -> None:
        same("the seed", seed, self.seed())

    def check_derivative(self, name: str, found: Any, others: dict[str, Any]) -> None:
        """It lies in memory of its own; only where arguments share memory may its parts."""
        for other, value in others.items():
            _refuse(name, other, shared(found, value))
        for label, array in captured_by(self.function).items():
            _refuse(name, label, shared(found, array))
        if not self.aliases_of_arguments and not self.inside:
            _refuse(name, "itself", shared_inside(found))

    @contextmanager
    def spoilt_data(self) -> Iterator[None]:
        """What the function captures is NaN for a while."""
        data = [array for array in captured_by(self.function).values() if array.dtype.kind in "fc"]
        before = [array.copy() for array in data]
        try:
            spoil(data)
            yield
        finally:
            for array, old in zip(data, before, strict=True):
                if array.flags.writeable:
                    array[...] = old


def check(
    function: Callable[..., Any], args: Sequence[Any], mode: str, change: Callable[[Any], Any] = lambda leaf: leaf
) -> str:
    """Asks for derivatives in one mode, and raises where memory is shared; gives what came of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            caller = Caller(function, args, change)
        except Exception:
            return "raised"
        try:
            getattr(caller, mode)()
        except ad.DifferentiationError as refusal:
            return f"refused {refusal.diagnostics[0].code}"
        except np.linalg.LinAlgError:  # a fit of too few points: nothing of memory
            return "raised"
    return "ok"


def same(name: str, found: Any, expected: Any) -> None:
    """Raises where two values are not equal to the bit."""
    one, other = flatten_all(found), flatten_all(expected)
    if one.shape != other.shape or not np.array_equal(one, other, equal_nan=True):
        raise Poisoned(f"{name} is {found!r}, not {expected!r}")


def flatten_all(value: Any) -> np.ndarray:
    found = [np.ravel(leaf) for _, leaf in leaves(value)]
    return np.concatenate(found).astype(float) if found else np.zeros(0)


def _drawn(rng: np.random.Generator, leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return rng.normal(size=leaf.shape).astype(leaf.dtype)
    return type(leaf)(rng.normal())


def _refuse(name: str, other: str, found: Any) -> None:
    if found:
        raise Poisoned(f"{name}: memory is shared with {other}: {sorted(map(repr, found))[:4]}")
