"""What is done to a function on its way to a derivative: all pipelines, as lists of names. Start reading here.

The front end lowers a user's function to the IR (:mod:`adjoint.ir.nodes`). From there on everything is a pass: a
function from IR to IR, with a name, and a home where it is defined. ``docs/passes.md`` has a paragraph on each. The
passes of what a derivative does not need are not even imported.

``ADJOINT_CHECK=1`` verifies the IR after each pass, ``ADJOINT_SKIP=fuse-loops,vector-math`` leaves passes out, and
``ad.stages(f, ..., native=True)`` shows what each one does.
"""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adjoint.ir.nodes import Function, Var
from adjoint.ir.types import Storage
from adjoint.records import dataclass
from adjoint.transform.passes import checked
from adjoint.transform.target import PYTHON, SKIPPED, Target

if TYPE_CHECKING:
    from adjoint.transform.reverse.notes import Notes

# The pipelines

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

PREPARE_WHOLE = (*PREPARE, "store-to-load-forwarding", "privatize-arrays")
"""Before any other function is reversed."""

REVERSE = (*PREPARE_WHOLE, "reverse")
"""From a function to its values and cotangents."""

FORWARD = ("dead-code", "forward")
"""From a function to its values and tangents."""

EXPAND = ("expand-derivatives",)
"""From what was lowered, with derivatives as names of what is to be derived, to one function."""

SPECULATE = ("drop-supports",)
"""From a derivative to one that is right as long as its results are numbers, and faster."""

TOUCH_UP = (
    "cleanup",
    "shape-only-residuals",
    "cleanup",
    "array-peepholes",
    "cleanup",
    "in-place-updates",
    "cleanup",
    "redundant-copies",
    "cleanup",
    "early-checks",
)
"""From there to what is printed for people."""

FINISH = (*EXPAND, *TOUCH_UP)
"""From what was lowered to what is printed for people."""

SPECULATING = ("grad", "value_and_grad", "jvp", "hvp")
"""The operators whose results are all that a call leaves behind: with them a derivative may run twice."""


def finishing(operator: str) -> tuple[str, ...]:
    """What is done to what was lowered for an operator."""
    return (*EXPAND, *SPECULATE, *TOUCH_UP) if operator in SPECULATING else FINISH


LEGALIZE = (
    "drop-error-states",
    "powers-as-floats",
    "uniform-rows",
    "tuple-records",
    "plain-copies",
    "plain-clips",
    "undefined-to-empty",
    "overlapping-updates",
    "fuse-arrays",
    "normalize-indices",
    "explicit-dtypes",
    "sized-integers",
    "tapes-to-arrays",
)
"""From a finished function to loops over numbers."""

LOOPS = (
    "unroll-and-jam",
    "hoist-allocations",
    "dead-initialization",
    "reverse-loops",
    "initialize-by-first-sum",
    "covered-initialization",
    "hoist-indices",
    "fuse-loops",
    "scatter-to-gather",
    "promote-to-registers",
    "cleanup-everywhere",
    "nonnegative-indices",
)
"""Loops as machine code likes them."""

NATIVE = (
    "numpy-layouts",
    "row-bounds",
    *LEGALIZE,
    *LOOPS,
    "inline-recursion",
    "compare-extents",
    "recursion-depth",
    "arithmetic-checks",
    "negative-powers",
    "plain-functions",
    "plain-masks",
    "call-python",
    "defer-checks",
    "vector-math",
    "split-functions",
    "raised-numbers",
    "plain-places",
)
"""From a finished function to what is printed for Numba."""

THREADS = (*LEGALIZE, "reverse-loops")
"""From a finished function to the loops of which some run in chunks side by side."""

SEVERAL_DIRECTIONS = ("sparse-tangents", "narrow-products")
"""For a derivative that is swept in several directions, before what they share is taken out."""

VECTOR_DIRECTIONS = (*LEGALIZE, "elements-of-rows", "vectorize-directions", "rows-of-products")
"""From a sweep in one direction to a sweep of a vector of them."""

BATCH_DIRECTIONS = ("batch-directions",)
"""From a sweep in one direction to one of a few, one after another."""


# What they are made of


@dataclass(frozen=True, slots=True)
class Context:
    """What passes may ask for besides the function.

    Attributes
    ----------
    target
        What the derivative is made for.
    wrt, outputs
        The parameters and the results that are differentiated.
    shared
        Parameters whose shadows the caller has.
    notes
        Takes down what loops keep.
    keep_derived
        Whether forward mode leaves reverse derivatives that are called as names.
    handed
        Memory that others see; None for that of the parameters.
    by_rows
        Parameters that are arrays laid out by rows.
    directions, with_value, count
        For sweeps: the parameters that are the direction, whether the value of the function is given too, and how many
        directions there are.
    """

    target: Target = PYTHON
    wrt: Sequence[int] = ()
    outputs: Sequence[int] = ()
    shared: frozenset[Var] = frozenset()
    notes: Notes | None = None
    keep_derived: bool = False
    handed: frozenset[Storage] | None = None
    by_rows: frozenset[Var] = frozenset()
    directions: tuple[int, ...] = ()
    with_value: bool = False
    count: int = 1


