"""Batches: parts of the samples, in a new order in each epoch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Batches:
    """Arrays in batches: each iteration is an epoch, in an order of its own.

    Parameters
    ----------
    *arrays
        Their first axes have the samples, equally many.
    size
        How many samples a batch has; the last one may have fewer.
    shuffle
        Whether each epoch has an order of its own.
    drop_last
        Whether a last batch with fewer samples is left out.
    rng
        Draws the orders: a generator, or a seed.

    Raises
    ------
    ValueError
        If the arrays have different numbers of samples, or the size is not positive.

    Examples
    --------
    >>> batches = Batches(np.arange(5), np.arange(5.0) ** 2, size=2, rng=0)
    >>> for x, y in batches:
    ...     print(x, y)
    [2 4] [ 4. 16.]
    [3 0] [9. 0.]
    [1] [1.]
    >>> len(batches)
    3
    """

    def __init__(
        self,
        *arrays: NDArray[Any],
        size: int,
        shuffle: bool = True,
        drop_last: bool = False,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        counts = {len(array) for array in arrays}
        if len(counts) != 1:
            raise ValueError(f"arrays have equally many samples, and not {sorted(counts) or 'none'}")
        if size < 1:
            raise ValueError(f"a batch has one sample and more, and not {size}")
        self.arrays, self.size, self.shuffle, self.drop_last = arrays, size, shuffle, drop_last
        self.rng = np.random.default_rng(rng)
        self.samples = counts.pop()

    def __len__(self) -> int:
        return self.samples // self.size if self.drop_last else -(-self.samples // self.size)

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        order = self.rng.permutation(self.samples) if self.shuffle else None
        for start in range(0, len(self) * self.size, self.size):
            places = slice(start, start + self.size) if order is None else order[start : start + self.size]
            yield tuple(array[places] for array in self.arrays)


class BatchesByLength:
    """Sequences of different lengths, in batches of similar ones: each iteration is an epoch.

    Parameters
    ----------
    sequences
        Arrays ``(time, ...)``.
    size
        How many a batch has; the last one may have fewer.
    fill
        What stands behind those that are shorter than the longest one of their batch.
    rng
        Draws the order of the batches, and that of sequences of one length: a generator, or a seed.

    Yields
    ------
    tuple
        The sequences, ``(samples, time, ...)``, their lengths, and their indices.

    Examples
    --------
    >>> sequences = [np.ones(3), np.ones(1), np.ones(2), np.ones(1)]
    >>> for x, lengths, indices in BatchesByLength(sequences, size=2, rng=1):
    ...     print(x.shape, lengths)
    (2, 1) [1 1]
    (2, 3) [2 3]
    """

    def __init__(
        self,
        sequences: Sequence[NDArray[Any]],
        size: int,
        *,
        fill: Any = 0,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        if size < 1:
            raise ValueError(f"a batch has one sequence and more, and not {size}")
        self.sequences, self.size, self.fill = sequences, size, fill
        self.rng = np.random.default_rng(rng)
        self.lengths = np.array([len(sequence) for sequence in sequences])

    def __len__(self) -> int:
        return -(-len(self.sequences) // self.size)

    def __iter__(self) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        mixed = self.rng.permutation(len(self.sequences))
        order = mixed[np.argsort(self.lengths[mixed], kind="stable")]
        for batch in self.rng.permutation(len(self)):
            indices = order[batch * self.size : (batch + 1) * self.size]
            lengths = self.lengths[indices]
            first = self.sequences[indices[0]]
            x = np.full((len(indices), lengths.max(), *first.shape[1:]), self.fill, first.dtype)
            for place, index in enumerate(indices):
                x[place, : lengths[place]] = self.sequences[index]
            yield x, lengths, indices


def in_batches(samples: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Samples in lists of so many; the last one may have fewer.

    >>> list(in_batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    if size < 1:
        raise ValueError(f"a batch has one sample and more, and not {size}")
    batch: list[Any] = []
    for sample in samples:
        batch.append(sample)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def collated(samples: Sequence[Any]) -> Any:
    """One sample for many: numbers and arrays are stacked, in tuples, lists, dicts and dataclasses.

    Examples
    --------
    >>> collated([(np.zeros(2), 1), (np.ones(2), 4)])
    (array([[0., 0.],
           [1., 1.]]), array([1, 4]))
    """
    first = samples[0]
    if isinstance(first, dict):
        return {key: collated([sample[key] for sample in samples]) for key in first}
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        names = [field.name for field in dataclasses.fields(first)]
        parts = {name: collated([getattr(sample, name) for sample in samples]) for name in names}
        return dataclasses.replace(first, **parts)
    if isinstance(first, (tuple, list)):
        columns = [collated(column) for column in zip(*samples, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else type(first)(columns)
    return np.stack(samples)
