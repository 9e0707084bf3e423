"""Which tests of a corpus run each time, and which only when all are asked for (``make thorough``).

The choice is by name: the same each time, on each machine, and for each program whatever stands beside it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from adjoint import testing
from adjoint.records import replace

THOROUGH = os.environ.get("ADJOINT_THOROUGH", "") not in ("", "0")
"""Whether nothing is left out."""


SHARES = {
    "tests/api/": 2,
    "tests/array_libraries/": 2,
    "tests/declarations/": 2,
    "tests/differentiation/": 4,
    "tests/dispatch/test_persistent_cache.py": 3,
    "tests/frontend/": 2,
    "tests/gradbench/": 8,
    "tests/native/": 12,
    "tests/programs/test_calls_kept.py": 8,
    "tests/regressions/test_images_between_their_points.py": 3,
    "tests/regressions/test_sparse_matrices.py": 4,
    "tests/regressions/test_unknown_kinds_in_loops.py": 6,
    "tests/regressions/": 3,
    "tests/rules/test_arguments_taken_as_given.py": 2,
    "tests/rules/test_definitions.py::test_definitions_can_be": 8,
    "tests/rules/test_distributions.py": 2,
    "tests/rules/test_interpolators.py": 4,
    "tests/rules/test_layouts.py::test_definitions_lay": 4,
    "tests/rules/test_layouts.py::test_writes": 6,
    "tests/rules/test_operands.py": 4,
    "tests/rules/test_scattered.py": 3,
    "tests/rules/test_scipy_as_called.py": 4,
    "tests/rules/test_selections.py": 2,
    "tests/rules/test_solvers.py": 6,
    "tests/rules/test_special_functions.py": 2,
    "tests/rules/test_statistical_tests.py": 4,
    "tests/rules/test_views.py": 2,
    "tests/scipy_calls/": 4,
}
"""Where machine code is compiled, or much is checked again: of how many variants of a test one runs each time; the
first that fits counts.

What a module chooses by itself counts besides. Of each test one variant is left; tests without variants stay, and
those marked ``each_time``.
"""


IN_DEPTH = pytest.mark.skipif(not THOROUGH, reason="`make thorough` runs it: a second look at what other tests see")
"""Tests of forms that only few derivatives take, or whose like every run tries."""


def left_out(tests: Sequence[str]) -> set[str]:
    """The variants of tests, named by file and ``test[variant]``, that do not run now."""
    out: set[str] = set()
    one_left: set[str] = set()
    for name in sorted(tests, key=lambda name: zlib.crc32(name.encode())):
        shares = next((share for place, share in SHARES.items() if name.startswith(place)), 1)
        test, bracket, _ = name.partition("[")
        if bracket and test in one_left and not is_chosen(name, shares):
            out.add(name)
        one_left.add(test)
    return out


def is_chosen(name: str, shares: int) -> bool:
    """Whether something runs now, where one of so many does each time."""
    return THOROUGH or zlib.crc32(name.encode()) % shares == 0


def check_by_turns(name: str, f: Callable[..., Any], args: Sequence[Any], order: int = 2, **options: Any) -> None:
    """Checks derivatives as `check_grads` does: of all in reverse mode, of half in forward mode, too.

    Of a twelfth those of one derivative are checked at second order: of the gradient, or of the directional derivative.
    """
    problem, how = testing._posed(f, args, **options)
    is_forward_left_out = "rev" in how.modes and not is_chosen(name, 2)
    testing._check_first_order(problem, replace(how, modes=("rev",)) if is_forward_left_out else how)
    turns: dict[int, testing.Mode] = {0: "rev", 1: "fwd"}
    turn = turns.get(zlib.crc32(name.encode()) % 24)
    if order < 2:
        return
    if THOROUGH:
        testing._check_second_order(problem, how, how.modes)
    elif turn is not None:
        testing._check_second_order(problem, how, (turn,) if turn in how.modes else how.modes)
