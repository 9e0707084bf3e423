"""What a derivative keeps for its reverse sweep, loop by loop, and what it computes again."""

from __future__ import annotations

import linecache
import operator
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.api.derivative import Derivative, no_derivative
from adjoint.api.sweeps.many_directions import copied
from adjoint.api.tools.checkpoint_costs import Forecast, forecasts, has_checkpoints
from adjoint.api.tools.inspection import known_arguments
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.diagnostics import Span, error
from adjoint.diagnostics.entrances import entrance
from adjoint.diagnostics.spans import shown_path
from adjoint.differentiation.finish import finish
from adjoint.differentiation.reverse.residuals.notes import Notes
from adjoint.dispatch.drawn_numbers import keep_generators
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.entry import lower_operator
from adjoint.frontend.entry.restarts import Entry
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.ir.walk import blocks_of, statements_in
from adjoint.records import dataclass
from adjoint.runtime import display
from adjoint.runtime.array_functions import arrays
from adjoint.runtime.outside import undone

NUMBER = 32
"""Bytes of a Python number with the reference to it."""
REFERENCE = 8
UNNAMED = "t"
"""What the compiler calls what has no name."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that every iteration of a loop keeps.

    Attributes
    ----------
    name
        The variable of the program, or the expression where the value has no name.
    what
        What is kept in each iteration: a number, an array, its shape alone, a reference.
    place
        Where it is computed.
    reason
        Why it is kept rather than computed again.
    preallocated
        Whether the memory is made before the loop, because the number of iterations is known there.
    bytes
        What it took for the arguments that were given; None without arguments.
    """

    name: str
    what: str
    place: Span | None
    reason: str
    preallocated: bool
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class LoopReport:
    """What one loop of the program keeps, and what its reverse computes again: names and places."""

    place: Span | None
    kept: tuple[Kept, ...]
    recomputed: tuple[tuple[str, Span | None], ...]


@dataclass(frozen=True, slots=True)
class TapeReport:
    """What the reverse sweep of a derivative needs of its loops."""

    derivative: str
    loops: tuple[LoopReport, ...]
    checkpoints: tuple[Forecast, ...] = ()
    """What loops over ``ad.checkpointed`` will keep and run again."""

    @property
    def bytes(self) -> int | None:
        """All that was kept for the arguments that were given."""
        sizes = [kept.bytes for loop in self.loops for kept in loop.kept]
        states = sum(forecast.bytes for forecast in self.checkpoints)
        return None if None in sizes else states + sum(size for size in sizes if size is not None)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def __repr__(self) -> str:
        count = sum(len(loop.kept) for loop in self.loops)
        return f"<tape report of {self.derivative}: {count} kept in {len(self.loops)} loops>"


@entrance
def tape_report(derivative: Any, *args: Any, memory: int | str | None = None, **kwargs: Any) -> TapeReport:
    """Prints what a derivative keeps for its reverse sweep.

    For each loop: what is kept, how much in each iteration, and why; what is computed again instead. With arguments
    also the bytes that were kept for them; the derivative is run for that, on copies. Where there are loops over
    :func:`adjoint.checkpointed`, it is not run: the report says beforehand how many states they will keep, and how many
    iterations will run again.

    Parameters
    ----------
    derivative
        What :func:`adjoint.grad` or :func:`adjoint.value_and_grad` returned.
    *args, **kwargs
        Arguments; not needed where annotations tell their types.
    memory
        How checkpointed loops fare with so much memory each, in bytes or as a text such as ``"100 MB"``; else with what
        the program says.

    Returns
    -------
    TapeReport
        The same as a value.

    Raises
    ------
    DifferentiationError
        AD0105 for anything that is not such a derivative; what differentiating the function raises.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x: float) -> float:
    ...     y = x
    ...     for _ in range(3):
    ...         y = y * y
    ...     return y
    >>> report = ad.tape_report(ad.grad(f))  # doctest: +ELLIPSIS
    grad(f)
      ...: for _ in range(3):
        keeps  y  a number in each iteration, in a list of known length; each iteration changes it
    >>> report.loops[0].kept[0].name
    'y'
    """
    if not isinstance(derivative, Derivative) or derivative.kind not in ("grad", "value_and_grad"):
        raise no_derivative("tape_report", derivative)
    report = tape_of(derivative, args, kwargs, memory)
    sys.stdout.write(f"{report}\n")
    return report


