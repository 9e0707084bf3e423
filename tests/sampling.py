"""Which tests of a corpus run each time, and which only when all are asked for (``make thorough``).

The choice is by name and by the day of the last commit: the same on each machine, for each program whatever stands
beside it, and another one from day to day, so that nothing is left out for long.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from adjoint import testing
from adjoint.records import replace

THOROUGH = os.environ.get("ADJOINT_THOROUGH", "") not in ("", "0")
"""Whether nothing is left out."""


def day_of_last_commit() -> str:
    """The day by which tests are chosen: ``ADJOINT_TESTS_OF``, or that of the last commit; nothing outside of git."""
    given = os.environ.get("ADJOINT_TESTS_OF", "")
    if given or shutil.which("git") is None:
        return given
    told = ["git", "-C", str(Path(__file__).parent), "log", "-1", "--format=%cs"]
    return subprocess.run(told, capture_output=True, text=True, check=False).stdout.strip()


DAY = day_of_last_commit()


SHARES = {
    "tests/analysis/": 3,
    "tests/api/": 2,
    "tests/array_libraries/": 3,
    "tests/codegen/": 3,
    "tests/declarations/test_checkpointing.py": 4,
    "tests/declarations/": 2,
    "tests/diagnostics/test_odd_inputs.py": 4,
    "tests/differentiation/": 6,
    "tests/dispatch/test_persistent_cache.py": 6,
    "tests/frontend/": 72,
    "tests/golden/test_programs_of_functions.py": 2,
    "tests/gradbench/": 16,
    "tests/manifolds/": 3,
    "tests/native/": 48,
    "tests/poison/": 2,
    "tests/programs/test_calls_kept.py": 16,
    "tests/regressions/test_images_between_their_points.py": 4,
    "tests/regressions/test_sparse_matrices.py": 4,
    "tests/regressions/test_unknown_kinds_in_loops.py": 12,
    "tests/regressions/": 88,
    "tests/rules/test_arguments_taken_as_given.py": 2,
    "tests/rules/test_arrays_written_out.py": 2,
    "tests/rules/test_definitions.py::test_definitions_can_be": 192,
    "tests/rules/test_distributions.py": 20,
    "tests/rules/test_every_distribution.py": 96,
    "tests/rules/test_fits.py": 4,
    "tests/rules/test_interpolators.py": 6,
    "tests/rules/test_layouts.py::test_definitions_lay": 4,
    "tests/rules/test_layouts.py::test_writes": 24,
    "tests/rules/test_operands.py": 72,
    "tests/rules/test_scattered.py": 3,
    "tests/rules/test_scipy_as_called.py": 8,
    "tests/rules/test_selections.py": 2,
    "tests/rules/test_solvers.py": 8,
    "tests/rules/test_special_functions.py": 2,
    "tests/rules/test_stacks.py": 6,
    "tests/rules/test_statistical_tests.py": 6,
    "tests/rules/test_systems.py": 6,
    "tests/rules/test_typing.py::test_no_rank": 6,
    "tests/rules/test_views.py": 3,
    "tests/runtime/test_lu.py::test_derivatives": 12,
    "tests/scipy_calls/": 10,
}
"""Where machine code is compiled, or much is checked again: of how many variants of a test one runs each time; the
first that fits counts.

What a module chooses by itself counts besides. Of each test that has its turn one variant is left; tests without
variants stay, and those marked ``each_time``.
"""


TURNS = {
    "tests/differentiable_types/test_typing.py": 3,
    "tests/frontend/": 2,
    "tests/native/": 2,
    "tests/regressions/": 3,
    "tests/rules/test_boundary_values.py": 2,
    "tests/rules/test_distributions.py": 2,
    "tests/rules/test_linalg.py": 2,
    "tests/rules/test_scattered.py": 2,
    "tests/rules/test_solvers": 2,
    "tests/rules/test_stacks.py": 2,
}
"""Where each test is a program of its own that takes long, or they are many: of how many tests, variants and all, one
runs each time; the first that fits counts. Those marked ``each_time`` stay, and those of files that somebody names.
"""


IN_DEPTH = pytest.mark.skipif(not THOROUGH, reason="`make thorough` runs it: a second look at what other tests see")
"""Tests of forms that only few derivatives take, or whose like every run tries."""


def left_out(tests: Sequence[str], files: Collection[str] = ()) -> set[str]:
    """The tests, named by file and ``test[variant]``, that do not run now; of these files only variants of tests."""
    out: set[str] = set()
    one_left: set[str] = set()
    for name in sorted(tests, key=_lot):
        test, bracket, _ = name.partition("[")
        is_named = name.partition("::")[0] in files
        if not (is_named or is_chosen(test, _share(TURNS, name))):
            out.add(name)
        elif bracket and test in one_left and not is_chosen(name, _share(SHARES, name)):
            out.add(name)
        one_left.add(test)
    return out


def _share(table: Mapping[str, int], name: str) -> int:
    return next((share for place, share in table.items() if name.startswith(place)), 1)


def is_chosen(name: str, shares: int) -> bool:
    """Whether something runs now, where one of so many does each time."""
    return THOROUGH or _lot(name) % shares == 0


def _lot(name: str) -> int:
    """A number that stands for a name on this day, and tells nothing of those of other names and days."""
    return zlib.crc32((f"{DAY} {name}" if DAY else name).encode())


def check_grads(f: Callable[..., Any], args: Sequence[Any], *, order: int = 2, **options: Any) -> None:
    """Checks derivatives as `adjoint.testing.check_grads` does, some of them by turns: by the name of the function.

    Of half of the functions forward mode is checked, too. At second order it is one derivative: the gradient, or the
    directional derivative.
    """
    problem, how = testing._posed(f, args, **options)
    name = f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', '')}"
    taken = _modes(how, is_chosen(name, 2))
    testing._check_first_order(problem, taken)
    if order >= 2:
        _check_second_order(problem, taken, how.modes, _lot(name[::-1]))


def check_by_turns(name: str, f: Callable[..., Any], args: Sequence[Any], order: int = 2, **options: Any) -> None:
    """Checks derivatives of a corpus: of all in reverse mode, of a third in forward mode, of some at second order.

    Of a fortieth the derivatives of one derivative are checked, as `check_grads` does.
    """
    problem, how = testing._posed(f, args, **options)
    testing._check_first_order(problem, _modes(how, is_chosen(name, 3)))
    turn = _lot(name) % 80
    if order >= 2 and (THOROUGH or turn < 2):
        _check_second_order(problem, how, how.modes, turn)


def _modes(how: testing._Options, is_forward: bool) -> testing._Options:
    return how if is_forward or "rev" not in how.modes else replace(how, modes=("rev",))


def _check_second_order(
    problem: testing._Problem, how: testing._Options, modes: Sequence[testing.Mode], turn: int
) -> None:
    mode: testing.Mode = ("rev", "fwd")[turn % 2]
    testing._check_second_order(problem, how, modes if THOROUGH or mode not in modes else (mode,))
