"""What checkpointed loops will keep and run again, before they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adjoint import ir
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.diagnostics import Span
from adjoint.differentiation.definitions import everywhere
from adjoint.ir.rebuild import map_blocks, substitute
from adjoint.ir.walk import statements_in
from adjoint.records import dataclass
from adjoint.runtime.snapshots import bytes_of, run_again, size_of, snapshots_within


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a checkpointed loop will cost.

    Attributes
    ----------
    place
        Where the loop is.
    iterations
        How often it runs; None where that is known only when it has run.
    state
        The bytes of one state.
    snapshots
        How many states are kept.
    run_again
        How many iterations run again in the reverse sweep, besides the one that is reversed each time.
    """

    place: Span | None
    iterations: int | None
    state: int
    snapshots: int
    run_again: int | None

    @property
    def bytes(self) -> int:
        """The memory for all states."""
        most = self.snapshots if self.iterations is None else min(self.snapshots, self.iterations)
        return most * self.state


class _Enough(Exception):
    """The reverse sweep starts."""


def forecasts(function: ir.Function, arguments: Sequence[Any], memory: int | str | None) -> tuple[Forecast, ...]:
    """The forecasts of a derivative's checkpointed loops, for given arguments.

    The function runs for that, without the iterations of loops of which it is known how often they run: of checkpointed
    loops inside those nothing is said.

    Parameters
    ----------
    function
        The finished derivative.
    arguments
        What it is called with.
    memory
        The memory for the states of each loop; None for what the program says.
    """
    found: dict[tuple[Span | None, int | None, int], Forecast] = {}

    def record(place: Span | None, count: Any, given: Any, iterations: Any, state: tuple[Any, ...]) -> int:
        size = max(size_of(state), 1)
        total = snapshots_within(count, given, iterations, state) if memory is None else bytes_of(memory) // size
        total = max(total, 1)
        again = None if iterations is None else run_again(iterations, total)
        found.setdefault((place, iterations, size), Forecast(place, iterations, size, total, again))
        return max(total, 1)

    def stop() -> None:
        raise _Enough

    def step(old: ir.Function) -> ir.Function:
        body = _recording(old.body, record)
        if old.name.endswith("_loop_primal"):
            body = _without_iterations(body)
        elif old.name.endswith("_loop_adjoint"):
            body = ir.Block((ir.Call((), stop, ()), *body.statements), body.terminator)
        return ir.Function(old.name, old.params, body, old.doc)

    watched = everywhere(function, step)
    try:
        load(emit(watched))(*arguments)
    except _Enough:
        pass
    except Exception:
        if not found:
            raise
    return tuple(found.values())


def has_checkpoints(function: ir.Function) -> bool:
    """Whether a finished derivative has checkpointed loops."""
    return any(
        isinstance(statement, ir.Call) and statement.callee is snapshots_within
        for statement in _reachable(function, set())
    )


def _reachable(function: ir.Function, seen: set[ir.Definition]) -> Iterator[ir.Statement]:
    for statement in statements_in(function.body):
        yield statement
        if (
            isinstance(statement, ir.Call)
            and isinstance(statement.callee, ir.Definition)
            and statement.callee not in seen
        ):
            seen.add(statement.callee)
            assert statement.callee.function is not None
            yield from _reachable(statement.callee.function, seen)


def _recording(block: ir.Block, record: object) -> ir.Block:
    def changed(statement: ir.Statement) -> ir.Statement:
        if isinstance(statement, ir.Call) and statement.callee is snapshots_within:
            return ir.Call(statement.targets, record, (ir.Const(statement.span), *statement.args), (), statement.span)
        return map_blocks(statement, lambda inner: _recording(inner, record))

    return ir.Block(tuple(map(changed, block.statements)), block.terminator)


def _without_iterations(body: ir.Block) -> ir.Block:
    """The first half of a loop with none of its iterations, where it is known how many there are."""
    loop = next((each for each in body.statements if isinstance(each, ir.Loop) and each.over is None), None)
    if loop is None or len(loop.targets) != len(loop.params):
        return body
    inits: dict[ir.Var, ir.Atom] = dict(zip(loop.targets, loop.inits, strict=True))
    rest = tuple(statement for statement in body.statements if statement is not loop)
    return substitute(ir.Block(rest, body.terminator), inits)