def _nothing(context: Context) -> tuple[Any, ...]:
    return ()


def _always(context: Context) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Pass:
    """A function from IR to IR with a name.

    Attributes
    ----------
    name
        What pipelines call it.
    home
        The module in Adjoint, and the function in it.
    given
        What the function takes besides the function of the IR.
    when
        Where it is done at all.
    everywhere
        Whether it is done to recursive functions that are called, too.
    needed
        Whether derivatives, or machine code, would be wrong or missing without it; it cannot be left out.
    """

    name: str
    home: str
    given: Callable[[Context], tuple[Any, ...]] = _nothing
    when: Callable[[Context], bool] = _always
    everywhere: bool = False
    needed: bool = False

    def apply(self, function: Function, context: Context) -> Function:
        """The function as the pass makes it; verified where that is asked for."""
        given = self.given(context)
        step = _resolved(self.home)
        if self.everywhere:
            everywhere = _resolved("transform.definitions:everywhere")
            return apply(
                self.name, lambda whole: everywhere(whole, lambda f: step(f, *given)), function, context.target
            )
        return apply(self.name, (lambda f: step(f, *given)) if given else step, function, context.target)


@functools.cache
def _resolved(home: str) -> Callable[..., Any]:
    module, _, name = home.partition(":")
    return getattr(importlib.import_module(f"adjoint.{module}"), name)  # type: ignore[no-any-return]


def apply(name: str, step: Callable[[Function], Function], function: Function, target: Target) -> Function:
    """What a step makes of a function, unless it is left out: verified where that is asked for, and told."""
    if target.skipped and name in target.skipped:
        return function
    watch = target.watch
    if watch is None:
        made = step(function)
        return function if made is function else checked(made, name)
    start = time.perf_counter()
    made = step(function)
    watch(name, function, made, time.perf_counter() - start)
    return made if made is function else checked(made, name)


DRIVERS = ("cleanup", "cleanup-everywhere")
"""Passes that are told once more than those that they consist of."""


def run(pipeline: Sequence[str], function: Function, context: Context) -> Function:
    """Applies passes in order. What a cleanup has made is not cleaned up again."""
    clean = None
    for name in pipeline:
        step = PASSES[name]
        if not step.when(context) or (name == "cleanup" and function is clean):
            continue
        function = step.apply(function, context)
        if name == "cleanup":
            clean = function
    return function


def _for_machine(context: Context) -> bool:
    return context.target.machine


def _problem(context: Context) -> tuple[Any, ...]:
    return context.wrt, context.outputs, context.shared


