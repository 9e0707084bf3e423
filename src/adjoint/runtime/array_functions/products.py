"""Products of arrays: how ``np.einsum`` and ``np.kron`` are taken back, and convolutions."""

from __future__ import annotations

import string
from functools import lru_cache
from typing import Any

import numpy as np

from adjoint.runtime.array_functions.arrays import unbroadcast


def sum_of_products(a: Any, b: Any) -> Any:
    """The sum over all elements of ``a * b``, without an array for the products where none is broadcast.

    >>> sum_of_products(np.ones((2, 1)), np.array([[1.0, 2.0, 3.0]]))
    np.float64(12.0)
    """
    return np.vdot(a, b) if a.shape == b.shape else np.sum(a * b)


def einsum_of_one(subscripts: str, operand: Any) -> Any:
    """``np.einsum`` of one array without sums: a view of it, diagonals and transposes."""
    return np.einsum(subscripts, operand)


@lru_cache(maxsize=256)
def einsum_terms(subscripts: str, *ranks: int) -> tuple[tuple[str, ...], str]:
    """The labels of the operands and of the result, ellipses and the implicit result written out."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    free = [letter for letter in string.ascii_letters if letter not in text]
    widest = max(
        (rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True) if "..." in term),
        default=0,
    )
    batch = "".join(free[:widest])
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        right = ("..." if "..." in left else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    spelled = tuple(
        term.replace("...", batch[widest - (rank - len(term.replace("...", ""))) :])
        for term, rank in zip(terms, ranks, strict=True)
    )
    return spelled, right.replace("...", batch)


@lru_cache(maxsize=256)
def adjoint_subscripts(subscripts: str, place: int, *ranks: int) -> str:
    """Subscripts that give the cotangent of an operand from that of the result and the other operands."""
    terms, result = einsum_terms(subscripts, *ranks)
    others = terms[:place] + terms[place + 1 :]
    return ",".join((result, *others)) + "->" + reached_labels(terms, result, place)


def reached_labels(terms: tuple[str, ...], result: str, place: int) -> str:
    """The labels of an operand, once each, that the result or another operand has too."""
    elsewhere = result + "".join(terms[:place] + terms[place + 1 :])
    return "".join(label for label in dict.fromkeys(terms[place]) if label in elsewhere)


@lru_cache(maxsize=256)
def collected_subscripts(subscripts: str, place: int, *ranks: int) -> str:
    """The transpose of :func:`einsum_expand` as subscripts."""
    terms, result = einsum_terms(subscripts, *ranks)
    return f"{terms[place]}->{reached_labels(terms, result, place)}"


def einsum_expand(part: Any, operand: Any, subscripts: str, place: int, *ranks: int) -> Any:
    """``part`` in the shape of an operand: repeated along labels only it has, on the diagonal of repeated ones."""
    terms, result = einsum_terms(subscripts, *ranks)
    labels, reached = terms[place], reached_labels(terms, result, place)
    if labels == reached:
        return unbroadcast(part, operand)
    unique = "".join(dict.fromkeys(labels))
    extents = dict(zip(labels, np.shape(operand), strict=True))
    shape = tuple(np.shape(part)[reached.index(label)] if label in reached else 1 for label in unique)
    full = np.broadcast_to(
        np.reshape(part, shape), tuple(max(extents[label], n) for label, n in zip(unique, shape, strict=True))
    )
    if labels == unique:
        return unbroadcast(np.array(full), operand)
    out = np.zeros(np.shape(operand), np.asarray(part).dtype)
    grids = np.ogrid[tuple(slice(extents[label]) for label in unique)]
    out[tuple(grids[unique.index(label)] for label in labels)] = full
    return unbroadcast(out, operand)


def kron_left(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``np.kron(a, b)``."""
    blocks, rank = _kron_blocks(ct, a, b)
    summed = np.sum(blocks * np.reshape(b, _padded(b, rank, 1)), axis=tuple(range(1, 2 * rank, 2)))
    return unbroadcast(np.reshape(summed, np.shape(a)), a)


def kron_right(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``np.kron(a, b)``."""
    blocks, rank = _kron_blocks(ct, a, b)
    summed = np.sum(blocks * np.reshape(a, _padded(a, rank, 0)), axis=tuple(range(0, 2 * rank, 2)))
    return unbroadcast(np.reshape(summed, np.shape(b)), b)


def _kron_blocks(ct: Any, a: Any, b: Any) -> tuple[Any, int]:
    rank = max(np.ndim(a), np.ndim(b))
    pairs = zip(_aligned(a, rank), _aligned(b, rank), strict=True)
    return np.reshape(ct, [extent for pair in pairs for extent in pair]), rank


def _aligned(x: Any, rank: int) -> tuple[int, ...]:
    shape: tuple[int, ...] = np.shape(x)
    return (1,) * (rank - len(shape)) + shape


def _padded(x: Any, rank: int, parity: int) -> list[int]:
    """The shape of an operand, spread over the odd or even axes of the blocks."""
    shape = [1] * (2 * rank)
    shape[parity::2] = _aligned(x, rank)
    return shape


def cross_left(ct: Any, a: Any, b: Any, axis: int = -1) -> Any:
    """The cotangent of ``a`` in ``np.cross(a, b, axis=axis)``.

    >>> cross_left(np.array([0.0, 0.0, 1.0]), np.zeros(3), np.array([1.0, 2.0, 3.0]))
    array([ 2., -1.,  0.])
    """
    return _cross_part(np.cross(_in_space(b, axis), _product_in_space(ct, a, b, axis), axis=axis), a, axis)


def cross_right(ct: Any, a: Any, b: Any, axis: int = -1) -> Any:
    """The cotangent of ``b`` in ``np.cross(a, b, axis=axis)``."""
    return _cross_part(np.cross(_product_in_space(ct, a, b, axis), _in_space(a, axis), axis=axis), b, axis)


def _in_space(vectors: Any, axis: int) -> Any:
    """Vectors of three elements; behind two of them a zero."""
    if np.shape(vectors)[axis] == 3:
        return vectors
    return np.concatenate([vectors, np.zeros_like(np.take(vectors, [0], axis))], axis=axis)


def _product_in_space(ct: Any, a: Any, b: Any, axis: int) -> Any:
    """The cotangent of a product as vectors: that of vectors of two elements is only the third element."""
    if 3 in (np.shape(a)[axis], np.shape(b)[axis]):
        return ct
    third = np.expand_dims(ct, axis)
    nothing = np.zeros_like(third)
    return np.concatenate([nothing, nothing, third], axis=axis)


def _cross_part(ct: Any, like: Any, axis: int) -> Any:
    """As many elements of each vector as ``like`` has, summed to its shape."""
    extent = np.shape(like)[axis]
    return unbroadcast(ct if extent == 3 else np.take(ct, range(extent), axis), like)


def convolve_part(ct: Any, other: Any, like: Any, mode: str = "full") -> Any:
    """The cotangent of one operand of ``np.convolve``, of the shape of ``like``."""
    n, m = np.size(like), np.size(other)
    full = np.zeros(n + m - 1, np.result_type(ct, other))
    start = {"full": 0, "same": (min(n, m) - 1) // 2, "valid": min(n, m) - 1}[mode]
    full[start : start + len(ct)] = ct
    return unbroadcast(np.correlate(full, np.conj(np.atleast_1d(other)), "valid")[:n], like)
