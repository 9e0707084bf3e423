"""Outermost loops of compiled code in chunks that run side by side.

What is between such loops is compiled as functions of its own, and Python hands on what they need. Each chunk but the
first adds to zeros of its own; these are added up in the order of the chunks, so that no result depends on timing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.reachable import memory_of_params
from adjoint.codegen.python import emit
from adjoint.codegen.texts import Emitted, load
from adjoint.diagnostics import Diagnostic, diagnostic
from adjoint.diagnostics.spans import Span
from adjoint.ir.walk import statements_in
from adjoint.native.compile.not_native import NotNative, faults_as_reasons
from adjoint.native.costs import FEWEST_IN_THREADS
from adjoint.native.llvm.signatures import kinds_of
from adjoint.native.llvm.values import Unsupported
from adjoint.native.llvm.writing.declared import kind_of_type
from adjoint.native.loops.vectorize.chunks_for_threads import Chunked, Plain, first_loop, in_pieces
from adjoint.passes import Context
from adjoint.pipeline import THREADS, run
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.native.compile.core import Core
    from adjoint.native.llvm.values import Kind

Compile = Callable[[ir.Function, bool, frozenset[ir.Storage] | None], "Core"]
"""Makes compiled code of a function, which may run side by side with itself, given the memory that others see."""


def in_threads(function: ir.Function, target: Target, compile: Compile) -> InThreads | Diagnostic | None:
    """A function whose outermost loops run in chunks; a warning if none of them can, None if it cannot be compiled."""
    try:
        with faults_as_reasons():
            looped = run(THREADS, function, Context(target))
    except NotNative:
        return None
    pieces = in_pieces(looped)
    if pieces is None:
        loop = first_loop(looped)
        label = "iterations share more than what they add to" if loop is not None else ""
        span = None if loop is None else loop.span or next(filter(None, map(_span, statements_in(loop.body))), None)
        return diagnostic("AD0504", span, label, name=function.name.removesuffix("_core"))
    return InThreads(function, looped, pieces, target.threads, compile)


def _span(statement: ir.Statement) -> Span | None:
    return getattr(statement, "span", None)


class InThreads:
    """A function in pieces that are compiled one by one.

    Parameters
    ----------
    function
        The function.
    looped
        The same, of which all that computes with arrays is loops.
    pieces
        The pieces of that.
    threads
        In how many chunks its loops run.
    compile
        Compiles a piece.
    """

    def __init__(
        self,
        function: ir.Function,
        looped: ir.Function,
        pieces: Sequence[Plain | Chunked],
        threads: int,
        compile: Compile,
    ) -> None:
        self.__name__ = self.__qualname__ = function.name
        handed = memory_of_params(looped)
        self._params = looped.params
        self._pieces = [(piece, compile(piece.function, isinstance(piece, Chunked), handed)) for piece in pieces]
        calls = [_call(piece, core, threads) for piece, core in self._pieces]
        body = ir.Block(tuple(calls), looped.body.terminator)
        self._in_pieces = load(emit(ir.Function(looped.name, looped.params, body, looped.doc)))
        self._whole = compile(function, False, None)
        self._lock = threading.Lock()
        self._known: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self._latest: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        kinds = kinds_of(args)
        run = self._known.get(kinds)
        if run is None:
            with self._lock:
                run = self._known[kinds] = self._in_pieces if self._is_prepared(kinds) else self._whole
        self._latest = run
        return run(*args)

    def _is_prepared(self, kinds: Sequence[Kind]) -> bool:
        """Whether all pieces have machine code, which is made before anything runs: writes cannot be taken back."""
        known: dict[ir.Atom, Kind | None] = dict(zip(self._params, kinds, strict=True))
        for piece, core in self._pieces:
            try:
                given = tuple(known.get(param) or kind_of_type(param.type) for param in piece.function.params)
                results = core.prepare(given)
            except (Unsupported, NotNative):
                return False
            if None in results:
                return False
            known.update(zip(piece.handed, results, strict=True))
        return True

    @property
    def emitted(self) -> Emitted:
        """The texts that are compiled, one after the other."""
        first, *others = [core.emitted for _, core in self._pieces]
        text = "\n".join(part.text for part in (first, *others))
        return Emitted(text, first.namespace, first.name, first.lines)

    @property
    def is_compiled(self) -> bool:
        """Whether the last call ran as machine code."""
        return self._latest is not None and (self._latest is not self._whole or self._whole.is_compiled)


def _call(piece: Plain | Chunked, core: Core, threads: int) -> ir.Call:
    """What runs a piece."""
    if isinstance(piece, Plain):
        return ir.Call(piece.handed, core, piece.function.params)
    over = cast(ir.Range, piece.loop.over)
    args = (over.start, over.stop, over.step, *piece.loop.inits, *piece.captured)
    return ir.Call(piece.handed, Chunks(piece, core, threads), args, (), piece.loop.span)


class Chunks:
    """A loop that runs in chunks.

    Parameters
    ----------
    piece
        The loop.
    core
        Its compiled form.
    threads
        How many chunks there are, at most.
    """

    def __init__(self, piece: Chunked, core: Core, threads: int) -> None:
        self.__name__ = self.__qualname__ = piece.function.name
        self._core = core
        self._threads = threads
        self._sums = piece.sums
        kinds = [param.type.kind for param in piece.loop.params if isinstance(param.type, ir.Scalar)]
        self._zeros = tuple({"float": 0.0, "int": 0, "bool": False, "complex": 0j}[kind] for kind in kinds)
        first = len(piece.sums)
        self._added = tuple(first + place for place in piece.added)
        self._fewest = 2 if piece.is_long else FEWEST_IN_THREADS
        self._is_blocked = piece.is_blocked

    def __call__(self, start: int, stop: int, step: int, *given: Any) -> Any:
        bounds = self._bounds(start, stop, step)
        if len(bounds) < 2:
            return self._core(start, stop, *given)
        calls = [(*part, *self._private(given, number)) for number, part in enumerate(bounds)]
        results = side_by_side(self._core, calls)
        for place in self._added:
            for call in calls[1:]:
                given[place][...] += call[2 + place]
        return self._total(results)

    def _bounds(self, start: int, stop: int, step: int) -> list[tuple[int, int]]:
        """Where the chunks start and end; one chunk where more are not worth while, or indices count from the end."""
        trips = len(range(start, stop, step))
        work = stop - start if self._is_blocked else trips
        count = min(self._threads, trips)
        if work < self._fewest or start < 0:
            return [(start, stop)]
        ends = [start + step * (trips * number // count) for number in range(count)]
        return list(zip(ends, [*ends[1:], stop], strict=True))

    def _private(self, given: Sequence[Any], number: int) -> Sequence[Any]:
        """What a chunk is given in place of what others add to as well."""
        if number == 0:
            return given
        own = list(given)
        for place, zero in enumerate(self._zeros):
            if self._sums[place]:
                own[place] = zero
        for place in self._added:
            own[place] = np.zeros_like(given[place])
        return own

    def _total(self, results: Sequence[Any]) -> Any:
        if not self._sums:
            return None
        if len(self._sums) == 1:
            results = [(result,) for result in results]
        total = list(results[0])
        for result in results[1:]:
            total = [one + other if adds else one for one, other, adds in zip(total, result, self._sums, strict=True)]
        return total[0] if len(total) == 1 else tuple(total)


def side_by_side(function: Callable[..., Any], calls: Sequence[Sequence[Any]]) -> list[Any]:
    """The results of calls that run at once; the exception of the first call that raises one, when all have ended."""
    results: list[Any] = [None] * len(calls)
    problems: dict[int, BaseException] = {}

    def run(number: int) -> None:
        try:
            results[number] = function(*calls[number])
        except BaseException as problem:
            problems[number] = problem

    others = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(1, len(calls))]
    for thread in others:
        thread.start()
    run(0)
    for thread in others:
        thread.join()
    if problems:
        raise problems[min(problems)]
    return results
