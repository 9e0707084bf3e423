"""The maps between processes that messages are: each is linear, and each one's transpose is another one of them.

What one process sends, another one receives; so all of them count as active whatever becomes of their values here
(``exchanges``), and derivatives call their transposes in the reverse order on each process. A message under way is a
number, its ticket: the tangent of a ticket is the ticket of the tangent's message, its cotangent that of the message
that brings the cotangent back.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.rules.declare import general, no_derivative
from adjoint.rules.typing import type_of_known
from adjoint.runtime import messages
from adjoint.runtime.messages import (
    broadcast,
    complete_receive,
    complete_send,
    extreme,
    gathered,
    gathered_for_all,
    post_receive,
    post_send,
    reduced,
    scattered,
    total,
    total_in_parts,
)


def _array(shape: Any, dtype: Any) -> ir.Type:
    """The type of an array, as far as its shape and dtype are known."""
    extents: Any = None
    match shape:
        case ir.Tuple(items=extents) | ir.Const(value=tuple() as extents):
            pass
    dims: tuple[ir.Dim, ...] | None = None if extents is None else tuple(["any" for _ in extents])
    return ir.Array(dtype.value if isinstance(dtype, ir.Const) and isinstance(dtype.value, np.dtype) else None, dims)


def _is(*types: ir.Type) -> Callable[[Sequence[Any]], tuple[ir.Type, ...]]:
    return lambda arguments: types


def _exchanges(fn: Any, jvp: Any, vjp: Any, *further: ir.Type, shape: int | None = None, agreed: bool = False) -> None:
    """A map that gives an array, whose shape is an argument and the dtype the next one; and further results."""

    def typed(arguments: Sequence[Any]) -> tuple[ir.Type, ...]:
        return further if shape is None else (_array(arguments[shape], arguments[shape + 1]), *further)

    count = len(further) + (shape is not None)
    general(fn, jvp, vjp, results=count, pure=False, exchanges=True, agreed=agreed, typed=typed, shaped_by=shape)


_exchanges(
    post_send,
    lambda dots, y, values, comm, shape, dtype, dest, tag: post_send(dots[0], comm, shape, dtype, dest, tag),
    lambda ct, y, values, comm, shape, dtype, dest, tag: (
        complete_receive(ct, comm, shape, dtype, dest, tag)[0],
        *(None,) * 5,
    ),
    ir.FLOAT,
)
_exchanges(
    complete_send,
    lambda dots, y, ticket, comm, shape, dtype, dest, tag: complete_send(dots[0], comm, shape, dtype, dest, tag),
    lambda ct, y, ticket, comm, shape, dtype, dest, tag: (
        post_receive(comm, shape, dtype, dest, tag),
        *(None,) * 5,
    ),
    ir.FLOAT,
)


def _unposted_receive(ct, y, comm, shape, dtype, source, tag):
    complete_send(ct, comm, shape, dtype, source, tag)
    return (None,) * 5


_exchanges(
    post_receive,
    lambda dots, y, comm, shape, dtype, source, tag: post_receive(comm, shape, dtype, source, tag),
    _unposted_receive,
    ir.FLOAT,
)
_exchanges(
    complete_receive,
    lambda dots, y, ticket, comm, shape, dtype, source, tag: (
        complete_receive(dots[0], comm, shape, dtype, source, y[1])[0],
        None,
    ),
    lambda ct, y, ticket, comm, shape, dtype, source, tag: (
        post_send(ct[0], comm, shape, dtype, source, y[1]),
        *(None,) * 5,
    ),
    ir.INT,
    shape=2,
)
_exchanges(
    total,
    lambda dots, y, values, comm, shape, dtype: total(dots[0], comm, shape, dtype),
    lambda ct, y, values, comm, shape, dtype: (total(ct, comm, shape, dtype), *(None,) * 3),
    shape=2,
    agreed=True,
)


def _share(y, values, comm, shape, dtype):
    """Which part of the cotangent of a largest value goes to each that is equal to it, here."""
    winners = (values == y) * 1.0
    return winners / total(winners, comm, shape, dtype)


_exchanges(
    extreme,
    lambda dots, y, values, comm, shape, dtype, op: total(
        _share(y, values, comm, shape, dtype) * dots[0], comm, shape, dtype
    ),
    lambda ct, y, values, comm, shape, dtype, op: (
        _share(y, values, comm, shape, dtype) * total(ct, comm, shape, dtype),
        *(None,) * 4,
    ),
    shape=2,
    agreed=True,
)
_exchanges(
    broadcast,
    lambda dots, y, values, comm, shape, dtype, root: broadcast(dots[0], comm, shape, dtype, root),
    lambda ct, y, values, comm, shape, dtype, root: (
        reduced(ct, comm, shape, dtype, root),
        *(None,) * 4,
    ),
    shape=2,
    agreed=True,
)
_exchanges(
    reduced,
    lambda dots, y, values, comm, shape, dtype, root: reduced(dots[0], comm, shape, dtype, root),
    lambda ct, y, values, comm, shape, dtype, root: (
        broadcast(ct, comm, shape, dtype, root),
        *(None,) * 4,
    ),
    shape=2,
)
_exchanges(
    gathered,
    lambda dots, y, values, comm, part, whole, dtype, root: gathered(dots[0], comm, part, whole, dtype, root),
    lambda ct, y, values, comm, part, whole, dtype, root: (
        scattered(ct, comm, whole, part, dtype, root),
        *(None,) * 5,
    ),
    shape=3,
)
_exchanges(
    scattered,
    lambda dots, y, values, comm, whole, part, dtype, root: scattered(dots[0], comm, whole, part, dtype, root),
    lambda ct, y, values, comm, whole, part, dtype, root: (
        gathered(ct, comm, part, whole, dtype, root),
        *(None,) * 5,
    ),
    shape=3,
)
_exchanges(
    gathered_for_all,
    lambda dots, y, values, comm, part, whole, dtype: gathered_for_all(dots[0], comm, part, whole, dtype),
    lambda ct, y, values, comm, part, whole, dtype: (
        total_in_parts(ct, comm, whole, part, dtype),
        *(None,) * 4,
    ),
    shape=3,
    agreed=True,
)
_exchanges(
    total_in_parts,
    lambda dots, y, values, comm, whole, part, dtype: total_in_parts(dots[0], comm, whole, part, dtype),
    lambda ct, y, values, comm, whole, part, dtype: (
        gathered_for_all(ct, comm, part, whole, dtype),
        *(None,) * 4,
    ),
    shape=3,
)

no_derivative(messages.rank_of, messages.size_of, messages.chosen_source, messages.chosen_tag, typed=_is(ir.INT))
_WITHOUT = {"pure": False, "exchanges": True, "agreed": True}
no_derivative(messages.broadcast_object, typed=lambda arguments: (type_of_known(arguments[0]),), **_WITHOUT)
no_derivative(
    messages.total_of_object,
    typed=lambda arguments: (ir.INT if type_of_known(arguments[0]) == ir.INT else ir.Opaque(),),
    **_WITHOUT,
)
no_derivative(messages.barrier, typed=_is(ir.Opaque(type(None))), **_WITHOUT)
no_derivative(messages.is_nobody, messages.is_sum, typed=_is(ir.BOOL))
