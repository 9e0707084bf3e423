"""``ad.data``: batches have each sample once in an epoch, IDX files are read as they are written."""

import gzip
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad


def test_an_epoch_has_each_sample_once():
    x, y = np.arange(11), np.arange(11) * 10
    batches = ad.data.Batches(x, y, size=4, rng=0)
    first, second = list(batches), list(batches)
    assert [len(part) for part, _ in first] == [4, 4, 3] and len(batches) == 3
    for epoch in (first, second):
        assert sorted(np.concatenate([part for part, _ in epoch])) == list(x)
        assert all(np.array_equal(10 * part, other) for part, other in epoch)
    assert not np.array_equal(first[0][0], second[0][0])
    again = list(ad.data.Batches(x, y, size=4, rng=0))
    assert all(np.array_equal(one[0], two[0]) for one, two in zip(first, again, strict=True))


def test_batches_in_order_and_of_one_size():
    batches = ad.data.Batches(np.arange(7), size=3, shuffle=False, drop_last=True)
    assert [part.tolist() for (part,) in batches] == [[0, 1, 2], [3, 4, 5]] and len(batches) == 2
    with pytest.raises(ValueError, match=r"equally many samples, and not \[2, 3\]"):
        ad.data.Batches(np.zeros(2), np.zeros(3), size=1)
    for make in (lambda: ad.data.Batches(np.zeros(2), size=0), lambda: list(ad.data.in_batches([1], 0))):
        with pytest.raises(ValueError, match="one sample and more"):
            make()


def test_sequences_of_similar_lengths():
    rng = np.random.default_rng(0)
    sequences = [np.full((length, 2), float(length)) for length in rng.integers(1, 30, size=50)]
    batches = ad.data.BatchesByLength(sequences, size=8, fill=-1.0, rng=0)
    seen, unused = [], 0
    for x, lengths, indices in batches:
        seen += list(indices)
        unused += (lengths.max() - lengths).sum()
        for row, length, index in zip(x, lengths, indices, strict=True):
            np.testing.assert_array_equal(row[:length], sequences[index])
            assert np.all(row[length:] == -1.0)
    assert sorted(seen) == list(range(50)) and len(batches) == 7 and unused < 50 * 3


class Pair(NamedTuple):
    x: np.ndarray
    y: int


@dataclass
class Sample:
    image: np.ndarray
    label: float


def test_samples_are_collated():
    pairs = [Pair(np.zeros(2), 1), Pair(np.ones(2), 2)]
    both = ad.data.collated(pairs)
    assert isinstance(both, Pair) and both.x.shape == (2, 2) and both.y.tolist() == [1, 2]
    many = ad.data.collated([{"a": Sample(np.zeros(3), 1.0), "b": [1, 2]}, {"a": Sample(np.ones(3), 2.0), "b": [3, 4]}])
    assert many["a"].image.shape == (2, 3) and many["a"].label.tolist() == [1.0, 2.0]
    assert [part.tolist() for part in many["b"]] == [[1, 3], [2, 4]]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("name", ["a.idx", "a.idx.gz"])
def test_idx_files(tmp_path, dtype, name):
    array = (np.arange(24).reshape(2, 3, 4) * 5).astype(dtype)
    ad.data.write_idx(tmp_path / name, array)
    found = ad.data.read_idx(tmp_path / name)
    np.testing.assert_array_equal(found, array)
    assert found.dtype == dtype and found.flags.writeable


def test_an_idx_file_byte_by_byte(tmp_path):
    path = tmp_path / "labels"
    path.write_bytes(b"\0\0\x0b\x02" + b"\0\0\0\x01" + b"\0\0\0\x02" + b"\x01\0\xff\xff")
    assert ad.data.read_idx(path).tolist() == [[256, -1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no file in the IDX format"),
        (b"\0\0\x07\x01\0\0\0\0", "no file in the IDX format"),
        (b"\0\0\x08\x02\0\0\0\x01", "ends within its head"),
        (b"\0\0\x08\x01\0\0\0\x03\1\2", "has 10 bytes, and not 11 for an array of shape"),
        (b"\0\0\x08\x03" + b"\xff" * 12, "and not"),
        (gzip.compress(b"\0" * 100, mtime=0)[:-9], "is damaged"),
    ],
)
def test_damaged_idx_files(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        ad.data.read_idx(path)


def test_idx_has_no_such_arrays(tmp_path):
    with pytest.raises(ValueError, match="no arrays of complex128"):
        ad.data.write_idx(tmp_path / "file", np.ones(2, complex))
