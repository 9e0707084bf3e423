"""Gradients of sums over large data on the workers of Dask: shards stay there, derivatives and tangents travel."""

from __future__ import annotations

import hashlib
import inspect
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from adjoint import tangents
from adjoint.api.derivative import Derivative
from adjoint.api.gradients import value_and_grad as value_and_grad_here
from adjoint.types.classes.annotations import signature

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["DistributedGradient", "value_and_grad"]

_SMALL = 1 << 16
"""Up to so many bytes, arguments travel with each task; above, they are sent to each worker once a call."""
_FAN_IN = 8
_MOST_GROUPS = 8
_ATTEMPTS = 10
_ROWS_TRIED = 4
_LASTS = 1.0
"""For so many seconds, the number of threads counts as known: shards go in groups that were right for it."""

T = TypeVar("T")
Reduction = Literal["sum", "mean"]
Progress = Callable[[int, int], object] | None


def value_and_grad(
    f: Callable[..., Any],
    over: str | int | Sequence[str | int],
    *,
    wrt: int | str | tuple[int | str, ...] = 0,
    reduction: Reduction = "sum",
    shards: int = 16,
    native: bool | str | None = None,
    check: bool = True,
) -> DistributedGradient:
    """The value and the gradient of a function that is a sum over data, computed by the workers of a Dask cluster.

    Parameters
    ----------
    f
        A function that returns a number: the sum, or the mean, of what the rows of the data contribute.
    over
        The parameters that hold the data, by name or index. Their arguments have one length, and are cut along it.
    wrt
        The parameters to differentiate with respect to, by name or index; not those of ``over``.
    reduction
        What ``f`` does with the rows: ``"sum"``, or ``"mean"``.
    shards
        In how many parts the data is cut, of one length or one more. This number decides how roundings fall; the
        number of workers, and their timing, do not. A task is a group of shards, about one for each thread.
    native
        Whether the derivative becomes machine code, on each worker; see :func:`adjoint.grad`.
    check
        Whether the first call tries, on the first rows, that ``f`` is the sum or the mean that it is said to be.

    Returns
    -------
    DistributedGradient
        Takes the arguments of ``f``, and ``client=``; gives ``(value, gradient)`` as :func:`adjoint.value_and_grad`.

    Raises
    ------
    ValueError
        If ``over`` names no parameter of ``f``, or one of ``wrt``; if there is a parameter ``client``.

    Examples
    --------
    >>> import numpy as np, adjoint as ad  # doctest: +SKIP
    >>> from distributed import Client  # doctest: +SKIP
    >>> squares = lambda w, X, y: np.sum((X @ w - y) ** 2)  # doctest: +SKIP
    >>> df = ad.distributed.value_and_grad(squares, over=("X", "y"))  # doctest: +SKIP
    >>> X, y = np.arange(200.0).reshape(100, 2), np.ones(100)  # doctest: +SKIP
    >>> with Client(processes=False, dashboard_address=":0") as client:  # doctest: +SKIP
    ...     value, gradient = df(np.array([0.5, -0.5]), X, y, client=client)
    >>> value, gradient  # doctest: +SKIP
    (np.float64(225.0), array([-29700., -30000.]))
    """
    return DistributedGradient(f, over, wrt, reduction, shards, native, check)


