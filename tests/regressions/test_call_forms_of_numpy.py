"""Forms of NumPy's calls that people write every day, beside the one that each rule is about."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import adjoint as ad
from regressions.differences import right, second

A = np.arange(1.0, 7).reshape(2, 3) / 3
V = np.array([0.6, -0.4, 1.3])
SOME = np.array([True, False, True])
W = np.arange(1.0, 100.0)


def weighed(y):
    return np.sum(np.ravel(y) ** 2 * W[: np.size(y)])


def filled(x):
    y = np.ndarray((3,), dtype=np.float64)
    for i in range(3):
        y[i] = x[i] * x[i]
    return np.sum(y)


def roots_where(x):
    y = np.multiply(x, x, out=np.empty(x.shape))
    np.sqrt(y, out=y, where=y > 0.3)
    return y.sum()


def into(reduction, a, **given):
    found = np.empty(3)
    reduction(a, axis=0, out=found, **given)
    return weighed(found)


def rolling(x, length):
    found = as_strided(x, (len(x) - length + 1, length), (x.strides[0], *x.strides))
    found.setflags(write=False)
    return found


def with_settings(x):
    before = np.seterr(invalid="ignore")
    found = np.sqrt(x * x + 1.0)
    np.seterr(**before)
    return found * (2.0 if np.geterr()["invalid"] == before["invalid"] else 3.0)


def with_nan(x):
    return np.array([np.nan, x[0], np.nan, x[1], x[2]])


FORMS = {
    "einsum_optimize": (lambda x: weighed(np.einsum("ij,j->", A, x, optimize=True)), V),
    "einsum_optimize_greedy": (lambda x: weighed(np.einsum("ij,j,kj->ik", A, x, A, optimize="greedy")), V),
    "r_": (lambda x: weighed(np.r_[x, 1.0, 2 * x]), V),
    "r_of_one": (lambda x: weighed(np.r_[x * x]), V),
    "r_of_numbers": (lambda x: weighed(np.r_[x[0], x[1] * x[2], 3.0]), V),
    "r_of_matrices": (lambda x: weighed(np.r_[A * x, A]), V),
    "r_of_slices": (lambda x: weighed(np.r_[0:3, x, 0:1:4j]), V),
    "r_of_a_list": (lambda x: weighed(np.r_[[x[0], 2.0], x]), V),
    "c_": (lambda x: weighed(np.c_[x, x * x]), V),
    "c_of_matrices": (lambda x: weighed(np.c_[A.T * x[0], x, np.ones(3)]), V),
    "mgrid": (lambda x: weighed(np.mgrid[0:2, 0:3] * x), V),
    "mgrid_of_floats": (lambda x: weighed(np.mgrid[0.1:1.0:0.5, 5:2:-1] * x), V),
    "mgrid_with_ends": (lambda x: weighed(np.mgrid[0:1:2j, -1:1:3j] * x), V),
    "mgrid_of_one": (lambda x: weighed(np.mgrid[0:3] * x), V),
    "mgrid_of_numbers_and_floats": (lambda x: weighed(np.mgrid[0:2, 0.0:1.5:0.5] * x), V),
    "ogrid": (lambda x: weighed(np.ogrid[0:2, 1:4][0] * np.ogrid[0:2, 1:4][1] * x), V),
    "sum_where": (lambda x: np.sum(x * x, where=SOME), V),
    "sum_where_of_rows": (lambda x: weighed(np.sum(A * x, axis=0, where=np.array([[True], [False]]))), V),
    "sum_where_that_depends": (lambda x: np.sum(x * x, where=x > 0), V),
    "sum_initial": (lambda x: np.sum(x * x, initial=x[0]) ** 2, V),
    "sum_method_where": (lambda x: (x * x).sum(where=SOME), V),
    "prod_where": (lambda x: np.prod(x, where=SOME), V),
    "mean_where": (lambda x: np.mean(x * x, where=SOME), V),
    "var_where": (lambda x: np.var(x * x, where=SOME, ddof=1), V),
    "std_where": (lambda x: weighed(np.std(A * x, axis=1, where=SOME)), V),
    "max_initial": (lambda x: np.max(x, initial=0.5) ** 2, V),
    "max_initial_that_is_greatest": (lambda x: np.max(x * x, initial=x[0] + 9.0) ** 2, V),
    "max_where": (lambda x: weighed(np.max(A * x, axis=1, keepdims=True, initial=-9.0, where=SOME)), V),
    "min_initial": (lambda x: np.min(x, initial=0.5) ** 2, V),
    "clip_names": (lambda x: weighed(np.clip(x, min=0.0, max=1.0)), V),
    "clip_name": (lambda x: weighed(np.clip(x, max=x[::-1])), V),
    "as_strided": (lambda x: np.sum(np.prod(as_strided(x * x, (2, 2), (8, 8)), axis=1)), V),
    "as_strided_windows": (lambda x: weighed(rolling(x * x, 2)), V),
    "as_strided_of_a_matrix": (lambda x: weighed(as_strided(A * x, (2, 2), (24, 8))), V),
    "strides_of_what_is_transposed": (lambda x: x[0] ** 2 * np.outer(x, x[:2]).T.strides[0], V),
    "fmax_accumulate_past_nan": (lambda x: np.nansum(np.fmax.accumulate(with_nan(x) * x[0]) * W[:5]), V),
    "maximum_accumulate_up_to_nan": (lambda x: np.nansum(np.maximum.accumulate(with_nan(x)[1:]) * W[:4]), V),
    "iscomplex": (lambda x: np.sum(x * x) if np.any(np.iscomplex(x)) else np.sum(x**3), V),
    "seterr_and_back": (lambda x: np.sum(with_settings(x)), V),
    "list_of_no_axes": (lambda x: np.where(x[0] < 0, 1e-3, x[0] ** 2).tolist() * x[1], V),
    "list_of_a_number": (lambda x: (np.sum(x * x) * np.ones(())).tolist() ** 2, V),
    "nanmean_into": (lambda x: into(np.nanmean, A * x), V),
    "nanstd_into": (lambda x: into(np.nanstd, A * x, ddof=1), V),
    "percentile_into": (lambda x: into(lambda a, **given: np.percentile(a, 30.0, **given), A * x), V),
    "nanmean_into_nothing": (lambda x: weighed(np.nanmean(A * x, axis=0, out=None)), V),
    "item": (lambda x: x.item(2) ** 2, V),
    "item_of_two": (lambda x: (A * x).item(1, 2) ** 2, V),
    "item_of_a_tuple": (lambda x: (A * x).item((1, 2)) ** 2, V),
    "item_counted_along_rows": (lambda x: (A * x).item(4) ** 2, V),
    "diff_prepend": (lambda x: weighed(np.diff(x, prepend=0.0)), V),
    "diff_append": (lambda x: weighed(np.diff(x, append=x[:2])), V),
    "diff_prepend_of_rows": (lambda x: weighed(np.diff(A * x, axis=0, prepend=x[0])), V),
    "interp_left": (lambda x: np.sum(np.interp(x, [0.0, 1.0], [0.0, 2.0], left=0.0, right=5.0)), V),
    "interp_left_that_varies": (lambda x: weighed(np.interp(x, np.array([0.0, 1.0]), x[:2], left=x[0], right=x[1])), V),
    "take_wrap": (lambda x: weighed(np.take(x, [0, 4], mode="wrap")), V),
    "take_clip": (lambda x: weighed(np.take(A * x, [0, 4, -1], axis=1, mode="clip")), V),
    "cross_axes": (lambda x: weighed(np.cross(A * x, (A * x)[::-1] ** 2, axisa=1, axisb=1)), V),
    "cross_axis_of_the_result": (lambda x: weighed(np.cross((A * x).T, A**2, axisa=0, axisc=0)), V),
    "atleast_1d_of_several": (lambda x: weighed(np.atleast_1d(x[0], 2 * x)[1]), V),
    "atleast_1d_of_many": (lambda x: weighed(np.atleast_1d(x, x, x, x, x, x, x[0], x * x)[7]), V),
    "atleast_2d_of_three": (lambda x: weighed(np.concatenate(np.atleast_2d(x, 2 * x, x * x))), V),
    "asarray_order": (lambda x: weighed(np.asarray(x * x, order="C")), V),
    "asarray_by_columns": (lambda x: weighed(np.asarray(A * x, order="F").ravel(order="F")), V),
    "asanyarray_order": (lambda x: weighed(np.asanyarray(x * x, order="K")), V),
    "ndarray_constructor": (filled, V),
    "out_where_of_no_axes": (roots_where, np.array(0.7)),
    "einsum_with_a_whole_number": (lambda x: weighed(np.einsum(",i,i->i", 2, x, x)), V),
}


@pytest.mark.parametrize("name", FORMS)
def test_form(name: str) -> None:
    right(*FORMS[name])


@pytest.mark.parametrize(
    "name", ["sum_where", "std_where", "r_", "c_", "diff_prepend", "interp_left_that_varies", "as_strided"]
)
def test_form_to_second_order(name: str) -> None:
    second(*FORMS[name])


@pytest.mark.parametrize("name", ["sum_where", "max_initial", "out_where_of_no_axes"])
@pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")
def test_form_natively(name: str) -> None:
    right(*FORMS[name], native=True, modes=("value",) if name == "max_initial" else ("grad", "jvp", "value"))


def test_elements_that_do_not_count_are_not_looked_at() -> None:
    right(lambda x: np.sum(np.sqrt(x), where=x > 0), V)
    right(lambda x: np.mean(np.log(np.abs(x) - 0.5), where=np.abs(x) > 0.5), V)


def test_what_is_written_through_a_conversion_to_another_order() -> None:
    def f(x, order):
        y = A * x
        z = np.asarray(y, order=order)
        z[0] = 5.0 * z[1]
        return weighed(y)

    for order in ("C", "F", "K", None):
        right(lambda x, order=order: f(x, order), V)


def test_memory_that_is_laid_out_anew_lies_in_c_order() -> None:
    def f(x, y):
        return np.sum(as_strided(np.outer(x, y).T, (2,), (8,)))

    for native in (False, True):
        with pytest.raises(ValueError, match="C order only"):
            ad.value_and_grad(f, native=native)(V, V[:2])
