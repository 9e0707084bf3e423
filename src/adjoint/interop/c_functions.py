"""A function and its gradient as one C function of a vector: no Python runs in a call.

The C function is ``int64 f(uint64 n, double *x, double *gradient, double *value, void *data)``: zero where it went
well, one where the function raised, three and four where the gradient or the value is not finite, minus one for
another ``n``.
"""

# mypy: disable-error-code="no-untyped-call, misc, no-untyped-def, attr-defined"

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numba
import numpy as np
from numba import njit, types

from adjoint.api.gradients import value_and_grad
from adjoint.api.tools.pointers_for_numba import pointer
from adjoint.records import dataclass
from adjoint.types.classes.annotations import signature

Shape = tuple[int, ...]
Vector = np.ndarray[Any, Any]

_DOUBLES = types.CPointer(types.double)
_SIGNATURE = types.int64(types.uint64, _DOUBLES, _DOUBLES, _DOUBLES, types.CPointer(types.uintp))
_SIGNATURE_OF_MAP = types.int64(types.uint64, types.uint64, _DOUBLES, _DOUBLES, types.CPointer(types.uintp))


@dataclass(frozen=True)
class Variables:
    """Named numbers and arrays, one behind the other in a vector."""

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]

    @property
    def slices(self) -> list[slice]:
        ends = np.cumsum([math.prod(shape) for shape in self.shapes]).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @property
    def size(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes)

    def reads(self) -> list[str]:
        """Text that takes each out of ``x``."""
        return [_read("x", part, shape) for part, shape in zip(self.slices, self.shapes, strict=True)]


def variables_of(given: Mapping[str, Any]) -> Variables:
    """Those of a dict from names to shapes: ``()`` is a number, ``8`` a vector."""
    shapes = [(each,) if isinstance(each, int) else tuple(each) for each in given.values()]
    return Variables(tuple(given), tuple(shapes))


def _read(source: str, part: slice, shape: Shape) -> str:
    if shape == ():
        return f"{source}[{part.start}]"
    piece = f"{source}[{part.start}:{part.stop}]"
    return piece if len(shape) == 1 else f"{piece}.reshape({shape!r})"


class Data:
    """Arguments that do not vary, in memory that a C function finds by an address.

    Parameters
    ----------
    f
        The function.
    given
        Its arguments behind the variables, in order, or by their names.
    first
        How many variables stand before them.
    """

    def __init__(self, f: Callable[..., Any], given: Mapping[str, Any] | Sequence[Any], first: int) -> None:
        values = _in_order(f, given, first) if isinstance(given, Mapping) else list(given)
        self.arrays = [np.ascontiguousarray(value) if np.ndim(value) else np.array(value) for value in values]
        self.addresses = np.array([array.ctypes.data for array in self.arrays], np.uintp)

    @property
    def address(self) -> int:
        """Where the addresses of the arrays stand."""
        return int(self.addresses.ctypes.data)

    def reads(self, namespace: dict[str, Any]) -> list[str]:
        """Text that takes each out of ``data``, with the names that it uses."""
        namespace |= {"carray": numba.carray, "pointer": pointer}
        texts = []
        for place, array in enumerate(self.arrays):
            namespace[f"dtype{place}"] = array.dtype.type
            read = f"carray(pointer(data[{place}]), {array.shape!r}, dtype{place})"
            texts.append(read if array.ndim else f"{read}[()]")
        return texts


def _in_order(f: Callable[..., Any], given: Mapping[str, Any], first: int) -> list[Any]:
    names = list(signature(getattr(f, "py_func", f)).parameters)[first:]
    missing, unknown = [name for name in names if name not in given], [name for name in given if name not in names]
    if missing or unknown:
        raise TypeError(f"the data of {f.__name__!r} are {names}, and not {list(given)}")
    return [given[name] for name in names]


