"""Gradients of programs on arrays, beside those of JAX's versions: time, memory, first calls, what runs as Python."""

from __future__ import annotations

import functools
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.native.llvm.memory.pool import at_most
from benchmarks.report import Results, duration
from benchmarks.timing import give_back_freed_memory, race

TOLERANCE = 1e-6
SECONDS = 1.5  # for all turns of a program
COLUMNS = (
    "",
    "Adjoint",
    "JAX",
    "beside JAX",
    "beside the program",
    "interpreted",
    "interpreted, beside the program",
    "peak memory",
    "JAX's",
    "first call",
    "JAX's",
    "what limits it",
)


@dataclass(frozen=True)
class Subject:
    """A program that is a number, and what it is measured beside.

    Parameters
    ----------
    function, arguments, wrt
        What is differentiated, where, and by which arguments.
    jax
        The same program in JAX: it takes the arguments by which is differentiated, and the result is a number. None
        where there is none.
    program
        The program compiled by Numba, without arguments; None where Numba does not take it.
    limit
        What limits the gradient, in words.
    loops
        Whether the program computes number by number, in loops of its own.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    wrt: tuple[int, ...]
    jax: Callable[..., Any] | None = None
    program: Callable[[], Any] | None = None
    limit: str = ""
    loops: bool = False


@dataclass
class Finding:
    """What was measured of a program: seconds, bytes, and words where something is not as it should be."""

    subject: Subject
    seconds: dict[str, float] = field(default_factory=dict)
    peak: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def beside(self, other: str) -> float | None:
        """The seconds of machine code, beside those of another contestant."""
        if "Adjoint" not in self.seconds or other not in self.seconds:
            return None
        return self.seconds["Adjoint"] / self.seconds[other]

    def first_beside_jax(self) -> float | None:
        """The seconds of the first call of machine code, beside those of JAX's."""
        if "Adjoint" not in self.first or "JAX" not in self.first:
            return None
        return self.first["Adjoint"] / self.first["JAX"]

    def times_interpreted(self) -> float | None:
        """The seconds of interpreted derivatives, beside those of the interpreted program."""
        if "interpreted" not in self.seconds:
            return None
        return self.seconds["interpreted"] / self.seconds["interpreted program"]

    def kept(self) -> dict[str, Any]:
        """The finding for another process, as what JSON can hold."""
        subject = self.subject
        own = {"name": subject.name, "limit": subject.limit, "loops": subject.loops}
        return own | {"seconds": self.seconds, "peak": self.peak, "first": self.first, "notes": self.notes}

    @classmethod
    def read(cls, kept: dict[str, Any]) -> Finding:
        """A finding of another process: of the subject only what tables say."""
        subject = Subject(kept["name"], cls.read, (), (), limit=kept["limit"], loops=kept["loops"])
        return cls(subject, kept["seconds"], kept["peak"], kept["first"], kept["notes"])

    def row(self) -> tuple[str, ...]:
        """The finding as a row of text."""
        return (
            self.subject.name,
            *(_or_dash(duration, self.seconds.get(name)) for name in ("Adjoint", "JAX")),
            *(_or_dash("{:.2f}".format, self.beside(name)) for name in ("JAX", "program", "interpreted")),
            _or_dash("{:.1f}".format, self.times_interpreted()),
            *(_or_dash(_megabytes, self.peak.get(name)) for name in ("Adjoint", "JAX")),
            *(_or_dash(duration, self.first.get(name)) for name in ("Adjoint", "JAX")),
            "; ".join((*self.notes, *([self.subject.limit] if self.subject.limit else []))),
        )