class DistributedGradient:
    """A value and a gradient, of a function that is a sum over shards: see :func:`value_and_grad`."""

    def __init__(
        self,
        f: Callable[..., Any],
        over: str | int | Sequence[str | int],
        wrt: int | str | tuple[int | str, ...],
        reduction: Reduction,
        shards: int,
        native: bool | str | None,
        check: bool,
    ) -> None:
        self.function = f
        self._signature = signature(f)
        self._over = self._names((over,) if isinstance(over, (str, int)) else over)
        both = set(self._over) & set(self._names(wrt if isinstance(wrt, tuple) else (wrt,)))
        if both or not self._over:
            raise ValueError(f"over={over!r} and wrt={wrt!r}: one names the data, the other what the tangents are of")
        if "client" in self._signature.parameters:
            raise ValueError("the parameter 'client' of the function has the name of the client of Dask; rename it")
        if reduction not in ("sum", "mean") or shards < 1:
            raise ValueError("reduction is 'sum' or 'mean', and shards a number from 1 on")
        self._reduction, self._shards, self._is_tried = reduction, shards, not check
        self._derivative = value_and_grad_here(f, wrt, native=native)
        self._held: tuple[Client, dict[Any, Future], Any] | None = None
        self._group = 0
        self._asked: tuple[Client, float, int] | None = None

    def _names(self, places: Iterable[str | int]) -> list[str]:
        names = [
            name for name, p in self._signature.parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        try:
            return [names[names.index(place) if isinstance(place, str) else place] for place in places]
        except (IndexError, ValueError, TypeError):
            raise ValueError(f"{tuple(places)!r}: the function has the parameters {', '.join(names)}") from None

    def __call__(
        self,
        *args: Any,
        client: Client | None = None,
        progress: Progress = None,
        **kwargs: Any,
    ) -> Any:
        """The value and the gradient.

        Parameters
        ----------
        *args, **kwargs
            What the function takes. Shards of the data stay on the workers until a call with other data. Arrays that
            can be written are read at each call, to see whether they are the same; ``X.flags.writeable = False``
            spares that.
        client
            The client of Dask; by default the current one.
        progress
            Is called with the numbers of shards done and of all, whenever some are.

        Returns
        -------
        tuple
            The value, and the gradient in the structure of the argument. The sums over shards have a fixed tree: the
            same bits from run to run, whichever worker computes what, and whichever is ready first.

        Raises
        ------
        TypeError
            If the data is no array, list or tuple; if the client is asynchronous.
        ValueError
            If data has no rows, or different numbers of them; if the function is not the sum or the mean that it is
            said to be; if it writes into an array of the data.
        """
        return self._swept([(args, kwargs)], client, progress)[0]

    def sweep(
        self,
        points: Iterable[Any],
        *args: Any,
        client: Client | None = None,
        progress: Progress = None,
        **kwargs: Any,
    ) -> list[Any]:
        """Values and gradients at several points, all at once: ``[self(point, *args) for point in points]``."""
        return self._swept([((point, *args), kwargs) for point in points], client, progress)

    def _swept(self, calls: list[Any], client: Client | None, progress: Progress) -> list[Any]:
        from distributed import default_client  # lazy
        from distributed.comm import CommClosedError  # lazy

        client = client or default_client()
        if client.asynchronous:
            raise TypeError("the client is asynchronous: make it with asynchronous=False")
        if not calls:
            return []
        bound = [self._signature.bind(*args, **kwargs) for args, kwargs in calls]
        missing = [name for name in self._over if name not in bound[0].arguments]
        if missing:
            raise TypeError(f"the data are missing: {', '.join(missing)}")
        data = [bound[0].arguments[name] for name in self._over]
        bounds = _bounds(self._over, data, self._shards)
        rests = [self._without_data(call) for call in bound]
        if not self._is_tried:
            self._try(rests[0], data, bounds[-1])
        for attempt in range(_ATTEMPTS):
            try:
                return self._run(client, rests, data, bounds, progress)
            except Exception as failure:
                is_lost = isinstance(failure, (CancelledError, CommClosedError))
                if not is_lost or client.status != "running" or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.1 * attempt)  # a worker died with shards: they are scattered anew
        raise AssertionError

    def _without_data(self, call: inspect.BoundArguments) -> bytes:
        arguments = {name: value for name, value in call.arguments.items() if name not in self._over}
        return _pickled(arguments)

    def _try(self, rest: bytes, data: list[Any], length: int) -> None:
        """Whether the first rows give what their halves do: no proof, but a mean, or a penalty beside, is seen."""
        half = min(_ROWS_TRIED, length // 2)
        self._is_tried = True
        if half == 0:
            return
        values = []
        for start, stop in ((0, 2 * half), (0, half), (half, 2 * half)):
            call = _bound(self._signature, rest, self._over, [_as_data(_piece(part[start:stop])) for part in data])
            try:
                values.append(self.function(*call.args, **call.kwargs))
            except Exception:  # the function asks for more rows, or raises on all; then the workers say so
                return
        whole, first, second = map(float, values)
        is_single = any(getattr(x, "dtype", None) in (np.float32, np.float16) for x in (*data, values[0]))
        tolerance = 1e-2 if is_single else 1e-6
        parts = (first + second) * (0.5 if self._reduction == "mean" else 1.0)
        if abs(whole - parts) > tolerance * (abs(first) + abs(second)):
            raise ValueError(
                f"the function is not the {self._reduction} over the rows of {', '.join(self._over)}: of the first "
                f"{2 * half} it gives {whole:.6g}, of their halves {first:.6g} and {second:.6g}. Say what it is by "
                "reduction=, add what does not depend on the data outside of it, or pass check=False"
            )

    def _run(
        self, client: Client, rests: list[bytes], data: list[Any], bounds: list[int], progress: Progress
    ) -> list[Any]:
        from distributed import as_completed  # lazy

        self._group = _group_size(len(bounds) - 1, self._threads(client), self._group)
        groups, derivative = self._scattered(client, data, _in_groups(list(_pairs(bounds)), self._group))
        weights = [(b - a) / bounds[-1] if self._reduction == "mean" else None for a, b in _pairs(bounds)]
        tasks: dict[Future, int] = {}
        totals = []
        for rest in rests:
            is_small = len(rest) <= _SMALL
            there = rest if is_small else client.scatter(rest, broadcast=True, hash=False)
            grouped = _in_groups(weights, self._group)
            parts = client.map(_on_shards, groups, grouped, rest=there, sent=derivative, pure=False)
            tasks |= zip(parts, map(len, grouped), strict=True)
            while len(parts) > (_FAN_IN if is_small else 1):  # few small tangents are added here
                parts = client.map(_summed, _in_groups(parts, _FAN_IN), pure=False)
            totals.append(parts)
        if progress is not None:
            done = 0
            for task in as_completed(tasks):
                done += tasks[task]
                progress(done, sum(tasks.values()))
        return [_summed(parts) for parts in client.gather(totals)]

    def _threads(self, client: Client) -> int:
        """How many threads the workers have; to ask the scheduler takes a message there and back."""
        now = time.monotonic()
        if self._asked is None or self._asked[0] is not client or now - self._asked[1] > _LASTS:
            self._asked = client, now, _threads(client)
        return self._asked[2]

    def _scattered(
        self, client: Client, data: list[Any], groups: list[list[tuple[int, int]]]
    ) -> tuple[list[Future], Future]:
        """The groups of shards and the derivative, where the workers are; what they have already is not sent."""
        held: dict[Any, Future] = {}
        if self._held is not None and self._held[0] is client:
            held = {key: future for key, future in self._held[1].items() if future.status == "finished"}
        marks, kept = [("fixed", id(part)) if _is_fixed(part) else None for part in data], {}
        sent: dict[Any, Any] = {}
        keys: list[Any] = []
        for group in groups:
            shards = [[_piece(part[start:stop]) for part in data] for start, stop in group]
            seen = [mark or _digest(piece) for shard in shards for mark, piece in zip(marks, shard, strict=True)]
            keys.append((*group, *seen))
            if keys[-1] not in held:
                sent[keys[-1]] = shards
        derivative = _pickled(
            (self._derivative, self._over)
        )  # at each call: what the function captured may have changed
        if derivative not in held:
            held[derivative] = client.scatter(derivative, broadcast=True, hash=False)
        if sent:
            held |= zip(sent, client.scatter(list(sent.values()), hash=False), strict=True)
        kept = {key: held[key] for key in (*keys, derivative)}
        self._held = client, kept, data  # data, so that no other array gets the identity of one
        return [kept[key] for key in keys], kept[derivative]


def _bounds(names: list[str], data: list[Any], shards: int) -> list[int]:
    """Where shards begin and end."""
    for name, part in zip(names, data, strict=True):
        is_array = isinstance(part, np.ndarray) and part.ndim > 0
        if not is_array and not isinstance(part, (list, tuple)):
            kind = type(part).__name__
            raise TypeError(f"{name!r} is a value of type {kind!r}: data are arrays, lists or tuples of rows")
    lengths = {name: len(part) for name, part in zip(names, data, strict=True)}
    length = min(lengths.values())
    if length == 0 or len(set(lengths.values())) > 1:
        raise ValueError(f"the numbers of rows differ, or are zero: {lengths}")
    count = min(shards, length)
    return [length * i // count for i in range(count + 1)]


def _pairs(bounds: list[int]) -> Iterable[tuple[int, int]]:
    return pairwise(bounds)


def _in_groups(items: list[T], size: int) -> list[list[T]]:
    return [items[i : i + size] for i in range(0, len(items), size)]


def _threads(client: Client) -> int:
    return max(1, sum(map(int, client.nthreads().values())))


def _group_size(shards: int, threads: int, before: int) -> int:
    """How many shards are one task: as many as leave each thread one. Before, others may have been sent already.

    It is a power of two, so that sums in groups are subtrees of one tree, whatever the groups are.
    """
    if before and threads <= -(-shards // before) <= _MOST_GROUPS * threads:
        return before
    size = 1
    while -(-shards // (2 * size)) >= threads:
        size *= 2
    return size


def _is_fixed(part: Any) -> bool:
    """Whether nobody can write to an array any more."""
    while type(part) is np.ndarray and not part.flags.writeable:
        if part.base is None or isinstance(part.base, bytes):
            return not part.dtype.hasobject
        part = part.base
    return False


def _piece(part: Any) -> Any:
    """What is sent of a shard: an array, or the text of what else there is, so that each task has its own."""
    if type(part) in (np.ndarray, np.memmap) and not part.dtype.hasobject:
        return np.asarray(part)
    return _pickled(part)


def _digest(piece: Any) -> tuple[Any, ...]:
    if isinstance(piece, bytes):
        return (hashlib.sha1(piece, usedforsecurity=False).digest(),)
    content = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
    return (piece.dtype.str, piece.shape, hashlib.sha1(content.data, usedforsecurity=False).digest())


def _pickled(value: Any) -> bytes:
    import cloudpickle  # lazy

    return bytes(cloudpickle.dumps(value))


def _unpickled(text: bytes) -> Any:
    import cloudpickle  # lazy

    return cloudpickle.loads(text)


def _bound(signature: inspect.Signature, rest: bytes, over: list[str], data: Sequence[Any]) -> inspect.BoundArguments:
    given = _unpickled(rest) | dict(zip(over, data, strict=True))
    return inspect.BoundArguments(signature, given)


_receiving = threading.Lock()


@lru_cache(maxsize=64)
def _received(sent: bytes) -> tuple[Derivative, list[str], inspect.Signature]:
    derivative, over = _unpickled(sent)
    return derivative, over, signature(derivative.function)


def _on_shards(shards: list[list[Any]], weights: list[float | None], rest: bytes, sent: bytes) -> Any:
    """What a worker does: the sum of values and gradients of some shards."""
    with _receiving:  # one derivative for all threads, so that it is compiled once
        derivative, over, signature = _received(sent)
    on = partial(_on_shard, rest=rest, derivative=derivative, over=over, signature=signature)
    return _summed(map(on, shards, weights))


def _on_shard(
    shard: list[Any],
    weight: float | None,
    rest: bytes,
    derivative: Derivative,
    over: list[str],
    signature: inspect.Signature,
) -> Any:
    call = _bound(signature, rest, over, [_as_data(piece) for piece in shard])
    value, gradient = derivative(*call.args, **call.kwargs)
    return (value, gradient) if weight is None else (value * weight, tangents.scale(gradient, weight))


def _as_data(piece: Any) -> Any:
    """What stays on the worker must not be written by a call."""
    if isinstance(piece, bytes):
        return _unpickled(piece)
    view = piece.view()
    view.flags.writeable = False
    return view


def _summed(parts: Iterable[Any]) -> Any:
    """The sum of values and tangents, by halves: few of them are there at once."""
    sums: list[tuple[int, Any]] = []
    for part in parts:
        count = 1
        while sums and sums[-1][0] == count:
            count, part = 2 * count, tangents.add(sums.pop()[1], part)
        sums.append((count, part))
    total = sums.pop()[1]
    while sums:
        total = tangents.add(sums.pop()[1], total)
    return total
