"""Is the derivative of a program right? Both modes, differences, second order, values, arguments, text.

The one idea: a program has one outcome. ``ok``; ``skipped`` where the point tells nothing (a kink, a number that is not
finite); ``refused`` with the codes; ``failed`` with a key, which shrinking keeps and by which failures are grouped.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.api.tools.float_leaves import (
    children,
    clone,
    flatten,
    is_float_leaf,
    leaves,
    moved,
    read_tangent,
    tangent_of,
)

STEPS = (2e-3, 5e-4)
AGREEMENT = 1e-9
"""Forward against reverse, relative."""
TOLERANCE = 1e-5
"""Derivatives against differences, relative."""
SECONDS = 30
"""Of processor time, for one program."""
PRIMAL_SECONDS = 3
"""The same for one run of the program itself: one that takes longer has no end."""
SECOND_ORDER_EVERY = 3
"""For what part of the programs whose value is a number the second order is checked too."""


class Failed(Exception):
    """A wrong answer: ``key`` says of which kind, the message which numbers."""

    def __init__(self, key: str, message: str = "") -> None:
        super().__init__(f"{key}: {message}")
        self.key = key


class Skipped(Exception):
    """The program tells nothing at this point."""


class TooSlow(BaseException):
    """Raised by the clock; nothing that expects exceptions of a program catches it."""


@dataclass
class Outcome:
    """What came of a program."""

    kind: str = "ok"
    key: str = ""
    message: str = ""
    refusals: list[str] = field(default_factory=list)
    """Codes by stage, such as ``"vjp AD0401"``."""
    notes: list[str] = field(default_factory=list)
    """Comparisons that could not be made."""
    ends: bool = False
    """Whether the program itself has come to an end."""


def check(text: str, seed: int = 0, processes: bool = False, seconds: int = SECONDS) -> Outcome:
    """Checks the program of a module's text; ``processes`` also compares its derivative with another process's."""

    def run(outcome: Outcome) -> None:
        with module_of(text) as module:
            Check(module, text, seed, outcome, seconds).run(processes)

    return outcome_of(run, seconds)


def outcome_of(run: Callable[[Outcome], None], seconds: int) -> Outcome:
    """What comes of checks that note in an outcome what they find."""
    outcome = Outcome()
    with warnings.catch_warnings(), np.errstate(all="ignore"), timeout(outcome, seconds):
        warnings.simplefilter("ignore")
        try:
            run(outcome)
        except Skipped as skipped:
            outcome.kind, outcome.key = "skipped", str(skipped)
        except Failed as failed:
            outcome.kind, outcome.key, outcome.message = "failed", failed.key, str(failed)
        except Exception as error:
            outcome.kind, outcome.key, outcome.message = "failed", f"checker: {where(error)}", traceback.format_exc()
    if outcome.kind == "ok" and outcome.refusals:
        outcome.kind = "refused"
    return outcome


@contextmanager
def module_of(text: str) -> Iterator[ModuleType]:
    """The module of a text, from a file, so that its source is found."""
    with tempfile.TemporaryDirectory(prefix="adjoint-fuzz-") as folder:
        path = Path(folder) / "program.py"
        path.write_text(text, encoding="utf-8")
        name = f"fuzzed_{os.path.basename(folder).replace('-', '_')}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            try:
                spec.loader.exec_module(module)
            except Exception as error:
                raise Skipped(f"the module raises {type(error).__name__}") from None
            if not hasattr(module, "f") or not hasattr(module, "arguments"):
                raise Skipped("no program")
            yield module
        finally:
            del sys.modules[name]


@contextmanager
def timeout(outcome: Outcome, seconds: int) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of work: others may want the processor, too
    try:
        yield
    except TooSlow:
        outcome.kind, outcome.key = ("failed", "timeout") if outcome.ends else ("skipped", "the program does not end")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def numbers(value: Any) -> list[Any]:
    """All numbers in a structure, in order; whole ones too."""
    if is_float_leaf(value) or isinstance(value, (int, np.integer, np.ndarray)):
        return [float(item) for item in np.ravel(value)]
    return [number for _, item in children(value) for number in numbers(item)]


class Check:
    agreement = AGREEMENT
    tolerance = TOLERANCE
    same = 1e-12
    """How near values must be to those of the program itself, relative."""

    def __init__(self, module: ModuleType, text: str, seed: int, outcome: Outcome, seconds: int) -> None:
        self.module, self.text, self.outcome, self.seconds = module, text, outcome, seconds
        self.f: Callable[..., Any] = module.f
        try:
            self.args = tuple(module.arguments())
        except Exception as error:
            raise Skipped(f"the arguments raise {type(error).__name__}") from None
        self.seed = seed
        self.random = np.random.default_rng(seed)
        self.size = len(flatten(self.args))

    def run(self, processes: bool) -> None:
        self.limit(PRIMAL_SECONDS)
        self.value, self.after = self.primal(self.args)
        self.limit(self.seconds)
        self.outcome.ends = True
        output = flatten(self.value)
        if not np.isfinite(numbers(self.value)).all() or np.abs([0.0, *numbers(self.value)]).max() > 1e6:
            raise Skipped("the value is too large")
        if not len(output) or not self.size:
            raise Skipped("no floats")
        v, w = self.random.normal(size=self.size), self.random.normal(size=len(output))
        back = self.stage("vjp", lambda: self.reverse(w))
        along = self.stage("jvp", lambda: self.forward(v))
        if back is not None and along is not None:
            agree("forward and reverse differ", w @ along, back @ v, back)
        if along is not None:
            self.differences("jvp", self.outputs, along, v)
        if back is not None:
            self.differences("vjp", lambda args: self.weighted(w, args), np.array([back @ v]), v)
        if isinstance(self.value, float) and back is not None and self.seed % SECOND_ORDER_EVERY == 0:
            self.second_order(back / w[0], v)
        self.same_text(processes)

    def limit(self, seconds: int) -> None:
        """Gives what follows so much time."""
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def primal(self, args: Any) -> tuple[Any, Any]:
        given = clone(args)
        try:
            return clone(self.f(*given)), given
        except Exception as error:
            raise Skipped(f"the program raises {type(error).__name__}") from None

    def outputs(self, args: Any) -> Any:
        return flatten(self.primal(args)[0])

    def weighted(self, w: Any, args: Any) -> Any:
        found = self.outputs(args)
        if found.shape != w.shape:
            raise Skipped("another branch nearby returns something else")
        return np.array([w @ found])

    def stage(self, name: str, run: Callable[[], Any]) -> Any:
        """The result of one derivative, None where it is refused."""
        try:
            return run()
        except ad.DifferentiationError as error:
            codes = sorted({problem.code for problem in error.diagnostics})
            if "AD0901" in codes:
                cause = error.__cause__
                place = where(cause) if isinstance(cause, Exception) else str(error)
                raise Failed(f"internal error: {place}", str(error)) from None
            self.outcome.refusals.append(f"{name} {'+'.join(codes)}")
            self.outcome.message = self.outcome.message or str(error)
            return None
        except (Failed, Skipped):
            raise
        except Exception as error:
            raise Failed(f"{name}: {where(error)}", traceback.format_exc(limit=-6)) from None

    # --- first order ---

    def reverse(self, w: Any) -> Any:
        given = clone(self.args)
        value, pullback = ad.vjp(self.f, *given)
        self.same_value("vjp", value, given)
        seed = tangent_of(self.value, w)
        gradients = [components("vjp", self.args, pullback(seed)) for _ in range(2)]
        agree("the pullback gives something else at its second call", *gradients, gradients[0])
        return gradients[0]

    def forward(self, v: Any) -> Any:
        given = clone(self.args)
        value, tangent = ad.jvp(self.f, given, tangent_of(self.args, v))
        self.same_value("jvp", value, given)
        return components("jvp", self.value, tangent)

    def same_value(self, stage: str, value: Any, given: Any) -> None:
        for what, expected, found in (("value", self.value, value), ("arguments afterwards", self.after, given)):
            one, two = np.array(numbers(expected)), np.array(numbers(found))
            if one.shape != two.shape or not np.allclose(one, two, rtol=self.same, atol=self.same, equal_nan=True):
                raise Failed(f"{stage}: {what}", f"{expected!r} is the function's, {found!r} the derivative's")

    # --- differences ---

    def differences(self, stage: str, function: Callable[[Any], Any], claimed: Any, v: Any) -> None:
        """Compares with central differences of fourth order at two steps."""

        def at(step: float) -> Any:
            point = moved(self.args, v, step)
            self.primal(point)  # where the program raises, so may its derivative
            return function(point)

        try:
            table = {0.0: at(0.0), **{k * h: at(k * h) for h in STEPS for k in (-2, -1, 1, 2)}}
        except Skipped:
            self.outcome.notes.append(f"{stage}: a neighbour raises")
        else:
            self.compare(stage, table, claimed, v)

    def compare(self, stage: str, table: dict[float, Any], claimed: Any, v: Any) -> None:
        """Compares with differences of what a function gives at the steps along ``v``, by step."""
        if any(np.shape(row) != np.shape(claimed) for row in table.values()):
            return self.outcome.notes.append(f"{stage}: another branch nearby")
        one, two = ((8 * (table[h] - table[-h]) - (table[2 * h] - table[-2 * h])) / (12 * h) for h in STEPS)
        scale = max(1.0, float(np.abs(one).max()), float(np.abs(claimed).max()))
        if not np.isfinite(one).all() or scale > 1e5 or np.abs(one - two).max() > 0.1 * TOLERANCE * scale:
            return self.outcome.notes.append(f"{stage}: the function is not smooth nearby")
        if np.abs(claimed - two).max() <= self.tolerance * scale:
            return None
        h, middle = STEPS[1], table[0.0]
        right = (4 * table[h] - table[2 * h] - 3 * middle) / (2 * h)
        left = (3 * middle - 4 * table[-h] + table[-2 * h]) / (2 * h)
        one_sided = np.minimum(np.abs(claimed - left), np.abs(claimed - right)).max() <= self.tolerance * scale
        apart = np.abs(right - left).max() > 1e-3 * scale
        if one_sided or apart or len({self.trace(v, step) for step in (-h, 0.0, h)}) > 1:
            return self.outcome.notes.append(f"{stage}: a kink")
        raise Failed(f"{stage}: not the derivative", f"{claimed} where differences give {two}")

    def trace(self, v: Any, step: float) -> int:
        """Which instructions the program runs at a point, as one number."""
        seen: list[tuple[str, int]] = []

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            if frame.f_globals is not self.module.__dict__:
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                seen.append((frame.f_code.co_name, frame.f_lasti))
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            self.primal(moved(self.args, v, step))
        except Skipped:
            pass
        finally:
            sys.settrace(before)
        return hash(tuple(seen))

    # --- second order ---

    def second_order(self, first: Any, v: Any) -> None:
        wrt = tuple(i for i, arg in enumerate(self.args) if leaves(arg))
        gradient = ad.grad(self.f, wrt=wrt)

        def of_gradient(args: Any) -> Any:
            given = clone(args)
            return components("grad", tuple(args[i] for i in wrt), gradient(*given))

        found = self.stage("grad", lambda: of_gradient(self.args))
        if found is None:
            return
        agree("grad and vjp differ", found, first, found)
        product = self.stage("jvp of grad", lambda: self.of_product(gradient, wrt, v))
        if product is not None:
            self.differences("jvp of grad", of_gradient, product, v)
        contracted = getattr(self.module, "contracted", None)
        if contracted is None:
            return
        places = tuple(i for i in wrt if isinstance(self.args[i], (float, np.ndarray)))
        back = self.stage("grad of grad", lambda: ad.grad(contracted, wrt=wrt)(*clone(self.args)))
        value = self.stage("grad in a function", lambda: contracted(*clone(self.args)))
        if back is None or value is None or not places:
            return
        claimed = components("grad of grad", tuple(self.args[i] for i in wrt), back) @ v
        self.differences(
            "grad of grad", lambda args: np.array([float(contracted(*clone(args)))]), np.array([claimed]), v
        )

    def of_product(self, gradient: Any, wrt: tuple[int, ...], v: Any) -> Any:
        _, tangent = ad.jvp(gradient, clone(self.args), tangent_of(self.args, v))
        return components("jvp of grad", tuple(self.args[i] for i in wrt), tangent)

    # --- text ---

    def same_text(self, processes: bool) -> None:
        mine = self.stage("text", lambda: text_of(self.module))
        if mine is None:
            return
        with module_of(self.text) as again:
            if text_of(again) != mine:
                raise Failed("text: another one when compiled again")
        if processes and _text_elsewhere(self.text) != mine:
            raise Failed("text: another one in another process")


def components(stage: str, point: Any, tangent: Any) -> Any:
    try:
        found = read_tangent(point, tangent, stage)
    except AssertionError as error:
        raise Failed(f"{stage}: structure", str(error)) from None
    if np.isnan(found).any():
        raise Failed(f"{stage}: NaN", str(found))
    return found


def agree(key: str, one: Any, two: Any, scale_of: Any, agreement: float = AGREEMENT) -> None:
    scale = max(1.0, float(np.abs(scale_of).max()), float(np.abs(one).max()))
    if np.abs(np.asarray(one) - two).max() > agreement * scale:
        raise Failed(key, f"{one} and {two}")


def where(error: Exception) -> str:
    """The type of an exception, and the place that raised it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/adjoint/" in f.filename]
    place = f"{Path(frames[-1].filename).stem}.{frames[-1].name}" if frames else "generated code"
    return f"{type(error).__name__} in {place}"


def text_of(module: ModuleType) -> str:
    """The text of the pullback of a program."""
    _, pullback = ad.vjp(module.f, *clone(module.arguments()))
    return str(ad.source(pullback))


def _text_elsewhere(text: str) -> str:
    program = (
        "import sys, warnings; warnings.simplefilter('ignore')\n"
        "from fuzz.check import module_of, text_of\n"
        "with module_of(sys.stdin.read()) as module: sys.stdout.write(text_of(module))\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", program], input=text, capture_output=True, text=True, env=environment, check=False
    )
    return done.stdout
