"""Programs whose derivatives' text for Numba is kept: evals of GradBench, stencils, and programs of the corpus.

``TEXTS`` are kept whole beside this file; of the others of the corpus, a few of each kind, a digest is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import adjoint as ad
from golden.machine_texts import machine_text, text_of_case
from programs.registry import collect

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)

from benchmarks.gradbench import inputs  # noqa: E402
from benchmarks.gradbench.build import Build  # noqa: E402
from benchmarks.gradbench.contestants import FUNCTIONS  # noqa: E402
from benchmarks.gradbench.evals import functions_of  # noqa: E402
from benchmarks.kernels.small import KERNELS as KERNELS  # noqa: E402
from benchmarks.kernels.small import STENCILS, Kernel  # noqa: E402

EVALS: dict[str, Callable[[], dict[str, Any]]] = {
    "gmm": lambda: inputs.gmm(3, 4, 7),
    "ba": lambda: inputs.ba(3, 4, 7),
    "lstm": lambda: inputs.lstm(2, 3, 6),
    "ht": lambda: inputs.hand(6, 8, in_triangles=True),
    "ode": lambda: inputs.ode(6, 5),
    "lse": lambda: inputs.lse(5),
    "det": lambda: inputs.det(4),
    "llsq": lambda: inputs.llsq(5, 8),
    "kmeans": lambda: inputs.kmeans(3, 20, 2),
}
PROGRAMS = """
array_algorithms.cholesky_by_columns array_algorithms.haar_wavelet_in_place array_algorithms.gauss_seidel
array_idioms.merge_sort_with_a_workspace array_idioms.layers_updated_in_place array_aliases.augment_reads_itself
branches.nested_branches calls.rnn closures.composed_in_a_loop collections_.sums_of_groups
comprehensions.log_sum_exp dataclasses_.pendulum generators.itertools_over_generators higher_order.ode_with_callback
indexing.blocks kernels.attention kernels.hidden_markov_forward lists_append.bubble_sort loops_range.rk4
loops_while.power_iteration mutation.list_of_objects_given nested.viterbi_like numpy_linalg.kalman_like_scan
numpy_reductions.softmax recursion.divide_and_conquer recursion_on_memory.recursive_transform
stores_augmented.slices stores_by_index.repeated_indices_augmented_count_once views.blocks_of_a_matrix
work_arrays.steps_with_new_arrays
""".split()
CASES = {case.name: case for case in collect()}


def text_of_eval(name: str) -> str:
    """The texts of the derivative of an eval."""
    function = functions_of(name, Build())[FUNCTIONS.get(name, ("primal", "gradient"))[1]]
    return machine_text(function.run, *function.prepare(EVALS[name]()))


def text_of_kernel(kernel: Kernel) -> str:
    """The text of the gradient of a kernel."""
    return machine_text(ad.grad(kernel.function, kernel.wrt, native=True), *kernel.given(kernel.small))


TEXTS: dict[str, Callable[[], str]] = {
    **{f"eval_{name}": partial(text_of_eval, name) for name in EVALS},
    **{f"stencil_{name}": partial(text_of_kernel, kernel) for name, kernel in STENCILS.items()},
    **{name: partial(text_of_case, CASES[name]) for name in PROGRAMS},
}
DIGESTS = [name for name in sorted(CASES) if name not in PROGRAMS and crc32(name.encode()) % 16 == 0]
