"""A sweep of several directions side by side gives what one sweep for each gives."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.api.jvp_vjp import checked_tangents, specialized_jvp
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.differentiation.directions.dependence import Inseparable
from adjoint.differentiation.directions.invariant_code import beforehand
from adjoint.differentiation.directions.simd import in_bundles
from adjoint.differentiation.directions.sparse_tangents import with_zeros_skipped
from adjoint.frontend.entry.captured import differentiated
from adjoint.native.array_programs.elements_of_rows import with_elements_of_rows
from adjoint.native.array_programs.rows_of_products import with_rows_of_products
from adjoint.runtime.arithmetic.bundles import DIRECTIONS
from adjoint.testing import clone
from differentiation.directions.seeds import directions_of
from native.machine_form import loops_of
from numbers_of import numbers
from programs.registry import Case, collect

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")


def bundled(function: ir.Function, places: list[int]) -> tuple[ir.Function | None, ir.Function] | None:
    """What is computed beforehand, and a sweep; None where there is no such sweep."""
    try:
        function = with_zeros_skipped(function, places)
        parts = beforehand(function, places, with_value=True)
        loops = with_elements_of_rows(loops_of(parts.sweep if parts else function))
        sweep = in_bundles(loops, places, with_value=parts is None)
    except Inseparable:
        return None
    return parts and parts.before, with_rows_of_products(sweep)


def test_programs() -> None:
    tried = sum(agrees(case) for case in collect()[::24])
    assert tried > 20


def test_what_is_stored_at_several_places() -> None:
    """An array that has as many elements as there are directions would take the directions for elements."""
    (case,) = [case for case in collect() if case.name == "indexing.stores_at_slices_by_extent"]
    assert not agrees(case)


def agrees(case: Case) -> bool:
    """Whether a program has a sweep of bundles; it must give what the derivative gives."""
    arguments = case.arguments()
    try:
        directions = [list(checked_tangents(arguments, way)) for way in [*directions_of(arguments)] * 2][:DIRECTIONS]
        compiled = specialized_jvp(case.function, clone(tuple(arguments)), directions[0])
    except ad.DifferentiationError:
        return False
    count = len(arguments)
    moved = [i for i, tangent in enumerate(directions[0]) if tangent is not None]
    found = None if compiled.written or not moved else bundled(compiled.function, [count + i for i in moved])
    if found is None:
        return False
    before, sweep = found
    root = differentiated(case.function)
    given = compiled.inputs(root, (*clone(tuple(arguments)), *directions[0]))
    value, *kept = load(emit(before))(*given) if before else (None,)
    side_by_side = list(given)
    for i in moved:
        side_by_side[count + i] = np.stack([np.asarray(way[i]) for way in directions], axis=-1)
    results = load(emit(sweep))(*side_by_side, *kept)
    derivatives = np.moveaxis(results if before else results[1], -1, 0)
    value = value if before else results[0]
    for way, derivative in zip(directions, derivatives, strict=True):
        expected = compiled.run(root, (*clone(tuple(arguments)), *clone(tuple(way))))
        for one, other in zip(numbers((value, derivative)), numbers(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12, err_msg=case.name)
    return True