PASSES = {
    step.name: step
    for step in (
        # the driver of the three others knows what they tell it besides: when there is nothing left to do
        Pass("cleanup", "transform.simplify:simplify", given=lambda c: (c.target,)),
        Pass("cleanup-everywhere", "transform.simplify:simplify", given=lambda c: (c.target,), everywhere=True),
        Pass("dead-code", "transform.dead_code:remove_dead_code"),
        Pass("value-numbering", "transform.rewrite:rewrite"),
        Pass("merge-branches", "transform.merge:merge_choices"),
        # reverse mode
        Pass("copy-written-arguments", "transform.reverse.prepare:with_written_copied", needed=True),
        Pass("normalize", "transform.reverse.prepare:normalized", needed=True),
        Pass("complex-stores", "transform.reverse.prepare:with_complex_stores", needed=True),
        Pass(
            "expand-surgery",
            "transform.reverse.prepare:with_surgery_done",
            given=lambda c: (c.wrt, c.outputs, c.shared, c.target),
            needed=True,
        ),
        Pass(
            "exceptions-to-values", "transform.reverse.prepare:with_exceptions_as_values", given=_problem, needed=True
        ),
        Pass("tag-handlers", "transform.reverse.normal:with_ways", needed=True),
        Pass("unite-memory", "transform.reverse.flows:united", needed=True),
        Pass("store-to-load-forwarding", "transform.forwarding:with_known_places", when=_for_machine),
        Pass("privatize-arrays", "transform.reverse.sinking:sink_work_arrays", when=_for_machine),
        Pass(
            "reverse",
            "transform.reverse.build:reversed_whole",
            given=lambda c: (c.wrt, c.outputs, c.notes, c.target),
            needed=True,
        ),
        # forward mode
        Pass(
            "forward",
            "transform.forward:with_tangents",
            given=lambda c: (c.wrt, c.outputs, c.keep_derived, c.target),
            needed=True,
        ),
        # what people read
        Pass(
            "expand-derivatives",
            "transform.reverse.nested:expand",
            given=lambda c: (c.notes, c.target),
            needed=True,
        ),
        Pass("drop-supports", "transform.speculation:without_supports"),
        Pass("shape-only-residuals", "transform.shapes_alone:without_idle_shapes"),
        Pass("array-peepholes", "transform.polish:polish"),
        Pass("in-place-updates", "transform.finish:with_direct_updates"),
        Pass("redundant-copies", "transform.finish:without_idle_conversions"),
        Pass(
            "early-checks",
            "transform.early_checks:with_early_checks",
            when=lambda c: not c.target.machine,
        ),
        # from finished functions to loops over numbers
        Pass("numpy-layouts", "backend.native_layouts:with_numpys_layouts", given=lambda c: (c.by_rows,), needed=True),
        Pass(
            "row-bounds",
            "backend.native_extents:with_rows_checked",
            when=lambda c: c.target.checked.at_once,
            needed=True,
        ),
        Pass("drop-error-states", "backend.native_silence:without_silencing", needed=True),
        Pass("powers-as-floats", "backend.native_powers:with_fractions", needed=True),
        Pass("uniform-rows", "backend.native_displays:with_rows_of_one_kind", needed=True),
        Pass("tuple-records", "backend.native_records:with_records", needed=True),
        Pass("plain-copies", "backend.native_copies:with_plain_copies", needed=True),
        Pass("plain-clips", "backend.native_clips:with_plain_clips"),
        Pass("undefined-to-empty", "backend.native_undefined:with_empty_stand_ins", needed=True),
        Pass("overlapping-updates", "backend.overlaps:without_overlaps", needed=True),
        Pass("fuse-arrays", "transform.fusion:fuse", everywhere=True),
        Pass("normalize-indices", "backend.native_indices:with_plain_indices", needed=True),
        Pass("explicit-dtypes", "backend.native_numbers:with_dtypes", needed=True),
        Pass("sized-integers", "backend.native_whole_numbers:with_whole_numbers_of_their_size", needed=True),
        Pass("tapes-to-arrays", "transform.tapes:as_arrays", everywhere=True),
        # loops
        Pass("unroll-and-jam", "transform.loops.jamming:jammed", everywhere=True),
        Pass("hoist-allocations", "transform.loops.hoisting:without_allocations_in_loops", everywhere=True),
        Pass("dead-initialization", "transform.loops.clears:without_idle_clears", everywhere=True),
        Pass("reverse-loops", "transform.loops.order:forwards", everywhere=True),
        Pass("initialize-by-first-sum", "transform.loops.first_sums:with_first_sums_stored", everywhere=True),
        Pass("covered-initialization", "transform.loops.overwritten:without_overwritten_zeros", everywhere=True),
        Pass("hoist-indices", "transform.loops.invariants:with_indices_before_loops", everywhere=True),
        Pass("fuse-loops", "transform.loops.in_step:with_loops_in_step", everywhere=True),
        Pass("scatter-to-gather", "transform.loops.neighbours:with_neighbours_summed", everywhere=True),
        Pass("promote-to-registers", "transform.loops.promotion:with_places_as_variables", everywhere=True),
        Pass("nonnegative-indices", "transform.loops.naturals:with_unsigned_indices", everywhere=True),
        # what Numba is told
        Pass("inline-recursion", "backend.unfolding:unfolded", everywhere=True),
        Pass("compare-extents", "backend.native_extents:with_extents_compared", needed=True),
        Pass("recursion-depth", "backend.native_depth:with_depth_checked", needed=True),
        Pass(
            "arithmetic-checks",
            "backend.native_checks:with_checks",
            given=lambda c: (c.target.checked.functions,),
            when=lambda c: c.target.checked.divisions or c.target.checked.functions,
            needed=True,
        ),
        Pass("negative-powers", "backend.native_powers:with_quotients", needed=True),
        Pass("plain-functions", "backend.native_plain:with_plain_functions"),
        Pass("plain-masks", "backend.native_masks:with_plain_masks"),
        Pass("call-python", "backend.native_calls:with_calls_of_python", needed=True),
        Pass(
            "defer-checks",
            "backend.deferred_checks:with_deferred_checks",
            given=lambda c: (c.handed,),
            when=lambda c: not c.target.checked.at_once,
            everywhere=True,
        ),
        Pass("vector-math", "backend.vector_calls:with_vector_calls", everywhere=True),
        Pass("split-functions", "transform.parts:in_parts", everywhere=True),
        Pass("raised-numbers", "backend.native_powers:with_raised_numbers", needed=True),
        Pass("plain-places", "backend.native_places:with_plain_places"),
        # several directions
        Pass("sparse-tangents", "transform.skipping:with_zeros_skipped", given=lambda c: (c.directions,)),
        Pass("narrow-products", "transform.narrowing:with_narrow_products"),
        Pass("elements-of-rows", "transform.elements_of_rows:with_elements_of_rows"),
        Pass(
            "vectorize-directions",
            "transform.bundles:in_bundles",
            given=lambda c: (c.directions, c.with_value),
            needed=True,
        ),
        Pass("rows-of-products", "transform.rows_of_products:with_rows_of_products"),
        Pass(
            "batch-directions",
            "transform.lanes:in_lanes",
            given=lambda c: (c.directions, c.count),
            needed=True,
        ),
    )
}
"""All passes, by name."""


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