def tape_of(
    derivative: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any], memory: int | str | None = None
) -> TapeReport:
    """What :func:`tape_report` prints."""
    given = known_arguments(derivative, args, kwargs)
    entry = lower_operator(derivative.kind, derivative.function, derivative.options, given, kwargs)
    if entry.library is not None:
        label = f"tape_report takes arrays of NumPy, and these are of {entry.library}"
        raise error("AD0603", None, label, name="tape_report")
    notes = Notes()
    function = finish(entry.function, notes)
    tapes = list(_tapes(function.body, frozenset(_holding_shapes(function))))
    sizes = None
    checkpoints: tuple[Forecast, ...] = ()
    if (args or kwargs) and has_checkpoints(function):
        with undone():
            checkpoints = forecasts(function, _arguments(derivative, entry, given, kwargs), memory)
    elif args or kwargs:
        sizes = _measured(derivative, entry, function, tapes, given, kwargs)
    return TapeReport(repr(derivative), tuple(_loops(function, tapes, notes, sizes)), checkpoints)


# Finding the tapes in the finished function


@dataclass(eq=False, slots=True)
class _Tape:
    kept: ir.Var
    made: ir.Call
    filler: ir.Statement
    """The statement beside the one that makes the list, in which it is filled."""
    loop: ir.Loop | None
    """The innermost loop around the place where it is filled."""
    holds_shapes: bool
    """Whether what it holds has a shape and no elements."""


def _tapes(block: ir.Block, shapes: frozenset[ir.Atom]) -> Iterator[_Tape]:
    """The lists that loops fill; ``shapes``: those that hold arrays without elements."""
    for place, statement in enumerate(block.statements):
        kept = _made_by(statement)
        if kept is not None and isinstance(statement, ir.Call):
            for later in block.statements[place + 1 :]:
                found = _filling(later, kept, ())
                if found is not None:
                    yield _Tape(kept, statement, later, found[-1] if found else None, kept in shapes)
                    break
        for nested in blocks_of(statement):
            yield from _tapes(nested, shapes)
    for nested in blocks_of(block.terminator):
        yield from _tapes(nested, shapes)


def _holding_shapes(function: ir.Function) -> Iterator[ir.Atom]:
    calls = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]
    shapes = {call.targets[0] for call in calls if call.callee is arrays.shape_only}
    return (call.args[0] for call in calls if call.callee is list.append and call.args[1] in shapes)


def _made_by(statement: ir.Statement) -> ir.Var | None:
    match statement:
        case ir.Call(targets=(ir.Var(hint=hint) as kept,), callee=callee) if hint.endswith("_kept"):
            return kept if callee in (operator.mul, display.make_list) else None
        case _:
            return None


def _filling(statement: ir.Statement, kept: ir.Var, around: tuple[ir.Loop, ...]) -> tuple[ir.Loop, ...] | None:
    """The loops inside which a statement fills a list; None where it does not."""
    match statement:
        case ir.Store(base=base) if base is kept:
            return around
        case ir.Call(callee=list.append, args=(base, _)) if base is kept:
            return around
        case _:
            inner = (*around, statement) if isinstance(statement, ir.Loop) else around
            found = (_filling(nested, kept, inner) for nested in _directly_in(statement))
            return next((loops for loops in found if loops is not None), None)


def _directly_in(node: ir.Statement | ir.Terminator) -> Iterator[ir.Statement]:
    """The statements in the blocks of a statement, those behind its branches included."""
    for block in blocks_of(node):
        yield from block.statements
        yield from _directly_in(block.terminator)


def _loops(
    function: ir.Function, tapes: list[_Tape], notes: Notes, sizes: dict[ir.Var, int] | None
) -> Iterator[LoopReport]:
    places = dict.fromkeys(
        statement.span
        for statement in statements_in(function.body)
        if isinstance(statement, ir.Loop) and statement.span
    )
    present = {(target.hint, s.span) for s in statements_in(function.body) for target in getattr(s, "targets", ())}
    again = [key for key in notes.recomputed if key in present]
    for place in sorted(places, key=lambda span: (span.file, span.line, span.column)):
        kept = [_described(tape, notes, sizes) for tape in tapes if tape.loop is not None and tape.loop.span == place]
        inside = [(_called(key, notes), key[1]) for key in again if _innermost(key[1], list(places)) == place]
        yield LoopReport(place, tuple(kept), tuple(inside))


def _innermost(span: Span | None, loops: list[Span]) -> Span | None:
    """The smallest loop around a place."""
    around = [loop for loop in loops if span is not None and _contains(loop, span)]
    return min(around, key=lambda loop: loop.end_line - loop.line, default=None)


def _contains(outer: Span, inner: Span) -> bool:
    return outer.file == inner.file and outer.line <= inner.line and inner.end_line <= outer.end_line


