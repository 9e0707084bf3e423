"""Clocks: what they show carries no derivative."""

import time
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.rules.declare import no_derivative


def _seconds(args: Sequence[Any]) -> tuple[ir.Type, ...]:
    return (ir.FLOAT,)


def _nanoseconds(args: Sequence[Any]) -> tuple[ir.Type, ...]:
    return (ir.INT,)


no_derivative(
    *(time.time, time.perf_counter, time.monotonic, time.process_time, time.thread_time), pure=False, typed=_seconds
)
no_derivative(
    *(time.time_ns, time.perf_counter_ns, time.monotonic_ns, time.process_time_ns, time.thread_time_ns),
    pure=False,
    typed=_nanoseconds,
)
