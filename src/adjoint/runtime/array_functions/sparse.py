"""Products of matrices of which much is zero: constant ones of SciPy, and those that move in a direction.

A direction moves few of the numbers that a matrix is made of. What is multiplied by zeros is left out where that
changes nothing: where the other matrix is finite, as zero times infinity is not a number. Here the functions are what
they say; machine code has forms of them that look for the zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def lets_zeros_be_skipped(factor: Any) -> bool:
    """Whether products of a matrix with zeros are zeros; machine code does not ask it of small ones.

    Examples
    --------
    >>> lets_zeros_be_skipped(np.ones((2, 2))), lets_zeros_be_skipped(np.array([[1.0, np.inf]]))
    (True, False)
    """
    return bool(np.isfinite(factor).all())


def product_of_moving(a: Any, b: Any, skips: bool, moves_left: bool) -> Any:
    """``a @ b``; if ``skips``, columns of ``a`` that are zero may be skipped, or rows of ``b``: of what moves."""
    return a @ b


def is_sparse(cls: type | None) -> bool:
    """Whether objects of a class are sparse matrices or arrays of SciPy, which is not imported to tell."""
    return cls is not None and cls.__module__.startswith("scipy.sparse.") and hasattr(cls, "tocsr")


def is_any_sparse(cls: type) -> bool:
    """Whether a class is that of all sparse matrices and arrays, of which an object has a narrower one."""
    return cls.__module__ == "scipy.sparse._base" and cls.__name__ == "_spbase"


def like_matrix(matrix: Any, name: str, *args: Any) -> Any:
    """What a method gives that makes another matrix of the same class."""
    return getattr(matrix, name)(*args)


def in_format(matrix: Any, form: str) -> Any:
    """``matrix.asformat(form)``"""
    return matrix.asformat(form)


def elements_product(matrix: Any, other: Any) -> Any:
    """``matrix.multiply(other)``"""
    return matrix.multiply(other)


def sparse_times(matrix: Any, x: Any) -> Any:
    """``matrix @ x``"""
    return matrix @ x


def times_sparse(x: Any, matrix: Any) -> Any:
    """``x @ matrix``"""
    return x @ matrix


def transposed_sparse(matrix: Any) -> Any:
    """``matrix.T``"""
    return matrix.T
