"""What Python's arithmetic refuses, as checks for code whose arithmetic refuses nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.runtime.arithmetic.complex_powers import is_complex
from adjoint.types.classes.safe_lookups import asked

OUTSIDE_SAID = "math domain error"
GROWN_SAID = "math range error"
FRACTION_SAID = "machine code has no fraction for a whole number to a negative power: start from a float"
NEVER = 2**63 - 1
"""Stands for the place of the first check that failed, where none did."""


def holds_somewhere(condition: Any, *numbers: Any) -> bool:
    """Whether a condition holds of numbers; of bundles, whether it holds in one of their places.

    >>> holds_somewhere(math.isinf, np.array([1.0, math.inf]))
    True
    """
    if any(isinstance(number, np.ndarray) for number in numbers):
        return any(condition(*each) for each in np.broadcast(*numbers))
    return bool(condition(*numbers))


def check_divisor(divisor: Any, message: str) -> None:
    """Raises what a division by zero would raise.

    >>> check_divisor(0.0, "float division by zero")
    Traceback (most recent call last):
    ZeroDivisionError: float division by zero
    """
    if holds_somewhere(_is_zero, divisor):
        raise ZeroDivisionError(message)


def check_domain(name: str, x: Any) -> None:
    """Raises what ``math.<name>(x)`` would raise outside of its domain.

    >>> check_domain("log", 0.0)
    Traceback (most recent call last):
    ValueError: math domain error
    """
    if holds_somewhere(OUTSIDE[name], x):
        raise ValueError(OUTSIDE_SAID)


def check_whole(x: Any) -> None:
    """Raises what ``int(x)`` would raise, also where the number is too large for whole numbers of machine code.

    >>> check_whole(math.inf)
    Traceback (most recent call last):
    OverflowError: cannot convert float infinity to integer
    """
    if not abs(x) < TOO_LARGE:
        if x != x:
            raise ValueError("cannot convert float NaN to integer")
        if math.isinf(x):
            raise OverflowError("cannot convert float infinity to integer")
        raise OverflowError("int too large for machine code")


TOO_LARGE = 2.0**63


def check_fits(number: Any, least: int, most: int) -> None:
    """Raises what NumPy raises where a number of Python does not fit into the bits of those that it meets.

    >>> check_fits(300, -128, 127)
    Traceback (most recent call last):
    OverflowError: Python integer out of bounds of the dtype
    """
    if number < least or number > most:
        raise OverflowError("Python integer out of bounds of the dtype")


def check_shift(count: Any, leftwards: bool) -> None:
    """Raises what a shift of a whole number would raise, also where machine code has no bits to shift it to.

    >>> check_shift(-1, False)
    Traceback (most recent call last):
    ValueError: negative shift count
    """
    if count < 0:
        raise ValueError("negative shift count")
    if leftwards and count >= BITS:
        raise OverflowError("int too large for machine code")


def check_exponents(exponents: Any) -> None:
    """Raises what NumPy raises for whole numbers to a negative power.

    >>> check_exponents(-1)
    Traceback (most recent call last):
    ValueError: Integers to negative integer powers are not allowed.
    """
    if np.any(np.less(exponents, 0)):
        raise ValueError("Integers to negative integer powers are not allowed.")


def check_depth(depth: int, limit: int) -> None:
    """Raises what Python raises where functions call themselves too deep.

    >>> check_depth(1001, 1000)
    Traceback (most recent call last):
    RecursionError: maximum recursion depth exceeded
    """
    if depth > limit:
        raise RecursionError(TOO_DEEP_SAID)


TOO_DEEP_SAID = "maximum recursion depth exceeded"
BITS = 64
"""Of whole numbers in machine code."""


def check_bound(is_bound: Any, name: str) -> None:
    """Raises what reading an unbound variable would raise.

    >>> check_bound(False, "x")
    Traceback (most recent call last):
    UnboundLocalError: cannot access local variable 'x' where it is not associated with a value
    """
    if not is_bound:
        raise UnboundLocalError(unbound_said(name))


def unbound_said(name: str) -> str:
    """What Python says to it."""
    return f"cannot access local variable {name!r} where it is not associated with a value"


def check_range(x: Any, y: Any) -> None:
    """Raises what a function of the module ``math`` would raise whose result ``y`` at ``x`` is too large.

    >>> check_range(1000.0, math.inf)
    Traceback (most recent call last):
    OverflowError: math range error
    """
    if holds_somewhere(_is_out_of_range, x, y):
        raise OverflowError(GROWN_SAID)


def note_divisor(found: int, place: int, divisor: Any) -> int:
    """Which check of an iteration failed first: the one at ``place`` if it is of a divisor that is zero."""
    return min(found, place) if holds_somewhere(_is_zero, divisor) else found


def note_domain(found: int, place: int, name: str, x: Any) -> int:
    """Which check of an iteration failed first: the one at ``place`` if ``math.<name>(x)`` has no value."""
    return min(found, place) if holds_somewhere(OUTSIDE[name], x) else found


def note_range(found: int, place: int, x: Any, y: Any) -> int:
    """Which check of an iteration failed first: the one at ``place`` if the result ``y`` at ``x`` is too large."""
    return min(found, place) if holds_somewhere(_is_out_of_range, x, y) else found


def earlier(first: int, index: int, found: int, count: int) -> int:
    """The place of the first check that failed in a loop: ``found`` of ``count`` in an iteration, or an earlier one.

    >>> earlier(NEVER, 5, 1, 2), earlier(NEVER, 5, 2, 2), earlier(3, 5, 1, 2)
    (11, 9223372036854775807, 3)
    """
    return min(first, index * count + found) if found < count else first


def refuse(first: int, count: int, places: int, error: str, message: str) -> None:
    """Raises an exception if the first check that failed is one of ``places``, bits for each of ``count`` checks.

    >>> refuse(11, 2, 0b10, "ValueError", "math domain error")
    Traceback (most recent call last):
    ValueError: math domain error
    """
    if first != NEVER and places >> first % count & 1:
        raise ERRORS[error](message)


ERRORS = {kind.__name__: kind for kind in (ZeroDivisionError, ValueError, OverflowError)}


def check_power(kind: str, x: Any, y: Any, z: Any) -> None:
    """Raises what a power of ``x`` by ``y`` would raise that is ``z`` where nothing is refused.

    >>> check_power("range of pow", 1e300, 2.0, math.inf)
    Traceback (most recent call last):
    OverflowError: math range error
    """
    if holds_somewhere(FAULTS_OF_POWERS[kind], x, y, z):
        error, words = REFUSED_POWERS[kind]
        raise error(*words)


def note_power(found: int, place: int, kind: str, x: Any, y: Any, z: Any) -> int:
    """Which check of an iteration failed first: the one at ``place`` if a power is refused."""
    return min(found, place) if holds_somewhere(FAULTS_OF_POWERS[kind], x, y, z) else found


def refuse_power(first: int, count: int, places: int, kind: str) -> None:
    """As :func:`refuse`, for powers."""
    if first != NEVER and places >> first % count & 1:
        error, words = REFUSED_POWERS[kind]
        raise error(*words)


def _is_zero(divisor: Any) -> Any:
    return divisor == 0


def _is_out_of_range(x: Any, y: Any) -> Any:
    return math.isinf(y) and math.isfinite(x)


def _is_pole(x: Any, y: Any, z: Any) -> Any:
    return x == 0 and y < 0 and not math.isinf(y)


def _has_no_value(x: Any, y: Any, z: Any) -> Any:
    return (x == 0 and y < 0 and not math.isinf(y)) or (z != z and x == x and y == y)


def _is_too_large(x: Any, y: Any, z: Any) -> Any:
    return math.isinf(z) and x != 0 and math.isfinite(x) and math.isfinite(y)


def _is_complex_pole(x: Any, y: Any, z: Any) -> Any:
    return x == 0 and (y.real < 0 or y.imag != 0)


def _is_negative(x: Any, y: Any, z: Any) -> Any:
    return y < 0


def _is_too_large_in_parts(x: Any, y: Any, z: Any) -> Any:
    return math.isinf(z.real) or math.isinf(z.imag)


def _words_of_pole(zero: complex) -> str:
    """What Python says, which is not the same in all versions."""
    try:
        return str(zero ** float("-1"))
    except ZeroDivisionError as problem:
        return str(problem)


FAULTS_OF_POWERS: dict[str, Any] = {
    "pole of **": _is_pole,
    "range of **": _is_too_large,
    "domain of pow": _has_no_value,
    "range of pow": _is_too_large,
    "real pole of complex **": _is_pole,
    "complex pole of **": _is_complex_pole,
    "range of complex **": _is_too_large_in_parts,
    "inverse of whole numbers": _is_negative,
    "branch of **": is_complex,
}
"""What is refused of powers, as conditions on both arguments and the result."""

REFUSED_POWERS: dict[str, tuple[type[Exception], tuple[Any, ...]]] = {
    "pole of **": (ZeroDivisionError, (_words_of_pole(0.0),)),
    "range of **": (OverflowError, (34, "Numerical result out of range")),
    "domain of pow": (ValueError, (OUTSIDE_SAID,)),
    "range of pow": (OverflowError, (GROWN_SAID,)),
    "real pole of complex **": (ZeroDivisionError, (_words_of_pole(0j),)),
    "complex pole of **": (ZeroDivisionError, (_words_of_pole(0j),)),
    "range of complex **": (OverflowError, ("complex exponentiation",)),
    "inverse of whole numbers": (ValueError, (FRACTION_SAID,)),
}


OUTSIDE: dict[str, Any] = {
    "sqrt": lambda x: x < 0,
    "log": lambda x: x <= 0,
    "log2": lambda x: x <= 0,
    "log10": lambda x: x <= 0,
    "log1p": lambda x: x <= -1,
    "asin": lambda x: x < -1 or x > 1,
    "acos": lambda x: x < -1 or x > 1,
    "acosh": lambda x: x < 1,
    "atanh": lambda x: x <= -1 or x >= 1,
    "sin": math.isinf,
    "cos": math.isinf,
    "tan": math.isinf,
    "gamma": lambda x: x == -math.inf or (x <= 0 and x == math.floor(x)),
    "lgamma": lambda x: math.isfinite(x) and x <= 0 and x == math.floor(x),
}
"""Where functions of the module ``math`` have no value."""

GROWING = ("exp", "exp2", "expm1", "sinh", "cosh", "gamma", "lgamma")
"""Functions of the module ``math`` whose values can be too large."""


def check_alike(items: Any) -> None:
    """Raises where ``np.vectorize`` would convert results to a lesser type, that of the first one.

    >>> check_alike([0, 0.5])
    Traceback (most recent call last):
    TypeError: np.vectorize makes of all results what the first one is, a number of type int: say otypes=[float]
    """
    kinds = [_KINDS.get(item.dtype.kind if hasattr(item, "dtype") else type(item).__name__[0], 0) for item in items]
    if kinds and max(kinds) > kinds[0]:
        first = type(items[0]).__name__
        said = f"np.vectorize makes of all results what the first one is, a number of type {first}"
        raise TypeError(f"{said}: say otypes=[float]")


_KINDS = {"b": 1, "i": 2, "u": 2, "f": 3, "c": 4}
"""By the first letter of types and by the kinds of dtypes."""


def check_floats(array: Any, name: str | None, written: Any = 0.5) -> None:
    """Refuses an array of integers, of which floats were expected, unless what is written into it is whole itself.

    Raises
    ------
    DifferentiationError
        AD0408.
    """
    dtype = getattr(array, "dtype", None)
    if dtype is not None and dtype.kind in "iub" and np.asarray(written).dtype.kind not in "iub":
        from adjoint.diagnostics import error  # lazy

        which = "an array" if name is None else f"the array {name!r}"
        label = f"{which} holds integers in this call, and what is written into it is cut off"
        raise error(
            "AD0408", None, label, helps=("start the numbers that it is made of from 0.0, or give the array a dtype",)
        )


EXACT = 2**53
"""Up to which integer all are floats."""


def check_exact(number: Any) -> None:
    """Refuses an integer that is held as a float, where floats do not tell it from others.

    Raises
    ------
    DifferentiationError
        AD0402.

    >>> check_exact(2**53)
    """
    if not -EXACT <= number <= EXACT:
        from adjoint.diagnostics import InexactInteger  # lazy

        raise InexactInteger


def check_casts(ufunc: np.ufunc, casting: Any, *operands: Any) -> None:
    """Raises what a ufunc raises that would have to cast its operands otherwise than it is told.

    Raises
    ------
    TypeError
        As NumPy does.

    >>> check_casts(np.add, "no", np.ones(2), np.ones(2), np.ones(2))
    """
    dtypes = tuple([operand.dtype for operand in operands])
    ufunc.resolve_dtypes((*dtypes, *[None] * (ufunc.nargs - len(dtypes))), casting=casting)


def check_factor(operand: Any) -> None:
    """Refuses a whole number beside a list or tuple that was taken for an array: it repeats the list.

    Raises
    ------
    DifferentiationError
        AD0401.

    >>> check_factor(np.float64(2.0))
    """
    if isinstance(operand, (int, np.integer)):
        from adjoint.diagnostics import error  # lazy

        label = f"in this call a list or tuple is multiplied by the whole number {operand}, which repeats it"
        helps = ("convert what is a whole number: [x] * int(n)", "or make an array: np.array([x]) * n")
        raise error("AD0401", None, label, helps=helps)


def check_rows(operand: Any) -> None:
    """Refuses an array that `numpy.nditer` would not go through in the order of its rows.

    Raises
    ------
    DifferentiationError
        AD0204.

    >>> check_rows(np.zeros((2, 3)))
    """
    if not operand.flags.c_contiguous:
        from adjoint.diagnostics import error  # lazy

        label = "'nditer' is handed an array that does not lie in the order of its rows"
        raise error("AD0204", None, label, helps=("say in which order it is gone through: order='C'",), name="nditer")


def check_single(array: Any) -> None:
    """Refuses a result of more than one element, of which there is no gradient.

    Raises
    ------
    DifferentiationError
        AD0406.
    """
    if array.size != 1:
        from adjoint.diagnostics import error  # lazy

        raise error("AD0406", None, f"in this call the result is an array of shape {array.shape}")


PLAIN = (np.ndarray, np.generic, int, float, complex, str, bytes, type(None), tuple, list, dict, set, range, slice)
"""Classes whose objects rules take as NumPy does."""


def brings_arithmetic(cls: type) -> bool:
    """Whether objects of a class decide themselves what NumPy's functions and Python's operators make of them.

    >>> brings_arithmetic(np.ma.MaskedArray), brings_arithmetic(np.ndarray), brings_arithmetic(np.memmap)
    (True, False, False)
    """
    if cls is np.ndarray or cls is np.memmap or issubclass(cls, np.generic):
        return False
    names = ("__array_ufunc__", "__array_function__", "__array_priority__")
    return any(asked(cls, name) is not None for name in names)


def ways_out(cls: type) -> tuple[str, ...]:
    """How a plain array is made of an object that brings its own arithmetic."""
    if issubclass(cls, np.ma.MaskedArray):
        return ("say what stands at masked places: z.filled(0.0)", "or leave the mask aside: np.asarray(z)")
    if hasattr(cls, "to_numpy"):
        return ("hand over its values: z.to_numpy()",)
    if hasattr(cls, "toarray"):
        return ("hand over an array: z.toarray()",)
    return ("hand over a plain array: np.asarray(z)",)


def check_operand(operand: Any, name: str | None) -> None:
    """Refuses what brings an arithmetic of its own where it meets what varies.

    Raises
    ------
    DifferentiationError
        AD0207.
    """
    cls = type(operand)
    if cls is not float and cls is not np.ndarray and brings_arithmetic(cls):
        from adjoint.diagnostics import error  # lazy

        which = "an operand" if name is None else repr(name)
        label = f"in this call {which} is an object of class {cls.__name__!r}"
        raise error("AD0207", None, label, helps=ways_out(cls), name=cls.__name__)


def plain_operand(operand: Any, name: str | None, *classes: type) -> Any:
    """An operand of which nothing was known, as NumPy takes it: a list or a tuple is an array.

    So it is to functions of NumPy, and to operators where one of the ``classes`` of other operands is NumPy's.

    Raises
    ------
    DifferentiationError
        AD0207, as in :func:`check_operand`.

    >>> plain_operand([1.0, 2.0], None)
    array([1., 2.])
    >>> plain_operand([1.0, 2.0], None, int)
    [1.0, 2.0]
    """
    if type(operand) in (list, tuple):
        is_array = not classes or any(issubclass(cls, (np.ndarray, np.generic)) for cls in classes)
        return np.asarray(operand) if is_array else operand
    check_operand(operand, name)
    return operand


def unmasked_operand(operand: Any, name: str | None, *classes: type) -> Any:
    """The same of a sum, a difference or a product, where a masked array of which nothing is masked is its data.

    (Elsewhere it is not: a quotient of masked arrays is masked where it is infinite.)

    >>> unmasked_operand(np.ma.array([1.0, 2.0]), None)
    array([1., 2.])
    """
    if isinstance(operand, np.ma.MaskedArray) and not np.ma.is_masked(operand):
        return np.asarray(operand)
    return plain_operand(operand, name, *classes)
