"""What methods of mpi4py's communicators mean: maps between processes, and stores into the arrays they are given.

Methods with a capital letter, on arrays of NumPy; ``allreduce`` and ``bcast`` on floats and arrays.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any

import numpy as np
from mpi4py import MPI

from adjoint.rules.declare import attribute, closed, definition, method
from adjoint.runtime.messages import (
    barrier,
    broadcast,
    broadcast_object,
    check_in_place,
    check_sum,
    chosen_source,
    chosen_tag,
    complete_receive,
    complete_send,
    extreme,
    gathered,
    gathered_for_all,
    is_nobody,
    is_sum,
    post_receive,
    post_send,
    rank_of,
    reduced,
    scattered,
    size_of,
    total,
    total_of_object,
)


def _array(buffer):
    """The array of a buffer: itself, or the first of ``[array, datatype]``."""
    if isinstance(buffer, np.ndarray):
        return buffer
    if isinstance(buffer, (list, tuple)) and len(buffer) == 2 and isinstance(buffer[0], np.ndarray):
        return buffer[0]
    if buffer is None:
        raise TypeError("there is no array for what this process gets, or sends")
    raise NotImplementedError("a buffer that is no array")


# From one process to another


def _send(self, buf, dest, tag=0):
    values = _array(buf)
    shape, dtype = np.shape(values), values.dtype
    complete_send(post_send(values, self, shape, dtype, dest, tag), self, shape, dtype, dest, tag)


def _recv(self, buf, source=None, tag=None):
    values = _array(buf)
    shape, dtype = np.shape(values), values.dtype
    source, tag = chosen_source(source), chosen_tag(tag)
    ticket = post_receive(self, shape, dtype, source, tag)
    received, _ = complete_receive(ticket, self, shape, dtype, source, tag)
    if not is_nobody(source):
        values[...] = received


def _sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=None, recvtag=None):
    sent = Request(self, _array(sendbuf), dest, sendtag, True)
    received = Request(self, _array(recvbuf), chosen_source(source), chosen_tag(recvtag), False)
    received.Wait()
    sent.Wait()


class Request:
    """Stands for the request of ``Isend`` and ``Irecv``."""

    __adjoint_stands_for__ = MPI.Request

    def __init__(self, comm, values, partner, tag, sends):
        self.comm = comm
        self.values = values
        self.partner = partner
        self.tag = tag
        self.sends = sends
        self.shape = np.shape(values)
        shape, dtype = self.shape, values.dtype
        if sends:
            self.ticket = post_send(values, comm, shape, dtype, partner, tag)
        else:
            self.ticket = post_receive(comm, shape, dtype, partner, tag)

    def Wait(self):
        values = self.values
        shape, dtype = self.shape, values.dtype
        if self.sends:
            complete_send(self.ticket, self.comm, shape, dtype, self.partner, self.tag)
        else:
            received, _ = complete_receive(self.ticket, self.comm, shape, dtype, self.partner, self.tag)
            if not is_nobody(self.partner):
                values[...] = received
        return True

    wait = Wait


def _isend(self, buf, dest, tag=0):
    return Request(self, _array(buf), dest, tag, True)


def _irecv(self, buf, source=None, tag=None):
    return Request(self, _array(buf), chosen_source(source), chosen_tag(tag), False)


def _waitall(cls, requests):
    for request in requests:
        request.Wait()
    return True


# Among all processes


def _bcast(self, buf, root=0):
    values = _array(buf)
    values[...] = broadcast(values, self, np.shape(values), values.dtype, root)


def _sent(sendbuf, recvbuf):
    """What is sent: the array of the results where ``MPI.IN_PLACE`` stands for it."""
    if isinstance(sendbuf, MPI.InPlaceType):
        check_in_place(sendbuf)
        return recvbuf
    return _array(sendbuf)


def _allreduce(self, sendbuf, recvbuf, op=None):
    results = _array(recvbuf)
    results[...] = _reduced_for_all(self, _sent(sendbuf, results), op)


def _reduced_for_all(comm, values, op):
    shape, dtype = np.shape(values), values.dtype
    if op is None or is_sum(op):
        return total(values, comm, shape, dtype)
    return extreme(values, comm, shape, dtype, op)


def _reduce(self, sendbuf, recvbuf, op=None, root=0):
    if op is not None:
        check_sum(op)
    values = _array(sendbuf)
    results = reduced(values, self, np.shape(values), values.dtype, root)
    if rank_of(self) == root:
        _array(recvbuf)[...] = results


def _allgather(self, sendbuf, recvbuf):
    values, results = _array(sendbuf), _array(recvbuf)
    results[...] = gathered_for_all(values, self, np.shape(values), np.shape(results), results.dtype)


def _gather(self, sendbuf, recvbuf, root=0):
    values = _array(sendbuf)
    if recvbuf is None:
        gathered(values, self, np.shape(values), (0,), values.dtype, root)
        return
    results = _array(recvbuf)
    found = gathered(values, self, np.shape(values), np.shape(results), results.dtype, root)
    if rank_of(self) == root:
        results[...] = found


def _scatter(self, sendbuf, recvbuf, root=0):
    results = _array(recvbuf)
    whole = np.zeros(0, results.dtype) if sendbuf is None else _array(sendbuf)
    results[...] = scattered(whole, self, np.shape(whole), np.shape(results), results.dtype, root)


def _allreduce_object(self, sendobj, op=None):
    if isinstance(sendobj, (float, np.floating)):
        return _reduced_for_all(self, np.array([sendobj]), op)[0]
    if isinstance(sendobj, np.ndarray):
        return _reduced_for_all(self, sendobj, op)
    if isinstance(sendobj, (int, str)):
        return total_of_object(sendobj, self, op)
    raise NotImplementedError("an object that is no number and no array")


def _bcast_object(self, obj, root=0):
    if isinstance(obj, (float, np.floating)):
        values = np.array([obj])
        return broadcast(values, self, np.shape(values), values.dtype, root)[0]
    if isinstance(obj, np.ndarray):
        return broadcast(obj, self, np.shape(obj), obj.dtype, root)
    if isinstance(obj, (int, str)):
        return broadcast_object(obj, self, root)
    raise NotImplementedError("an object that is no number and no array: hand over one of its kind on each process")


def _barrier(self):
    barrier(self)


_METHODS: dict[str, Any] = {
    "Send": _send,
    "Recv": _recv,
    "Sendrecv": _sendrecv,
    "Isend": _isend,
    "Irecv": _irecv,
    "Bcast": _bcast,
    "Allreduce": _allreduce,
    "Reduce": _reduce,
    "Allgather": _allgather,
    "Gather": _gather,
    "Scatter": _scatter,
    "allreduce": _allreduce_object,
    "bcast": _bcast_object,
    "Barrier": _barrier,
}
for _name, _means in _METHODS.items():
    definition(getattr(MPI.Comm, _name), _means, only=True)
    method(MPI.Comm, _name, getattr(MPI.Comm, _name))
for _name, _fact in {"rank": rank_of, "size": size_of}.items():
    attribute(MPI.Comm, _name, _fact)
    method(MPI.Comm, f"Get_{_name}", _fact)
_HARMLESS = "name group info is_inter is_intra topology dim dims ndim periods coords inedges outedges nedges"
_CALLED = "Get_name Get_attr Get_topology Get_dim Get_topo Get_coords Get_cart_rank Shift Is_inter Is_intra"
closed(MPI.Comm, *_HARMLESS.split(), *_CALLED.split(), "Abort", "py2f", "handle")
for _cls in (MPI.Request, MPI.Win, MPI.File, MPI.Message):
    closed(_cls)
_OF_CLASSES: tuple[tuple[Any, Any], ...] = ((MPI.Request.__dict__["Waitall"].__func__, _waitall),)
for _function, _means in _OF_CLASSES:
    definition(_function, _means, only=True)
