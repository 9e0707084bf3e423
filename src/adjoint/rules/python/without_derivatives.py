"""Functions of Python's library whose results carry no derivative: clocks, dates and spans of time, places in lists."""

import bisect
import time
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.rules.declare import no_derivative
from adjoint.types.classes.constant_types import EXAMPLES


def _seconds(args: Sequence[Any]) -> tuple[ir.Type, ...]:
    return (ir.FLOAT,)


def _nanoseconds(args: Sequence[Any]) -> tuple[ir.Type, ...]:
    return (ir.INT,)


no_derivative(bisect.bisect_left, bisect.bisect_right)
no_derivative(
    *(time.time, time.perf_counter, time.monotonic, time.process_time, time.thread_time), pure=False, typed=_seconds
)
no_derivative(
    *(time.time_ns, time.perf_counter_ns, time.monotonic_ns, time.process_time_ns, time.thread_time_ns),
    pure=False,
    typed=_nanoseconds,
)

for _cls in EXAMPLES:
    for _name, _method in vars(_cls).items():
        if not _name.startswith("_") and type(_method).__name__ == "method_descriptor":
            no_derivative(_method)
