"""Products of constant sparse matrices of SciPy and arrays."""

from __future__ import annotations

from typing import Any


def is_sparse(cls: type | None) -> bool:
    """Whether objects of a class are sparse matrices or arrays of SciPy, which is not imported to tell."""
    return cls is not None and cls.__module__.startswith("scipy.sparse.") and hasattr(cls, "tocsr")


def sparse_times(matrix: Any, x: Any) -> Any:
    """``matrix @ x``"""
    return matrix @ x


def times_sparse(x: Any, matrix: Any) -> Any:
    """``x @ matrix``"""
    return x @ matrix


def transposed_sparse(matrix: Any) -> Any:
    """``matrix.T``"""
    return matrix.T
