"""The table of passes: under its name where each is defined, what it is given, and where it is done.

The pipelines that they make up are in :mod:`adjoint.pipeline`.
"""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.ir.checked import checked
from adjoint.records import dataclass
from adjoint.target import PYTHON, Target

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.residuals.notes import Notes
    from adjoint.native.compile.agreements import Agreement


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
    agreeing
        Extents of parameters that agree.
    directions, with_value, count
        For sweeps: the parameters that are the direction, whether the value of the function is given too, and how many
        directions there are.
    """

    target: Target = PYTHON
    wrt: Sequence[int] = ()
    outputs: Sequence[int] = ()
    shared: frozenset[ir.Var] = frozenset()
    notes: Notes | None = None
    keep_derived: bool = False
    handed: frozenset[ir.Storage] | None = None
    by_rows: frozenset[ir.Var] = frozenset()
    agreeing: Sequence[Agreement] = ()
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

    def apply(self, function: ir.Function, context: Context) -> ir.Function:
        """The function as the pass makes it; verified where that is asked for."""
        given = self.given(context)
        step = _resolved(self.home)
        if self.everywhere:
            everywhere = _resolved("differentiation.definitions:everywhere")
            return apply(
                self.name, lambda whole: everywhere(whole, lambda f: step(f, *given)), function, context.target
            )
        return apply(self.name, (lambda f: step(f, *given)) if given else step, function, context.target)


@functools.cache
def _resolved(home: str) -> Callable[..., Any]:
    module, _, name = home.partition(":")
    return getattr(importlib.import_module(f"adjoint.{module}"), name)  # type: ignore[no-any-return]


def apply(name: str, step: Callable[[ir.Function], ir.Function], function: ir.Function, target: Target) -> ir.Function:
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


DRIVERS = ("cleanup",)
"""Passes that are told besides those that they consist of."""


def _for_machine(context: Context) -> bool:
    return context.target.machine


def _for_numpy(context: Context) -> bool:
    return not context.target.machine and context.target.library is None


def _target(context: Context) -> tuple[Any, ...]:
    return (context.target,)


def _problem(context: Context) -> tuple[Any, ...]:
    return context.wrt, context.outputs, context.shared


PASSES = {
    step.name: step
    for step in (
        # the driver of the three others knows what they tell it besides: when there is nothing left to do
        Pass("cleanup", "optimize.simplify:simplify", given=_target, everywhere=True),
        Pass("dead-code", "optimize.dead_code:remove_dead_code"),
        Pass("value-numbering", "optimize.value_numbering:rewrite"),
        Pass("merge-branches", "optimize.merge_branches:merge_choices"),
        # reverse mode
        Pass("copy-written-arguments", "differentiation.reverse.prepare:with_written_copied", needed=True),
        Pass("normalize", "differentiation.reverse.prepare:normalized", needed=True),
        Pass("complex-stores", "differentiation.reverse.prepare:with_complex_stores", needed=True),
        Pass(
            "expand-surgery",
            "differentiation.reverse.prepare:with_surgery_done",
            given=lambda c: (c.wrt, c.outputs, c.shared, c.target),
            needed=True,
        ),
        Pass(
            "exceptions-to-values",
            "differentiation.reverse.prepare:with_exceptions_as_values",
            given=_problem,
            needed=True,
        ),
        Pass("tag-handlers", "differentiation.reverse.normalize:with_ways", needed=True),
        Pass("unite-memory", "differentiation.reverse.memory.storage_classes:united", needed=True),
        Pass("redundant-fields", "optimize.redundant_loads:without_repeated_fields"),
        Pass("redundant-loads", "optimize.redundant_loads:without_repeated_loads", when=_for_machine),
        Pass("privatize-arrays", "differentiation.reverse.residuals.privatization:sink_work_arrays", when=_for_machine),
        Pass(
            "reverse",
            "differentiation.reverse.build:reversed_whole",
            given=lambda c: (c.wrt, c.outputs, c.notes, c.target),
            needed=True,
        ),
        # forward mode
        Pass(
            "forward",
            "differentiation.forward.forward:with_tangents",
            given=lambda c: (c.wrt, c.outputs, c.keep_derived, c.target),
            needed=True,
        ),
        # what people read
        Pass(
            "expand-derivatives",
            "differentiation.reverse.calls.expansion:expand",
            given=lambda c: (c.notes, c.target),
            needed=True,
        ),
        Pass("drop-supports", "differentiation.zeros.speculation:without_supports"),
        Pass(
            "plain-arithmetic",
            "differentiation.zeros.plain_arithmetic:with_plain_arithmetic",
            when=lambda c: not c.target.machine,
        ),
        Pass("dead-stores", "optimize.dead_stores:without_dead_stores", everywhere=True),
        Pass(
            "shape-only-residuals",
            "differentiation.reverse.residuals.shapes.shape_only:without_idle_shapes",
            everywhere=True,
        ),
        Pass(
            "shape-only-results",
            "differentiation.reverse.residuals.shapes.unread_results:without_unread_results",
            everywhere=True,
        ),
        Pass(
            "invariant-shapes",
            "differentiation.reverse.residuals.shapes.invariant_shapes:without_equal_shapes",
            everywhere=True,
        ),
        Pass(
            "kept-shapes",
            "differentiation.reverse.residuals.shapes.kept_shapes:with_kept_shapes",
            everywhere=True,
        ),
        Pass("destination-passing", "differentiation.destination_passing:with_destinations"),
        Pass("array-peepholes", "optimize.touch_up.array_peepholes:polish", everywhere=True),
        Pass("in-place-updates", "differentiation.finish:with_direct_updates", everywhere=True),
        Pass(
            "shared-factors",
            "differentiation.finish:with_factors_shared",
            when=lambda c: c.target.library is None,
            everywhere=True,
        ),
        Pass("outer-signs", "differentiation.finish:with_outer_signs", everywhere=True),
        Pass("redundant-copies", "differentiation.finish:without_idle_conversions", everywhere=True),
        Pass(
            "dot-products",
            "differentiation.finish:with_sums_as_products",
            when=_for_numpy,
            everywhere=True,
        ),
        Pass(
            "rank-one-updates",
            "differentiation.finish:with_products_added_in_place",
            when=_for_numpy,
            everywhere=True,
        ),
        Pass(
            "early-checks",
            "optimize.touch_up.early_checks:with_early_checks",
            when=lambda c: not c.target.machine,
        ),
        # from finished functions to loops over numbers
        Pass("drop-error-states", "native.legalize.errstate:without_silencing", needed=True),
        Pass(
            "handlers-as-python",
            "native.legalize.handlers:with_handlers_by_python",
            given=lambda c: (c.target,),
            needed=True,
        ),
        Pass(
            "agreeing-extents",
            "native.legalize.agreeing_extents:with_extents_agreeing",
            given=lambda c: (c.agreeing,),
        ),
        Pass("extents-of-calls", "native.legalize.calls.extents:with_extents_told"),
        Pass(
            "agreeing-shapes",
            "differentiation.reverse.residuals.shapes.shape_only:without_idle_shapes",
            when=lambda c: bool(c.agreeing),
            everywhere=True,
        ),
        Pass("sums-in-place", "native.array_programs.sums_in_place:with_sums_in_place", everywhere=True),
        Pass("delayed-products", "native.array_programs.delayed_products:with_delayed_products", everywhere=True),
        Pass(
            "numpy-layouts",
            "native.legalize.arrays.layouts:with_numpys_layouts",
            given=lambda c: (c.by_rows,),
            needed=True,
        ),
        Pass(
            "row-bounds",
            "native.legalize.arrays.extent_checks:with_rows_checked",
            when=lambda c: c.target.checked.at_once,
            needed=True,
        ),
        Pass("powers-as-floats", "native.legalize.numbers.powers:with_fractions", needed=True),
        Pass("tuple-records", "native.legalize.calls.records:with_records", needed=True),
        Pass("joined-cotangents", "native.legalize.arrays.joined_cotangents:with_slices"),
        Pass("plain-clips", "native.legalize.numbers.clips:with_plain_clips"),
        Pass("undefined-to-empty", "native.legalize.undefined_values:with_empty_stand_ins", needed=True),
        Pass("overlapping-updates", "native.legalize.arrays.overlapping_updates:without_overlaps", needed=True),
        Pass(
            "rematerialize",
            "native.array_programs.rematerialization:with_values_rematerialized",
            everywhere=True,
        ),
        Pass("tape-motion", "native.legalize.tape_motion:with_tapes_moved", everywhere=True),
        Pass("fuse-arrays", "native.fusion:fuse", everywhere=True),
        Pass("normalize-indices", "native.legalize.arrays.indices:with_plain_indices", needed=True),
        Pass("explicit-dtypes", "native.legalize.numbers.promotions:with_dtypes", needed=True),
        Pass("sized-integers", "native.legalize.numbers.small_integers:with_whole_numbers_of_their_size", needed=True),
        Pass("tapes-to-arrays", "differentiation.reverse.residuals.tapes:as_arrays", everywhere=True),
        # loops
        Pass("unite-views", "native.legalize.arrays.united_views:with_views_united", everywhere=True, needed=True),
        Pass("unroll-and-jam", "native.loops.vectorize.unroll_and_jam:jammed", everywhere=True),
        Pass("reuse-storage", "native.loops.storage_reuse:with_storage_reused", everywhere=True),
        Pass("hoist-allocations", "native.loops.allocation_hoisting:without_allocations_in_loops", everywhere=True),
        Pass("reverse-loops", "native.loops.loop_reversal:forwards", everywhere=True),
        Pass("split-index-sets", "native.loops.index_sets:with_index_sets_split", everywhere=True),
        Pass("initialize-by-first-sum", "native.loops.first_sums:with_first_sums_stored", everywhere=True),
        Pass("covered-initialization", "native.loops.overwritten_zeros:without_overwritten_zeros", everywhere=True),
        Pass("fuse-loops", "native.loops.merging.loop_fusion:with_loops_in_step", everywhere=True),
        Pass("scatter-to-gather", "native.loops.scatter_to_gather:with_neighbours_summed", everywhere=True),
        Pass(
            "promote-to-registers",
            "native.loops.register_promotion:with_places_as_variables",
            given=lambda c: (c.handed, c.target),
            everywhere=True,
        ),
        Pass("nonnegative-indices", "native.loops.nonnegative_indices:with_unsigned_indices", everywhere=True),
        # what machine code checks
        Pass("inline-recursion", "native.legalize.calls.inlining:unfolded", everywhere=True),
        Pass("iterate-by-next", "native.legalize.iterations:with_items_asked_for", needed=True),
        Pass("compare-extents", "native.legalize.arrays.extent_checks:with_extents_compared", needed=True),
        Pass("recursion-depth", "native.legalize.calls.depth:with_depth_checked", needed=True),
        Pass(
            "arithmetic-checks",
            "native.legalize.numbers.arithmetic_checks:with_checks",
            given=lambda c: (c.target.checked.functions,),
            when=lambda c: c.target.checked.divisions or c.target.checked.functions,
            needed=True,
        ),
        Pass(
            "defer-checks",
            "native.legalize.numbers.deferred_checks:with_deferred_checks",
            given=lambda c: (c.handed,),
            when=lambda c: not c.target.checked.at_once,
            everywhere=True,
        ),
        Pass("vector-math", "native.vectors.calls:with_vector_calls", everywhere=True),
        # several directions
        Pass(
            "sparse-tangents",
            "differentiation.directions.sparse_tangents:with_zeros_skipped",
            given=lambda c: (c.directions,),
        ),
        Pass("elements-of-rows", "native.array_programs.elements_of_rows:with_elements_of_rows"),
        Pass(
            "vectorize-directions",
            "differentiation.directions.simd:in_bundles",
            given=lambda c: (c.directions, c.with_value),
            needed=True,
        ),
        Pass("rows-of-products", "native.array_programs.rows_of_products:with_rows_of_products"),
        Pass(
            "batch-directions",
            "differentiation.directions.lanes:in_lanes",
            given=lambda c: (c.directions, c.count),
            needed=True,
        ),
    )
}
"""All passes, by name."""
