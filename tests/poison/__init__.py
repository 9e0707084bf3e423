"""Memory that others still read: a derivative hands out none, keeps none, and clears none.

:mod:`poison.outside` overwrites with NaN what belongs to callers; :mod:`poison.inside` watches values of derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from adjoint.target import MACHINE, PYTHON
from fuzz.check import module_of
from fuzz.fragments.compose import generate
from native.agreement import VARIANTS, has_arrays
from poison import inside, outside
from poison.outside import MODES, Poisoned
from programs.registry import collect

WATCHES: dict[str, Any] = {
    "outside": outside.check,
    "inside": partial(inside.check, target=PYTHON),
    "machine": partial(inside.check, target=MACHINE),
}
"""What looks at a derivative: its callers; an interpreter; one of the form for machine code."""
KINDS = ("plain", "single", "fortran", "strided", "one")
"""The kinds of arrays that programs are given."""


class Trial(NamedTuple):
    """One program in one mode, with one kind of arrays, and who watches."""

    name: str
    function: Any
    args: tuple[Any, ...]
    mode: str
    kind: str
    watch: str

    @property
    def title(self) -> str:
        return f"{self.name} {self.mode} {self.kind} {self.watch}"

    def run(self) -> str:
        """What came of it: ``ok``, a refusal, or how it failed."""
        try:
            return str(WATCHES[self.watch](self.function, self.args, self.mode, VARIANTS[self.kind]))
        except Poisoned as failure:
            return f"poisoned: {failure}"
        except Exception as failure:
            return f"failed: {type(failure).__name__}: {failure}"


def trials(only: str = "") -> Iterator[Trial]:
    """All programs of the corpus in all modes, with all kinds of arrays, watched in all ways."""
    for case in collect():
        if only in case.name:
            yield from _trials_of(case.name, case.function, case.arguments())


def random_trials(seed: int) -> Iterator[Trial]:
    """The same for programs made of everyday code, without end."""
    for number in count(seed):
        with module_of(generate(number).text) as module:
            yield from _trials_of(f"fragments.{number}", module.f, module.arguments())


def _trials_of(name: str, function: Any, args: tuple[Any, ...]) -> Iterator[Trial]:
    for kind in KINDS if has_arrays(args) else ("plain",):
        for watch in WATCHES:
            for mode in MODES:
                yield Trial(name, function, args, mode, kind, watch)