def measured(subject: Subject, interpreted: bool = False) -> Finding:
    """Measures one program: CPU seconds of one thread, start-up of either system excluded."""
    _start_up()
    finding = Finding(subject)
    contestants: dict[str, Callable[[], Any]] = {}
    derivative = ad.grad(subject.function, wrt=subject.wrt, native=True)
    result = _first(finding, contestants, "Adjoint", lambda: derivative(*subject.arguments))
    if subject.jax is not None and importlib.util.find_spec("jax") is not None:
        expected = _first(finding, contestants, "JAX", _of_jax(subject))
        if result is not None and expected is not None:
            if all(map(_are_numbers, result)) and not all(map(_are_numbers, expected)):
                finding.notes.append(NOT_A_NUMBER)
            elif (wrong := _difference(result, expected)) > TOLERANCE:
                finding.notes.append(f"differs from JAX by {wrong:.0e}")
    if result is not None and (wrong := _slope_missed(subject, result)) > 1e-3:
        finding.notes.append(f"differs from a difference by {wrong:.0e}")
    if subject.program is not None:
        _first(finding, contestants, "program", subject.program)
    if interpreted:
        plain = ad.grad(subject.function, wrt=subject.wrt, native=False)
        _first(finding, contestants, "interpreted", lambda: plain(*subject.arguments))
        _first(finding, contestants, "interpreted program", lambda: subject.function(*subject.arguments))
    for name, taken in race(contestants, _rounds(contestants), time.process_time).items():
        finding.seconds[name] = taken.best
    if "Adjoint" in contestants:
        finding.peak["Adjoint"] = max(_peak(contestants["Adjoint"]) for _ in range(2))
    if "JAX" in contestants:
        finding.peak["JAX"] = _peak_of_jax(subject)
    return finding


@functools.cache
def _start_up() -> None:
    """Imports and initializes what a first call of either system would, whatever the program."""
    ad.grad(np.sum, native=True)(np.ones(2))
    if importlib.util.find_spec("jax") is not None:
        import jax  # lazy

        jax.config.update("jax_enable_x64", True)
        jax.block_until_ready(jax.jit(jax.grad(jax.numpy.sum))(jax.numpy.ones(2)))


def _first(finding: Finding, contestants: dict[str, Callable[[], Any]], name: str, call: Callable[[], Any]) -> Any:
    """Calls a contestant for the first time; one that cannot is told of, and left out."""
    start = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = call()
    except Exception as problem:  # of any system
        words = str(problem).strip().splitlines() or [type(problem).__name__]
        finding.notes.append("Numba does not take the program" if name == "program" else f"{name}: {words[0][:90]}")
        return None
    finding.first[name] = time.process_time() - start
    finding.notes.extend(
        f"{name}: {next(iter(str(each.message).splitlines()), '')[:110]}"
        for each in told
        if "AD06" in str(each.message)
    )
    contestants[name] = call
    return result


def _of_jax(subject: Subject) -> Callable[[], Any]:
    import jax  # lazy

    differentiated, given = _in_jax(subject)
    return lambda: jax.block_until_ready(differentiated(*given))


def _in_jax(subject: Subject) -> tuple[Any, list[Any]]:
    import jax  # lazy

    jax.config.update("jax_enable_x64", True)
    differentiated = jax.jit(jax.grad(subject.jax, argnums=tuple(range(len(subject.wrt)))))
    return differentiated, [jax.numpy.asarray(subject.arguments[place]) for place in subject.wrt]


def _peak_of_jax(subject: Subject) -> float:
    """What XLA plans for a call: JAX keeps freed memory for itself, so that a process does not grow by it."""
    differentiated, given = _in_jax(subject)
    planned = differentiated.lower(*given).compile().memory_analysis()
    return float(planned.temp_size_in_bytes + planned.output_size_in_bytes)


def _rounds(contestants: dict[str, Callable[[], Any]]) -> int:
    start = time.process_time()
    for run in contestants.values():
        run()
    return max(2, min(15, int(SECONDS / max(time.process_time() - start, 1e-4))))


def _are_numbers(found: Any) -> bool:
    return not np.isnan(np.asarray(found)).any()


def _difference(found: Any, expected: Any) -> float:
    """How far gradients are from JAX's, beside the largest number in these; single precision counts a thousandth."""
    theirs = [np.asarray(each) for each in expected]
    scale = max(*(float(np.max(np.abs(each), initial=0.0)) for each in theirs), 1e-12)
    worst = max(float(np.max(np.abs(np.asarray(a) - b), initial=0.0)) for a, b in zip(found, theirs, strict=True))
    is_single = any(each.dtype in (np.float32, np.complex64) for each in theirs)
    return worst / scale * (1e-3 if is_single else 1.0)


