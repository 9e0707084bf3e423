"""Messages between processes, as the linear maps that derivatives are made of; see :mod:`adjoint.rules.mpi`.

A message that is under way is known by its *ticket*, a number. Nothing here waits without end: what has not come after
a while raises, on each process that waits.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

__all__ = ["set_timeout", "timeout"]

Buffer = np.ndarray[Any, Any]
_timeout = float(os.environ.get("ADJOINT_MPI_TIMEOUT", 1800.0))
_tickets = itertools.count(1)
_under_way: dict[int, tuple[Any, Buffer]] = {}
"""By ticket: the request, and the buffer that the library reads or writes until it is done."""
_abandoned: list[Any] = []
"""What nobody waits for any more: the library may still write its buffers."""
_SPINS = 200
"""How often a wait asks before it lets other processes run."""


def timeout() -> float:
    """For how many seconds a derivative waits for other processes."""
    return _timeout


def set_timeout(seconds: float) -> None:
    """Sets for how many seconds a derivative waits for other processes before it raises ``TimeoutError``.

    At first it is 1800, or what the environment variable ``ADJOINT_MPI_TIMEOUT`` says. Set it on all processes.

    Parameters
    ----------
    seconds
        A number above zero; ``math.inf`` waits without end.
    """
    global _timeout
    if not seconds > 0:
        raise ValueError("the timeout is a number of seconds above zero")
    _timeout = float(seconds)


def _done(test: Callable[[], bool], comm: Any, what: str, *named: Any) -> None:
    """Waits until a request is done."""
    for _ in range(_SPINS):
        if test():
            return
    end = time.monotonic() + _timeout
    while not test():
        if time.monotonic() > end:
            _abandoned.append(test)
            raise TimeoutError(
                f"process {comm.rank} of {comm.size} waits for {what.format(*named)} for more than {_timeout:g} s: "
                "others communicate in another order, or are busy. adjoint.interop.mpi.set_timeout sets how long"
            )
        time.sleep(0)


def _own(values: Any, shape: tuple[int, ...], dtype: Any) -> Buffer:
    """Values in memory that nobody else writes, as the other processes expect them."""
    buffer: Buffer = np.empty(shape, dtype)
    buffer[...] = values
    return buffer


def _as_sent(values: Any, shape: tuple[int, ...], dtype: Any) -> Buffer:
    """The same for values that nobody writes meanwhile."""
    if type(values) is np.ndarray and values.dtype is dtype and values.shape == shape and values.flags.c_contiguous:
        return values
    return _own(values, shape, dtype)


@cache
def _library() -> Any:
    return sys.modules["mpi4py.MPI"]


# From one process to another


def post_send(values: Any, comm: Any, shape: tuple[int, ...], dtype: Any, dest: int, tag: int) -> float:
    """Starts to send values; gives the ticket."""
    buffer = _own(values, shape, dtype)
    return _ticket(comm.Isend(buffer, dest, tag), buffer)


def post_receive(comm: Any, shape: tuple[int, ...], dtype: Any, source: int, tag: int) -> float:
    """Starts to receive values; gives the ticket."""
    if source == _library().ANY_SOURCE:
        raise ValueError(
            "a receive from any source has no derivative: which message it gets is decided when it comes. "
            "Name the process: source="
        )
    buffer = np.empty(shape, dtype)
    return _ticket(comm.Irecv(buffer, source, tag), buffer)


def _ticket(request: Any, buffer: Buffer) -> float:
    ticket = next(_tickets)
    _under_way[ticket] = request, buffer
    return float(ticket)


def complete_send(ticket: float, comm: Any, shape: tuple[int, ...], dtype: Any, dest: int, tag: int) -> float:
    """Waits until a message is sent."""
    request, _ = _taken(ticket)
    _done(request.Test, comm, "process {} to take a message with the tag {}", dest, tag)
    return 0.0


def complete_receive(
    ticket: float, comm: Any, shape: tuple[int, ...], dtype: Any, source: int, tag: int
) -> tuple[Buffer, int]:
    """Waits for a message; gives what it holds, and its tag."""
    request, buffer = _taken(ticket)
    library = _library()
    status = library.Status()
    _done(partial(request.Test, status), comm, "a message of process {} with the tag {}", source, tag)
    if source == library.PROC_NULL:
        return np.zeros(shape, dtype), 0
    size = status.Get_count(library.BYTE)
    if size != buffer.nbytes:
        raise ValueError(
            f"process {comm.rank} of {comm.size} gets {size} bytes of process {source}, and has an array of "
            f"{buffer.nbytes} for them: a derivative needs messages and arrays of one size"
        )
    return buffer, status.Get_tag()


def _taken(ticket: float) -> tuple[Any, Buffer]:
    found = _under_way.pop(int(ticket), None)
    if found is None:
        raise RuntimeError("a message is waited for twice, or was never waited for: each request has one Wait()")
    return found


def is_nobody(process: int) -> bool:
    """Whether a process is ``PROC_NULL``: what is sent there is lost, and nothing comes from there."""
    return bool(process == _library().PROC_NULL)


def chosen_source(source: int | None) -> int:
    """The process that a receive names."""
    return int(_library().ANY_SOURCE if source is None else source)


def chosen_tag(tag: int | None) -> int:
    """The tag that a receive names."""
    return int(_library().ANY_TAG if tag is None else tag)


# Among all processes


def total(values: Any, comm: Any, shape: tuple[int, ...], dtype: Any) -> Buffer:
    """The sum of the values of all processes, for all."""
    sent, buffer = _as_sent(values, shape, dtype), np.empty(shape, dtype)
    _done(comm.Iallreduce(sent, buffer).Test, comm, "Allreduce")
    return buffer


def extreme(values: Any, comm: Any, shape: tuple[int, ...], dtype: Any, op: Any) -> Buffer:
    """The largest or the smallest of the values of all processes, for all."""
    sent, buffer = _as_sent(values, shape, dtype), np.empty(shape, dtype)
    _done(comm.Iallreduce(sent, buffer, op).Test, comm, "Allreduce")
    return buffer


def broadcast(values: Any, comm: Any, shape: tuple[int, ...], dtype: Any, root: int) -> Buffer:
    """The values of the process ``root``, for all."""
    buffer = _own(values, shape, dtype)
    _done(comm.Ibcast(buffer, root).Test, comm, "Bcast of process {}", root)
    return buffer


def reduced(values: Any, comm: Any, shape: tuple[int, ...], dtype: Any, root: int) -> Buffer:
    """The sum of the values of all processes, for the process ``root``; zeros for others."""
    sent, buffer = _as_sent(values, shape, dtype), np.zeros(shape, dtype)
    _done(comm.Ireduce(sent, buffer if comm.rank == root else None, root=root).Test, comm, "Reduce to process {}", root)
    return buffer


def gathered(values: Any, comm: Any, part: tuple[int, ...], whole: tuple[int, ...], dtype: Any, root: int) -> Buffer:
    """The values of all processes one after the other, for the process ``root``; zeros for others."""
    sent, buffer = _as_sent(values, part, dtype), np.zeros(whole, dtype)
    _done(comm.Igather(sent, buffer if comm.rank == root else None, root).Test, comm, "Gather to process {}", root)
    return buffer


def scattered(values: Any, comm: Any, whole: tuple[int, ...], part: tuple[int, ...], dtype: Any, root: int) -> Buffer:
    """This process's part of the values of the process ``root``."""
    sent = _as_sent(values, whole, dtype) if comm.rank == root else None
    buffer = np.empty(part, dtype)
    _done(comm.Iscatter(sent, buffer, root).Test, comm, "Scatter of process {}", root)
    return buffer


