"""Powers of Python's floats that are complex: of a negative number, by one that is not whole."""

from __future__ import annotations

from typing import Any


def check_real(base: Any, exponent: Any) -> None:
    """Refuses a power of floats that Python makes complex.

    Raises
    ------
    DifferentiationError
        AD0414.

    >>> check_real(-2.0, 2.0)
    """
    if base < 0 and is_complex(base, exponent):
        from adjoint.diagnostics import ComplexPower  # lazy

        raise ComplexPower


def is_complex(x: Any, y: Any, z: Any = None) -> bool:
    """Whether Python makes a complex number of ``x ** y``; ``z`` is not looked at."""
    del z
    return isinstance(float(x) ** float(y), complex)
