"""Files in the IDX format, in which MNIST and its kin are handed on.

Two zero bytes, a code of the type of the elements, the number of axes; an extent of four bytes for each axis; the
elements, in the order of C; all of it with the highest byte first (yann.lecun.com/exdb/mnist).
"""

from __future__ import annotations

import gzip
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_CODES = {np.dtype(dtype): code for code, dtype in _DTYPES.items()}


def read_idx(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The array of an IDX file, which may be compressed by gzip.

    Raises
    ------
    ValueError
        If it is no such file, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "labels.idx.gz")
    >>> write_idx(path, np.array([[1, 2], [3, 4]], np.uint8))
    >>> read_idx(path)
    array([[1, 2],
           [3, 4]], dtype=uint8)
    """
    with open(path, "rb") as file:
        content = file.read()
    name = os.fspath(path)
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as problem:
            raise ValueError(f"{name} is damaged: {problem}") from None
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _DTYPES:
        raise ValueError(f"{name} is no file in the IDX format")
    dtype, start = np.dtype(_DTYPES[content[2]]), 4 + 4 * content[3]
    if len(content) < start:
        raise ValueError(f"{name} ends within its head")
    shape = tuple(int(extent) for extent in np.frombuffer(content, ">u4", content[3], 4))
    expected = start + dtype.itemsize * int(np.prod(shape, dtype=object))
    if len(content) != expected:
        raise ValueError(f"{name} has {len(content)} bytes, and not {expected} for an array of shape {shape}")
    return np.frombuffer(content, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))


def write_idx(path: str | os.PathLike[str], array: NDArray[Any]) -> None:
    """Writes an array to an IDX file, compressed where its name ends in ``.gz``.

    Raises
    ------
    ValueError
        If the format has no such elements, or not as many axes.
    """
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder(">")
    if dtype not in _CODES or array.ndim > 255:
        raise ValueError(f"the IDX format has no arrays of {array.dtype} with {array.ndim} axes")
    head = bytes([0, 0, _CODES[dtype], array.ndim]) + np.array(array.shape, ">u4").tobytes()
    content = head + array.astype(dtype).tobytes()
    with open(path, "wb") as file:
        file.write(gzip.compress(content, mtime=0) if os.fspath(path).endswith(".gz") else content)
