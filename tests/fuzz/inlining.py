"""``python -m fuzz.inlining``: derivatives with every function kept, with all of them inlined, and as usual: the same?

Checks the programs of the corpus, and then those of ``python -m fuzz`` and ``python -m fuzz.fragments`` by turns until
stopped; goes on where it stopped. Under the folder (``.fuzz/inlining`` by default): ``results.jsonl`` has a line for
each range of seeds with the counts of what came of it; ``failures/`` has each failing program, made small, under its
seed or name.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.dispatch import specialize
from adjoint.frontend.functions import activations
from adjoint.target import ALL_INLINED
from adjoint.testing import clone, leaves, tangent_of
from fuzz.campaign import commented, failures_in, finish, go_on, parser_of
from fuzz.check import PRIMAL_SECONDS, Check, Failed, Outcome, Skipped, agree, components, numbers, outcome_of
from fuzz.fragments import compose
from fuzz.fragments.check import SINGLE, module_of
from fuzz.programs import generate
from fuzz.shrink import shrink
from native.agreement import compare
from programs.registry import collect

CHUNK = 50
SECONDS = 60
SHRINK_SECONDS = 60.0
MOST_SMALL = 2
"""How many failures of one kind are made small."""
LARGEST = 1e6
AGREEMENT = 1e-8
"""How near derivatives must be to those as usual, relative to the largest of their numbers."""
NATIVE_EVERY = 250
"""Of how many programs one is compiled to machine code with every function kept."""

INLINED, USUAL, KEPT = "inlined", "as usual", "kept"
SETTINGS: dict[str, int | None] = {INLINED: ALL_INLINED, USUAL: None, KEPT: 0}
"""How many statements inlining may repeat of one function."""


@contextmanager
def repeating(most: int | None) -> Iterator[None]:
    """Derivatives that are made meanwhile repeat so many statements of one function, at most."""
    usual = activations.budget
    known = {function: dict(table) for function, table in specialize._tables.items()}
    specialize._tables.clear()
    if most is not None:
        activations.budget = lambda target: ALL_INLINED if target.inlined == ALL_INLINED else most
    try:
        yield
    finally:
        activations.budget = usual
        specialize._tables.clear()
        specialize._tables.update(known)


class Derivatives(Check):
    """What all modes give for a program at its arguments."""

    same = 1e-9
    agreement = AGREEMENT

    def __init__(self, module: Any, text: str, seed: int, outcome: Outcome, seconds: int = SECONDS) -> None:
        super().__init__(module, text, seed, outcome, seconds)
        self.limit(PRIMAL_SECONDS)
        self.value, self.after = self.primal(self.args)
        self.limit(seconds)
        if SINGLE in text or any(_is_single(leaf) for _, leaf in leaves((self.args, self.value))):
            self.agreement, self.same = 1e-3, 1e-5
        found = numbers(self.value)
        if not np.isfinite(found).all() or np.abs([0.0, *found]).max() > LARGEST:
            raise Skipped("the value is too large")
        output = ad.testing.flatten(self.value)
        if not len(output) or not self.size:
            raise Skipped("no floats")
        self.v, self.w = self.random.normal(size=self.size), self.random.normal(size=len(output))
        self.outcome.ends = True

    def all_stages(self) -> dict[str, Any]:
        """The results by stage; of one that is refused, the codes."""
        self.found: dict[str, Any] = {}
        self._note("vjp", lambda: self.reverse(self.w))
        self._note("jvp", lambda: self.forward(self.v))
        if isinstance(self.value, float):
            self._note("grad", self._gradient)
            self._note("hvp", self._product)
        return self.found

    def _note(self, stage: str, run: Callable[[], Any]) -> None:
        refused = len(self.outcome.refusals)
        result = self.stage(stage, run)
        self.found[stage] = self.outcome.refusals[refused:] if result is None else result

    def _gradient(self) -> Any:
        wrt = tuple(i for i, arg in enumerate(self.args) if leaves(arg))
        gradient = ad.grad(self.f, wrt=wrt)(*clone(self.args))
        return components("grad", tuple(self.args[i] for i in wrt), gradient)

    def _product(self) -> Any:
        product = ad.hvp(self.f, clone(self.args), tangent_of(self.args, self.v))
        return components("hvp", self.args, product)


def _is_single(leaf: Any) -> bool:
    return bool(getattr(leaf, "dtype", None) == np.float32)


@dataclass(frozen=True)
class Subject:
    """A program: its name, its text, and how to run with its module."""

    name: str
    text: str
    opened: Callable[[], Any]


def subject_of(seed: int) -> Subject:
    """The program of a seed: one of each kind in turn."""
    known = collect()
    if seed < len(known):
        return _of_the_corpus(known[seed])
    text = generate(seed).text if seed % 2 else compose.generate(seed).text
    return _of_text(seed, text)


def _of_text(seed: int, text: str) -> Subject:
    return Subject(str(seed), text, lambda: module_of(text, seed))


def _of_the_corpus(case: Any) -> Subject:
    @contextmanager
    def opened() -> Iterator[Any]:
        module = ModuleType(case.name)
        module.f, module.arguments = case.function, case.arguments  # type: ignore[attr-defined]
        yield module

    return Subject(case.name, "", opened)


def check(subject: Subject, seed: int, native: bool = False) -> Outcome:
    """Compares the derivatives of a program under all settings."""

    def run(outcome: Outcome) -> None:
        found: dict[str, dict[str, Any]] = {}
        for setting, most in SETTINGS.items():
            with repeating(most), subject.opened() as module:
                derivatives = Derivatives(module, subject.text, seed, outcome)
                try:
                    found[setting] = derivatives.all_stages()
                except Failed as failed:
                    raise Failed(f"{setting}: {failed.key}", str(failed)) from None
                if native and setting == KEPT:
                    _compare_natively(derivatives)
            if setting != INLINED:
                _compare(setting, found[INLINED], found[setting], derivatives)
        outcome.refusals = [each for each in dict.fromkeys(outcome.refusals)]

    return outcome_of(run, SECONDS)


def _compare(setting: str, inlined: dict[str, Any], other: dict[str, Any], derivatives: Derivatives) -> None:
    """What works inlined must work with functions, and give the same."""
    for stage, expected in inlined.items():
        found = other[stage]
        if isinstance(expected, list):
            if not isinstance(found, list):
                derivatives.outcome.notes.append(f"{setting}: {stage} works, and is refused inlined")
        elif isinstance(found, list):
            raise Failed(f"{setting}: {stage} is refused", str(found))
        else:
            agree(f"{setting}: {stage} differs", found, expected, expected, derivatives.agreement)


def _compare_natively(derivatives: Derivatives) -> None:
    mode = "gradient" if isinstance(derivatives.value, float) else "reverse"
    outcome = compare(derivatives.f, derivatives.args, mode)
    derivatives.outcome.notes.append(f"native: {outcome.kind}")
    if outcome.kind == "differs":
        raise Failed("kept: native and interpreted differ", outcome.message)


@dataclass(frozen=True)
class Options:
    """What a worker is told."""

    failures: Path
    native: int


def main() -> int:
    os.environ.setdefault("ADJOINT_TRACEBACK", "full")
    parser = parser_of("inlining", __doc__, "programs")
    parser.add_argument("--name", default="", help="a program of the corpus")
    parser.add_argument(
        "--native-every", type=int, default=NATIVE_EVERY, help="machine code for one of so many; 0: none"
    )
    given = parser.parse_args()
    if given.seed is not None or given.name:
        return _one(given)
    options = Options(failures_in(given.folder), given.native_every)
    return finish(go_on(given, CHUNK, partial(_chunk, options)))


def _one(given: argparse.Namespace) -> int:
    names = [case.name for case in collect()]
    seed = names.index(given.name) if given.name else given.seed
    subject = subject_of(seed)
    outcome = check(subject, seed, _is_native(seed, given.native_every))
    print(subject.text)
    print(f"{subject.name}: {outcome.kind} {outcome.key}\n{outcome.message}\n{outcome.refusals} {outcome.notes}")
    return int(outcome.kind == "failed")


def _is_native(seed: int, every: int) -> bool:
    return every > 0 and seed % every == 0


def _chunk(options: Options, start: int) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        subject, native = subject_of(seed), _is_native(seed, options.native)
        outcome = check(subject, seed, native)
        counts[f"outcome {outcome.kind}"] += 1
        if outcome.kind in ("failed", "skipped"):
            counts[f"{outcome.kind} {outcome.key}"] += 1
        counts.update(f"note {note}" for note in outcome.notes)
        if outcome.kind == "failed":
            _keep(subject, seed, native, outcome, options)
    return dict(counts)


def _keep(subject: Subject, seed: int, native: bool, outcome: Outcome, options: Options) -> None:
    """Writes a failing program, made small unless there are enough of its kind."""
    kind = f"# {outcome.key}\n"
    text = subject.text
    known = sum(path.read_text().startswith(kind) for path in options.failures.glob("*.py"))
    if known < MOST_SMALL and text:

        def fails(candidate: str) -> bool:
            again = check(_of_text(seed, candidate), seed, native)
            return again.kind == "failed" and again.key == outcome.key

        text = shrink(text, fails, SHRINK_SECONDS)
    (options.failures / f"{subject.name}.py").write_text(kind + commented(outcome.message) + text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
