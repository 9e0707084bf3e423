"""How an eval is run: as machine code or as Python."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import adjoint as ad

Places = int | tuple[int, ...]
FAST_MATH = frozenset({"reassoc", "contract", "arcp", "nsz"})
"""What changes results by rounding only: not that infinities and NaN are what they are."""


@dataclass(frozen=True)
class Build:
    """What the functions of an eval are made with.

    Parameters
    ----------
    native
        Whether programs and derivatives are compiled.
    fastmath
        Whether the compiler may change the order of sums.
    """

    native: bool = True
    fastmath: bool = False

    def program(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself."""
        return compiled(function, self.fastmath) if self.native else function

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which takes derivatives itself."""
        return ad.compile(self.program(function), native=self.native)

    def grad(self, function: Callable[..., Any], wrt: Places = 0) -> Callable[..., Any]:
        """Its gradient."""
        return ad.grad(self.program(function), wrt)

    def value_and_grad(self, function: Callable[..., Any], wrt: Places = 0) -> Callable[..., Any]:
        """Its value and its gradient."""
        return ad.value_and_grad(self.program(function), wrt)

    def vjp(self, function: Callable[..., Any], *args: Any) -> tuple[Any, Callable[[Any], Any]]:
        """Its value, and what takes a cotangent of the value to those of the arguments."""
        return ad.vjp(self.program(function), *args)

    def jvps(self, function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Its value, and its derivatives in some directions."""
        return ad.jvps(self.program(function), primals, tangents, native=self.native)


_compiled: dict[tuple[Callable[..., Any], bool], Any] = {}


def compiled(function: Callable[..., Any], fastmath: bool = False) -> Any:
    """The function, compiled by Numba at its first call; and so are the functions of its module that it calls."""
    if (function, fastmath) not in _compiled:
        from numba import njit

        names = dict(function.__globals__)
        for name in function.__code__.co_names:
            callee = names.get(name)
            if isinstance(callee, types.FunctionType) and callee is not function:
                names[name] = compiled(callee, fastmath)
        copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        options = {"error_model": "numpy", "fastmath": set(FAST_MATH) if fastmath else False}
        names[function.__name__] = _compiled[function, fastmath] = njit(**options)(copy)
    return _compiled[function, fastmath]
