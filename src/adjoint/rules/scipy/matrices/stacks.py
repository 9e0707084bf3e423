"""Stacks of matrices: SciPy takes one after the other, and what is said of one matrix says it of each."""

# mypy: allow-untyped-defs, allow-untyped-calls

from functools import wraps

import numpy as np


def each_matrix(single):
    """What a function of one matrix, and of settings, means for a stack of matrices."""

    @wraps(single)
    def of_stack(a, *args, **kwargs):
        if np.ndim(a) <= 2:
            return single(a, *args, **kwargs)
        matrices = _flat(a, np.shape(a)[:-2], 2)
        first = single(matrices[0], *args, **kwargs)
        others = [single(matrices[k], *args, **kwargs) for k in range(1, len(matrices))]
        return _gathered(first, others, np.shape(a)[:-2])

    return of_stack


def each_system(single):
    """The same for a function of a matrix and of what stands on the right side of an equation, vectors or a matrix."""

    @wraps(single)
    def of_stacks(a, b, *args, **kwargs):
        if np.ndim(a) <= 2 and np.ndim(b) <= 2:
            return single(a, b, *args, **kwargs)
        lead = np.broadcast_shapes(np.shape(a)[:-2], np.shape(b)[:-2])
        matrices, sides = _flat(a, lead, 2), _flat(b, lead, 2)
        first = single(matrices[0], sides[0], *args, **kwargs)
        others = [single(matrices[k], sides[k], *args, **kwargs) for k in range(1, len(matrices))]
        return _gathered(first, others, lead)

    return of_stacks


def each_diagonal(single):
    """The same for a function of two vectors."""

    @wraps(single)
    def of_stacks(d, e, *args, **kwargs):
        if np.ndim(d) <= 1 and np.ndim(e) <= 1:
            return single(d, e, *args, **kwargs)
        lead = np.broadcast_shapes(np.shape(d)[:-1], np.shape(e)[:-1])
        ones, others = _flat(d, lead, 1), _flat(e, lead, 1)
        first = single(ones[0], others[0], *args, **kwargs)
        further = [single(ones[k], others[k], *args, **kwargs) for k in range(1, len(ones))]
        return _gathered(first, further, lead)

    return of_stacks


def _flat(a, lead, rank):
    """One stack of all matrices or vectors, those of which there are fewer as often as of the others."""
    core = np.shape(a)[-rank:]
    return np.reshape(np.broadcast_to(a, lead + core), (-1, *core))


def _gathered(first, others, lead):
    if isinstance(first, tuple):
        return [_stacked(part, [parts[j] for parts in others], lead) for j, part in enumerate(first)]
    return _stacked(first, others, lead)


def _stacked(first, others, lead):
    return np.reshape(np.stack([first, *others]), lead + np.shape(first))