def _slope_missed(subject: Subject, gradient: Sequence[Any]) -> float:
    """How far a directional derivative is from a difference of the program's values, beside its size."""
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=np.shape(subject.arguments[place])) for place in subject.wrt]
    slope = sum(float(np.sum(np.real(g) * d)) for g, d in zip(gradient, directions, strict=True))
    single = any(getattr(subject.arguments[place], "dtype", None) == np.float32 for place in subject.wrt)
    scale = sum(float(np.sum(np.abs(np.real(g) * d))) for g, d in zip(gradient, directions, strict=True))

    def at(step: float) -> float:
        given = list(subject.arguments)
        for place, direction in zip(subject.wrt, directions, strict=True):
            moved = subject.arguments[place] + step * direction
            given[place] = moved.astype(given[place].dtype) if isinstance(given[place], np.ndarray) else float(moved)
        return float(subject.function(*given))

    steps = (1e-2, 1e-3) if single else (1e-4, 1e-6, 1e-8)
    return min(abs((at(step) - at(-step)) / (2.0 * step) - slope) for step in steps) / max(scale, 1e-12)


def _peak(call: Callable[[], Any]) -> float:
    """The bytes that a call needs beyond what lies in the process before, without memory that is free."""
    with at_most(0):
        call()
        give_back_freed_memory()
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            return float("nan")
        before = _status("VmRSS")
        kept = call()
        after = _status("VmHWM")
        del kept
    return max(0.0, after - before)


def _status(key: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * next(float(line.split()[1]) for line in lines if line.startswith(key))


def _or_dash(spelled: Callable[[Any], str], value: float | None) -> str:
    return "-" if value is None else spelled(value)


def _megabytes(value: float) -> str:
    return f"{value / 1e6:.3g} MB"


def summary(findings: Iterable[Finding]) -> list[str]:
    """Geometric means, and what misses, in sentences."""
    findings = list(findings)
    sentences = []
    for words, chosen in (
        ("all programs", findings),
        ("programs of loops", [each for each in findings if each.subject.loops]),
        ("array programs", [each for each in findings if not each.subject.loops]),
    ):
        for other in ("JAX", "program", "interpreted"):
            ratios = [value for each in chosen if (value := each.beside(other)) is not None]
            if ratios:
                mean = statistics.geometric_mean(ratios)
                sentences.append(f"Geometric mean of {words} beside {_OTHERS[other]}: {mean:.2f} ({len(ratios)}).")
    firsts = [ratio for each in findings if (ratio := each.first_beside_jax()) is not None]
    if firsts:
        mean = statistics.geometric_mean(firsts)
        sentences.append(f"Geometric mean of first calls beside JAX's: {mean:.2f} ({len(firsts)}).")
    slow = [_with_reason(each) for each in findings if (each.beside("JAX") or 0.0) > 1.2]
    sentences.append(f"Above 1.2 times JAX: {', '.join(slow) or 'none'}.")
    large = [each.subject.name for each in findings if _needs_more(each)]
    sentences.append(f"Peak memory above 1.2 times that of JAX: {', '.join(large) or 'none'}.")
    slower = [each.subject.name for each in findings if (each.beside("interpreted") or 0.0) > 1.05]
    sentences.append(f"Machine code slower than interpreted derivatives: {', '.join(slower) or 'none'}.")
    long = [each.subject.name for each in findings if (each.times_interpreted() or 0.0) > 4.0]
    sentences.append(f"Interpreted derivatives above 4 times the interpreted program: {', '.join(long) or 'none'}.")
    python = [each.subject.name for each in findings if any("AD06" in note for note in each.notes)]
    sentences.append(f"In part as Python: {', '.join(python) or 'none'}.")
    refused = [each.subject.name for each in findings if "Adjoint" not in each.seconds]
    sentences.append(f"Refused: {', '.join(refused) or 'none'}.")
    return sentences


def _with_reason(finding: Finding) -> str:
    """The name of a program, and why its time is not that of JAX for the same."""
    reasons = [note for note in finding.notes if note == NOT_A_NUMBER or note.startswith("differs from JAX")]
    return f"{finding.subject.name} ({reasons[0]})" if reasons else finding.subject.name


def _needs_more(finding: Finding) -> bool:
    mine, theirs = (finding.peak.get(name) for name in ("Adjoint", "JAX"))
    return mine is not None and theirs is not None and mine > 1.2 * theirs + _FEW


NOT_A_NUMBER = "JAX's gradient is not a number"
_FEW = 1e6
"""Bytes of memory that do not count: a peak is told in pages, and libraries have their own."""
_OTHERS = {"JAX": "JAX", "program": "the program by Numba", "interpreted": "interpreted derivatives"}


def table(title: str, explanation: str, findings: Sequence[Finding]) -> Results:
    """All findings as a table."""
    return Results(title, explanation, COLUMNS, [each.row() for each in findings], summary(findings))
