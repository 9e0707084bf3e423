"""What is done to a function on its way to a derivative: all pipelines, as lists of names. Start reading here.

The front end lowers a user's function to the IR (:mod:`adjoint.ir.nodes`). From there on everything is a pass: a
function from IR to IR, with a name, and a home where it is defined. ``docs/passes.md`` has a paragraph on each. The
passes of what a derivative does not need are not even imported.

``ADJOINT_CHECK=1`` verifies the IR after each pass, ``ADJOINT_SKIP=fuse-loops,vector-math`` leaves passes out, and
``ad.stages(f, ..., native=True)`` shows what each one does.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.passes import DRIVERS, PASSES, Context
from adjoint.target import SKIPPED

CLEANUP = ("dead-code", "value-numbering", "merge-branches")
"""To a fixed point; in other pipelines ``cleanup`` stands for it."""

NORMAL_FORM = ("normalize", "complex-stores")
"""The form that the reverse sweep is read off."""

PREPARE = (
    "copy-written-arguments",
    *NORMAL_FORM,
    "expand-surgery",
    "exceptions-to-values",
    "tag-handlers",
    "unite-memory",
)
"""Before a recursive function is split in a primal and an adjoint."""

PREPARE_WHOLE = (*PREPARE, "redundant-fields", "redundant-loads", "privatize-arrays")
"""Before any other function is reversed."""

REVERSE = (*PREPARE_WHOLE, "reverse")
"""From a function to its values and cotangents."""

FORWARD = ("dead-code", "forward")
"""From a function to its values and tangents."""

EXPAND = ("expand-derivatives",)
"""From what was lowered, with derivatives as names of what is to be derived, to one function."""

SPECULATE = ("drop-supports",)
"""From a derivative to one that is right as long as its results are numbers, and faster."""

PLAIN = ("plain-arithmetic",)
"""From there to one that is right as long as NumPy notes no error either."""

TOUCH_UP = (
    "cleanup",
    "dead-stores",
    "shape-only-residuals",
    "cleanup",
    "shape-only-results",
    "invariant-shapes",
    "kept-shapes",
    "destination-passing",
    "array-peepholes",
    "cleanup",
    "in-place-updates",
    "shared-factors",
    "outer-signs",
    "cleanup",
    "redundant-copies",
    "dot-products",
    "cleanup",
    "rank-one-updates",
    "early-checks",
)
"""From there to what is printed for people."""

FINISH = (*EXPAND, *TOUCH_UP)
"""From what was lowered to what is printed for people."""

SPECULATING = ("grad", "value_and_grad", "jvp", "hvp")
"""The operators whose results are all that a call leaves behind: with them a derivative may run twice."""


def finishing(operator: str) -> tuple[str, ...]:
    """What is done to what was lowered for an operator."""
    return (*EXPAND, *SPECULATE, *PLAIN, *TOUCH_UP) if operator in SPECULATING else FINISH


LEGALIZE = (
    "drop-error-states",
    "powers-as-floats",
    "tuple-records",
    "joined-cotangents",
    "plain-clips",
    "undefined-to-empty",
    "overlapping-updates",
    "rematerialize",
    "tape-motion",
    "fuse-arrays",
    "normalize-indices",
    "explicit-dtypes",
    "sized-integers",
    "tapes-to-arrays",
)
"""From a finished function to loops over numbers."""

LOOPS = (
    "unite-views",
    "unroll-and-jam",
    "reuse-storage",
    "hoist-allocations",
    "reverse-loops",
    "split-index-sets",
    "initialize-by-first-sum",
    "covered-initialization",
    "fuse-loops",
    "scatter-to-gather",
    "promote-to-registers",
    "cleanup",
    "nonnegative-indices",
)
"""Loops as machine code likes them."""

NATIVE = (
    "drop-error-states",
    "handlers-as-python",
    "agreeing-extents",
    "extents-of-calls",
    "agreeing-shapes",
    "sums-in-place",
    "delayed-products",
    "numpy-layouts",
    "row-bounds",
    *LEGALIZE,
    *LOOPS,
    "iterate-by-next",
    "inline-recursion",
    "compare-extents",
    "recursion-depth",
    "arithmetic-checks",
    "defer-checks",
    "vector-math",
)
"""From a finished function to what is written as LLVM IR."""

HELPERS = (
    *LEGALIZE,
    "cleanup",
    "nonnegative-indices",
    "compare-extents",
)
"""From the text of a helper to what is written as LLVM IR."""

THREADS = (*LEGALIZE, "unite-views", "reverse-loops")
"""From a finished function to the loops of which some run in chunks side by side."""

SEVERAL_DIRECTIONS = ("sparse-tangents",)
"""For a derivative that is swept in several directions, before what they share is taken out."""

VECTOR_DIRECTIONS = (*LEGALIZE, "elements-of-rows", "vectorize-directions", "rows-of-products")
"""From a sweep in one direction to a sweep of a vector of them."""

BATCH_DIRECTIONS = ("batch-directions",)
"""From a sweep in one direction to one of a few, one after another."""


def run(pipeline: Sequence[str], function: ir.Function, context: Context) -> ir.Function:
    """Applies passes in order. What a cleanup has made is not cleaned up again."""
    clean = None
    for name in pipeline:
        step = PASSES[name]
        if not step.when(context) or (name in DRIVERS and function is clean):
            continue
        function = step.apply(function, context)
        if name in DRIVERS:
            clean = function
    return function


def check_skipped(names: frozenset[str]) -> None:
    """Refuses to leave out what is no pass, or is needed.

    Raises
    ------
    ValueError
        With the names of the passes that can be left out.
    """
    optional = [name for name, step in PASSES.items() if not step.needed]
    wrong = sorted(names.difference(optional))
    if wrong:
        kind = "is needed" if wrong[0] in PASSES else "is no pass"
        raise ValueError(f"ADJOINT_SKIP: {wrong[0]!r} {kind}; these can be left out: {', '.join(optional)}")


check_skipped(SKIPPED)
