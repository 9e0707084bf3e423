"""What `numpy.nditer` does, in Python: read by the compiler where a function that is differentiated makes one."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.frontend.library.arrays.definitions import unravelled
from adjoint.runtime.arithmetic.checks import check_rows


def nditer(op: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: Any = "K") -> Any:
    for flag in () if flags is None else flags:
        if flag not in ("multi_index", "refs_ok", "zerosize_ok"):
            raise NotImplementedError("numpy.nditer with a flag that changes what it gives")
    if op_dtypes is not None or order not in ("K", "C", "A"):
        raise NotImplementedError("numpy.nditer with a dtype, or in the order of columns")
    modes = () if op_flags is None else op_flags
    if isinstance(op, (tuple, list)):
        for mode in modes:
            if "readonly" not in mode:
                raise NotImplementedError("numpy.nditer of several arrays of which some are written")
        return IterOfSeveral(op)
    if order != "C":
        check_rows(op)
    return WritingIter(op) if "readwrite" in modes or "writeonly" in modes else ReadingIter(op)


class ReadingIter:
    """Stands for `numpy.nditer` of one array, which is only read."""

    def __init__(self, op: Any) -> None:
        self._row = op.reshape(-1)
        self.shape = op.shape
        self.ndim = op.ndim
        self.itersize = op.size
        self.iterindex = 0

    @property
    def value(self) -> Any:
        return self._row[self.iterindex]

    @property
    def multi_index(self) -> Any:
        if 0 < len(self.shape) <= 3:
            return unravelled(self.shape, self.iterindex)
        return np.unravel_index(self.iterindex, self.shape)

    @property
    def finished(self) -> Any:
        return self.iterindex >= self.itersize

    def iternext(self) -> Any:
        self.iterindex += 1
        return self.iterindex < self.itersize

    def __getitem__(self, place: Any) -> Any:
        return self.value

    def __iter__(self) -> Any:
        for place in range(self.itersize):
            self.iterindex = place
            yield self.value

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *problem: Any) -> None:
        pass

    def close(self) -> None:
        pass


class WritingIter(ReadingIter):
    """The same where the array may be written."""

    @property
    def value(self) -> Any:
        return self._row[self.iterindex : self.iterindex + 1].reshape(())

    def __setitem__(self, place: Any, value: Any) -> None:
        self._row[self.iterindex] = value


class IterOfSeveral(ReadingIter):
    """The same for several arrays, which are broadcast to one shape."""

    def __init__(self, op: Any) -> None:
        operands = np.broadcast_arrays(*op)
        super().__init__(operands[0])
        self._rows = [operand.reshape(-1) for operand in operands]

    @property
    def value(self) -> Any:
        return tuple([row[self.iterindex] for row in self._rows])

    def __getitem__(self, place: Any) -> Any:
        return self._rows[place][self.iterindex]
