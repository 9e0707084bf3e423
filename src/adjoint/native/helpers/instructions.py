"""What helpers are made of that no text of Python says: they are written as LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.rules.declare import no_derivative
from adjoint.rules.typing import type_of_known

_Typed = Callable[[Sequence[Any]], tuple[ir.Type, ...]]


def _instruction(typed: _Typed, *writes: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares an instruction: the types of its results, and which arguments it writes."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        no_derivative(function, pure=not writes, writes=writes, typed=typed)
        return function

    return declare


def _is(found: ir.Type) -> _Typed:
    return lambda _: (found,)


def _matrix_like(arguments: Sequence[Any]) -> tuple[ir.Type, ...]:
    given = type_of_known(arguments[0])
    assert isinstance(given, ir.Array)
    return (ir.Array(given.dtype, ("any", "any"), ir.Storage(written=True)),)


_nothing = _is(ir.Opaque(type(None)))


@_instruction(_matrix_like)
def room_of(x: Any, rows: int, columns: int) -> Any:
    """A new matrix of elements of the kind that ``x`` has."""
    raise NotImplementedError


@_instruction(_is(ir.BOOL))
def is_zero(x: Any) -> bool:
    """Whether a number is zero, or all of a bundle."""
    raise NotImplementedError


@_instruction(_is(ir.INT))
def item_size(x: Any) -> int:
    """The bytes of an element."""
    raise NotImplementedError


@_instruction(_is(ir.INT))
def stride(x: Any, axis: int) -> int:
    """How many bytes elements are apart along an axis."""
    raise NotImplementedError


@_instruction(_is(ir.INT))
def bytes_between(whole: Any, part: Any) -> int:
    """How far the first elements of two arrays are apart."""
    raise NotImplementedError


@_instruction(_nothing, 9)
def tile(rows: int, columns: int, a: Any, i: int, b: Any, j: int, places: Any, start: int, stop: int, out: Any) -> None:
    """Adds products of some rows of ``a`` and columns of ``b``, from ``i`` and ``j`` on, to what is in ``out``.

    ``places`` are the columns of ``a``, and rows of ``b``, that count: those from ``start`` to ``stop`` of them. For
    the first of all, what was in ``out`` is of no account.
    """
    raise NotImplementedError


@_instruction(_nothing, 9)
def add_product(
    turns: tuple[bool, bool], sizes: tuple[int, int, int], a: Any, at_a: int, apart_a: int,
    b: Any, at_b: int, apart_b: int, keeps: float, out: Any, at_out: int, apart_out: int,
) -> None:  # fmt: skip
    """Adds a product, as BLAS counts, to what ``keeps`` times was there: elements from a place on, rows so far apart.

    The product has ``sizes[0]`` rows and ``sizes[1]`` columns, of ``sizes[2]`` products each. Factors are turned first.
    """
    raise NotImplementedError