class CFunction:
    """The value and the gradient of a function as a C function.

    Parameters
    ----------
    f
        A function of the variables, and then of data, that returns a number; it is machine code, whole.
    variables
        What varies.
    data
        What does not.
    fastmath
        As for :func:`adjoint.grad`.

    Attributes
    ----------
    address
        The address of the C function.
    data
        What it is handed last; it lives as long as this object.
    """

    def __init__(self, f: Callable[..., Any], variables: Variables, data: Data, fastmath: bool = False) -> None:
        self.variables = variables
        self.data = data
        places = tuple(range(len(variables.names)))
        namespace: dict[str, Any] = {"derivative": value_and_grad(f, places, native="strict", fastmath=fastmath)}
        arguments = ", ".join([*variables.reads(), *data.reads(namespace)])
        body = [f"    value[0], gradients = derivative({arguments})"]
        for place, (part, shape) in enumerate(zip(variables.slices, variables.shapes, strict=True)):
            flat = "" if len(shape) < 2 else ".ravel()"
            body.append(f"    {_read('out', part, () if shape == () else (1,))} = gradients[{place}]{flat}")
        text = "\n".join(["def inner(x, out, value, data):", *body])
        exec(text, namespace)
        inner, size = njit(namespace["inner"]), variables.size

        def function(count, x_, out_, value_, data):
            if count != size:
                return -1
            x, out, value = numba.carray(x_, (size,)), numba.carray(out_, (size,)), numba.carray(value_, (1,))
            try:
                inner(x, out, value, data)
            except Exception:  # whatever it is: C knows no exceptions
                return 1
            for i in range(size):
                if not np.isfinite(out[i]):
                    return 3
            return 0 if np.isfinite(value[0]) else 4

        self.compiled = numba.cfunc(_SIGNATURE)(function)
        self._inner = inner

    @property
    def address(self) -> int:
        return int(self.compiled.address or 0)

    def __call__(self, x: Vector) -> tuple[float, Vector]:
        """The value and the gradient at a vector of shape ``(n,)``, by way of C.

        Raises
        ------
        ArithmeticError
            If the function raises, or one of the two is not finite.
        """
        point, gradient, value = np.array(x, float), np.empty(self.variables.size), np.empty(1)
        status = self.compiled.ctypes(
            len(point),
            *[each.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for each in (point, gradient, value)],
            self.data.addresses.ctypes.data_as(ctypes.POINTER(ctypes.c_size_t)),
        )
        if status:
            raise ArithmeticError(f"the C function returned {status}")
        return float(value[0]), gradient


class CMap:
    """What else is to be known at each point: the variables themselves, and numbers and arrays made of them."""

    def __init__(self, variables: Variables, data: Data, derived: Variables, f: Callable[..., Any] | None) -> None:
        self.variables = Variables(variables.names + derived.names, variables.shapes + derived.shapes)
        namespace: dict[str, Any] = {}
        arguments = ", ".join([*variables.reads(), *data.reads(namespace)])
        size, total = variables.size, self.variables.size
        body = [f"    out[:{size}] = x"]
        if f is not None:
            namespace["derived"] = f if hasattr(f, "py_func") else njit(f)
            body.append(f"    found = derived({arguments})")
            for place, (part, shape) in enumerate(zip(derived.slices, derived.shapes, strict=True)):
                moved, value = slice(part.start + size, part.stop + size), f"found[{place}]"
                target = _read("out", moved, () if shape == () else (1,))
                body.append(f"    {target} = {value}{'' if len(shape) < 2 else '.ravel()'}")
        exec("\n".join(["def inner(x, out, data):", *body]), namespace)
        inner = njit(namespace["inner"])

        def function(count, count_out, x_, out_, data):
            if count != size or count_out != total:
                return -1
            try:
                inner(numba.carray(x_, (size,)), numba.carray(out_, (total,)), data)
            except Exception:  # whatever it is: C knows no exceptions
                return -2
            return 0

        self.compiled = numba.cfunc(_SIGNATURE_OF_MAP)(function)
