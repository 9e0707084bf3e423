"""Patterns of zeros that are found have every entry of the dense matrices, at the point and at others."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.diagnostics import DifferentiationError, DifferentiationWarning
from adjoint.testing import clone
from programs.registry import Case, collect
from sampling import is_chosen

SOME = [case for case in collect() if is_chosen(f"patterns of {case.name}", 60)]
KINDS = {"jacobian": ad.jacobian, "hessian": ad.hessian}


def dense(kind, case, place, args):
    """The dense matrix; None where there is none, or it is no plain one."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", DifferentiationWarning)
            found = KINDS[kind](case.function, wrt=place)(*args)
    except Exception:  # it may not be defined there, or be no number
        return None
    is_plain = isinstance(found, float) or (isinstance(found, np.ndarray) and found.dtype.kind == "f")
    return np.asarray(found).reshape(-1, np.size(args[place])) if is_plain else None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", SOME, ids=[case.name for case in SOME])
def test_no_entry_is_missing(case: Case, kind: str) -> None:
    args = case.arguments()
    rng = np.random.default_rng(1)
    for place, x in enumerate(args):
        if not (type(x) is float or (isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size)):
            continue
        if dense(kind, case, place, clone(args)) is None:
            continue
        search = ad.sparsity(case.function, place, kind=kind)
        holds = search.explain(*clone(args)).startswith("it holds")  # else what varies may decide when a loop ends
        for step in (0.0, 1.0, -2.0) if holds else (0.0,):
            moved = list(clone(args))
            shift = step * rng.normal(size=np.shape(x))
            moved[place] = (x + shift).astype(x.dtype) if isinstance(x, np.ndarray) else float(x + shift)
            expected = dense(kind, case, place, clone(moved))
            if expected is None:
                continue
            found = search(*moved).toarray()
            assert found.shape == expected.shape
            assert not np.any(~found & (expected != 0.0) & np.isfinite(expected))


def test_programs_with_matrices_are_among_them() -> None:
    assert len(SOME) > 10
    with pytest.raises(DifferentiationError):
        ad.sparsity(lambda x: x)("no number")