def gathered_for_all(values: Any, comm: Any, part: tuple[int, ...], whole: tuple[int, ...], dtype: Any) -> Buffer:
    """The values of all processes one after the other, for all."""
    sent, buffer = _as_sent(values, part, dtype), np.empty(whole, dtype)
    _done(comm.Iallgather(sent, buffer).Test, comm, "Allgather")
    return buffer


def total_in_parts(values: Any, comm: Any, whole: tuple[int, ...], part: tuple[int, ...], dtype: Any) -> Buffer:
    """This process's part of the sum of the values of all processes."""
    sent, buffer = _as_sent(values, whole, dtype), np.empty(part, dtype)
    _done(comm.Ireduce_scatter_block(sent, buffer).Test, comm, "Reduce_scatter")
    return buffer


# What has no derivative


def total_of_object(value: Any, comm: Any, op: Any) -> Any:
    """What the values of all processes make together, for all: of whole numbers, and of what is no number."""
    return comm.allreduce(value) if op is None else comm.allreduce(value, op)


def broadcast_object(value: Any, comm: Any, root: int) -> Any:
    """The value of the process ``root``, for all."""
    return comm.bcast(value, root)


def barrier(comm: Any) -> None:
    """Waits until all processes are here."""
    _done(comm.Ibarrier().Test, comm, "Barrier")


# What calls say


def rank_of(comm: Any) -> int:
    """Which of the processes this is."""
    return int(comm.rank)


def size_of(comm: Any) -> int:
    """How many processes there are."""
    return int(comm.size)


def is_sum(op: Any) -> bool:
    """Whether a reduction adds; raises where it has no derivative."""
    library = _library()
    if op == library.SUM:
        return True
    if op in (library.MAX, library.MIN):
        return False
    raise NotImplementedError("of the reductions SUM, MAX and MIN have derivatives here")


def check_sum(op: Any) -> None:
    """Raises where a reduction to one process does not add."""
    if op != _library().SUM:
        raise NotImplementedError("of the reductions to one process SUM has a derivative here; see Allreduce")


def check_in_place(sent: Any) -> None:
    """Raises where something is sent that is no array, and does not stand for the array of the results."""
    if sent is not _library().IN_PLACE:
        raise TypeError(f"a derivative sends arrays, not what is of class {type(sent).__name__!r}")
