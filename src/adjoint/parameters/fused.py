"""Machine code for the arrays of an update: one pass over the memory of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.codegen.texts import Emitted
from adjoint.diagnostics import DifferentiationError, warn
from adjoint.native.compile.kernels import elementwise, machine_code
from adjoint.native.compile.not_native import NotNative
from adjoint.native.llvm.signatures import kinds_of
from adjoint.parameters.layout import Leaves, Parameter, reach
from adjoint.parameters.writing import Writer, write_kernel

_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def fused(
    writer: Writer, places: Sequence[int], constants: Sequence[str], structures: Sequence[Any], strict: bool
) -> Emitted:
    """The text of an update whose arrays are handed to machine code; it warns where there can be none."""
    if not writer.formula.is_elementwise:
        _refuse(NotNative(f"'{writer.formula.name}' does more than work element by element"), strict)
        return writer.write(places, constants)
    kernel = write_kernel(writer.formula, constants)
    before: list[str] = []
    rest = list(places)
    for dtype in _DTYPES:
        fitting = [place for place in places if _is_fit(place, writer, structures, dtype)]
        if not fitting:
            continue
        try:
            loop = Loop(kernel.emitted, len(writer.formula.values), len(kernel.constants), dtype)
        except NotNative as reason:
            _refuse(reason, strict)
            break
        before += _calls(writer, fitting, kernel.constants, loop, dtype)
        rest = [place for place in rest if place not in fitting]
    return writer.write(rest, constants, before)


def _refuse(reason: NotNative, strict: bool) -> None:
    if strict:
        raise DifferentiationError(reason.problem) from reason.__cause__
    warn(reason.problem)


def _is_fit(place: int, writer: Writer, structures: Sequence[Any], dtype: np.dtype[Any]) -> bool:
    """Whether all arrays of a parameter have one dtype."""
    parameter = writer.parameters[place]
    if not parameter.is_array or parameter.point is not None or any(place in form.absent for form in writer.forms):
        return False
    return all(
        isinstance(value, np.ndarray) and value.dtype == dtype for value in _values(place, parameter, structures)
    )


def _values(place: int, parameter: Parameter, structures: Sequence[Any]) -> list[Any]:
    return [s[place] if isinstance(s, Leaves) else reach(s, parameter.steps) for s in structures]


def _calls(
    writer: Writer, places: Sequence[int], constants: dict[str, str], loop: Loop, dtype: np.dtype[Any]
) -> list[str]:
    kind = writer.names.of(dtype.type, dtype.name)
    values = [writer.names.fresh(f"{name}_{dtype.name}") for name in constants]
    lines = [f"{value} = {kind}({text})" for value, text in zip(values, constants.values(), strict=True)]
    run = writer.names.of(loop, f"{writer.formula.name}_{dtype.name}")
    for place in places:
        arrays = [writer.at(index, place) for index in range(len(writer.forms))]
        lines.append(f"# {writer.parameters[place].path or 'the value itself'}")
        lines.append(f"{run}({', '.join((*arrays, *values))})")
    return lines


class Loop:
    """A compiled loop over the elements of arrays, whatever their shape.

    Parameters
    ----------
    emitted
        Its text.
    arrays, numbers
        How many of its arguments are arrays, and how many numbers.
    dtype
        The dtype of all of them.
    """

    def __init__(self, emitted: Emitted, arrays: int, numbers: int, dtype: np.dtype[Any]) -> None:
        self._form = elementwise(emitted, arrays, numbers, dtype)
        self._arrays = arrays
        self._compiled: dict[Any, Callable[..., Any]] = {}
        empty = (*[np.empty(1, dtype) for _ in range(arrays)], *[dtype.type(0) for _ in range(numbers)])
        self._run = self._for(empty)

    def __call__(self, *args: Any) -> None:
        arrays = args[: self._arrays]
        if all(array.flags.c_contiguous for array in arrays):
            flat = [array.reshape(-1) for array in arrays]
        elif all(array.flags.f_contiguous for array in arrays):
            flat = [array.T.reshape(-1) for array in arrays]
        else:
            self._by_rows(arrays, args[self._arrays :])
            return
        flat_args = (*flat, *args[self._arrays :])
        try:
            self._run(*flat_args)
        except TypeError:  # of the dispatcher, before anything has run: read-only memory has a type of its own
            self._for(flat_args)(*flat_args)

    def _by_rows(self, arrays: Sequence[Any], numbers: Sequence[Any]) -> None:
        """The arrays are laid out differently: along the last axis at a time."""
        for index in np.ndindex(arrays[0].shape[:-1]):
            rows = tuple(array[index] for array in arrays)
            self._for((*rows, *numbers))(*rows, *numbers)

    def _for(self, args: Sequence[Any]) -> Callable[..., Any]:
        kinds = kinds_of(args)
        if kinds not in self._compiled:
            self._compiled[kinds] = machine_code(self._form, args)
        return self._compiled[kinds]