def _described(tape: _Tape, notes: Notes, sizes: dict[ir.Var, int] | None) -> Kept:
    assert isinstance(tape.kept.type, ir.List)
    key = tape.kept.hint.removesuffix("_kept"), tape.made.span
    reason = "its elements are not read" if tape.holds_shapes else notes.kept.get(key, "the reverse sweep reads it")
    return Kept(
        _called(key, notes),
        "a shape" if tape.holds_shapes else _what(tape.kept.type.element),
        tape.made.span,
        reason,
        tape.made.callee is operator.mul,
        None if sizes is None else sizes.get(tape.kept, 0),
    )


def _called(key: tuple[str, Span | None], notes: Notes) -> str:
    """The name of a value, or its text where only the compiler has given it one."""
    name, span = key
    while name.endswith("_kept"):
        name = name.removesuffix("_kept")
    if name != UNNAMED or key in notes.named or span is None or span.line != span.end_line:
        return name
    return linecache.getline(span.file, span.line)[span.column : span.end_column] or name


def _what(type_: ir.Type | None) -> str:
    match type_:
        case ir.Scalar():
            return "a number"
        case ir.Array():
            return "an array"
        case _:
            return "a reference"


# Measuring


def _measured(
    derivative: Derivative,
    entry: Entry,
    function: ir.Function,
    tapes: list[_Tape],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> dict[ir.Var, int]:
    """Runs the derivative with a look at each list behind the loop that fills it."""
    sizes: dict[ir.Var, int] = {}

    def weigh(number: int, items: list[Any]) -> None:
        kept = tapes[number].kept
        sizes[kept] = sizes.get(kept, 0) + sum(map(_weight, items))

    after: dict[int, list[ir.Call]] = {}
    for number, tape in enumerate(tapes):
        after.setdefault(id(tape.filler), []).append(ir.Call((), weigh, (ir.Const(number), tape.kept)))

    def block(old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            statements.append(map_blocks(statement, block))
            statements += after.get(id(statement), ())
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, lambda atom: atom, block))

    weighed = ir.Function(function.name, function.params, block(function.body), function.doc)
    with undone():
        keep_generators(())
        load(emit(weighed))(*_arguments(derivative, entry, args, kwargs))
    return sizes


def _arguments(derivative: Derivative, entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What a derivative is called with: copies of the arguments, and of what it captures."""
    root = differentiated(derivative.function)
    return copied((*args, *kwargs.values(), *(item.read(root) for item in entry.captured)))


def _weight(item: Any) -> int:
    if isinstance(item, np.ndarray):
        return REFERENCE + (item.nbytes if any(item.strides) or not item.ndim else 0)
    return NUMBER if np.isscalar(item) else REFERENCE


# Printing


def _lines(report: TapeReport) -> Iterator[str]:
    total = report.bytes
    yield report.derivative + ("" if total is None else f": {size_in_words(total)} kept")
    if not report.loops and not report.checkpoints:
        yield "  nothing is kept"
    for forecast in report.checkpoints:
        yield f"  {_shown(forecast.place)}"
        all_, each = size_in_words(forecast.bytes), size_in_words(forecast.state)
        yield f"    keeps  {forecast.snapshots} states of {each} ({all_})"
        if forecast.iterations is None or forecast.run_again is None:
            yield "    again  as many iterations as there are, and more: how many is known when it has run"
        else:
            times = forecast.run_again / max(forecast.iterations, 1)
            yield f"    again  {forecast.run_again} iterations for {forecast.iterations}, {times:.3g} for each"
    for loop in report.loops:
        yield f"  {_shown(loop.place)}"
        if not loop.kept and not loop.recomputed:
            yield "    keeps nothing"
        width = max((len(name) for name in (*(k.name for k in loop.kept), *(n for n, _ in loop.recomputed))), default=0)
        for kept in loop.kept:
            memory = "in a list of known length" if kept.preallocated else "in a list that grows"
            size = "" if kept.bytes is None else f" ({size_in_words(kept.bytes)})"
            yield f"    keeps  {kept.name:{width}}  {kept.what} in each iteration, {memory}{size}; {kept.reason}"
        for name, place in loop.recomputed:
            yield f"    again  {name:{width}}  {_shown(place)}"


def _shown(span: Span | None) -> str:
    if span is None:
        return "somewhere"
    return f"{shown_path(span.file)}:{span.line}: {linecache.getline(span.file, span.line).strip()}"


def size_in_words(count: int) -> str:
    """A number of bytes, in the unit that fits: ``96 bytes``, ``1.2 kB``."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000  # type: ignore[assignment]
    return f"{count:.3g} GB"


__all__ = ["Forecast", "Kept", "LoopReport", "TapeReport", "tape_report"]


tape_report.__adjoint_operator__ = "tape_report"  # type: ignore[attr-defined]
