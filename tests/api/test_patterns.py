"""Patterns that are found: no entry is missing, they hold for the calls they say, and are no larger than need be."""

import itertools
import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.sparse.compressed_rows import _list_rows, rows_of
from adjoint.native.compile.kernels import compiled_loops
from adjoint.runtime.sets.numbers import all_in, both, new_unions


def edges(x, first, second, weight):
    """Loops over edges: each reads two elements, stores one, and adds to two."""
    r = np.zeros(len(first) + len(x))
    for k in range(len(first)):
        i, j = first[k], second[k]
        d = x[i] - x[j]
        r[k] = math.sin(d) * weight[k]
        r[len(first) + i] += d * d
        r[len(first) + j] -= x[j]
    return r


def edges_at(n):
    rng = np.random.default_rng(n)
    return rng.normal(size=n), rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n), rng.normal(size=2 * n)


def pattern_of(f, *args, **options):
    return ad.sparsity(f, **options)(*args).toarray().astype(int)


def test_pattern_of_loops_is_exact():
    x, first, second, weight = edges_at(12)
    second = np.where(first == second, (second + 1) % 12, second)
    expected = ad.jacobian(edges)(x, first, second, weight)
    np.testing.assert_array_equal(pattern_of(edges, x, first, second, weight), expected != 0)
    matrix = ad.jacobian(edges, sparsity="auto")(x, first, second, weight)
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=1e-14)


def test_other_whole_numbers_have_another_pattern():
    x, first, second, weight = edges_at(6)
    jacobian = ad.jacobian(edges, sparsity="auto")
    one = jacobian(x, first, second, weight)
    structure = jacobian.structure
    other = jacobian(x, second, first, weight)
    np.testing.assert_allclose(other.toarray(), ad.jacobian(edges)(x, second, first, weight), rtol=1e-14)
    assert jacobian.structure is not structure
    again = jacobian(x + 1.0, first, second, 2.0 * weight)
    assert jacobian.structure is structure
    assert (again.indices == one.indices).all()


def one_of_two(x, k):
    y = np.zeros(3)
    if x[k] > 0.0:
        y[0] = x[0] * x[1]
        z = x[2]
    else:
        y[1] = x[3]
        z = 2.0 * x[1]
    y[2] = z
    return y


def test_both_sides_of_a_branch():
    x = np.ones(4)
    both_sides = [[1, 1, 0, 0], [0, 0, 0, 1], [0, 1, 1, 0]]
    assert pattern_of(one_of_two, x, 0).tolist() == both_sides
    assert pattern_of(one_of_two, -x, 0).tolist() == both_sides
    jacobian = ad.jacobian(one_of_two, sparsity="auto")
    for point in (x, -x, x):
        np.testing.assert_array_equal(jacobian(point, 0).toarray(), ad.jacobian(one_of_two)(point, 0))
    assert ad.sparsity(one_of_two).explain(x, 0) == "it holds for the same whole numbers and shapes"


def overwritten(x):
    y = x * x
    y[0] = 3.0
    y[1:3] += x[:2]
    for i in range(2):
        if x[i] < 0.0:
            continue
        y[3] = x[i]
    return y


def test_stores():
    x = np.ones(4)
    assert pattern_of(overwritten, x).tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 0, 1]]


def read_where_it_is_largest(x):
    return x[int(np.argmax(x))] * x


def as_long_as_it_is_large(x):
    total = 0.0
    i = 0
    while x[i] > 0.0:
        total += x[i] ** 2
        i += 1
    return total


@pytest.mark.parametrize("f", [read_where_it_is_largest, as_long_as_it_is_large])
def test_what_varies_decides(f):
    jacobian = ad.jacobian(f, sparsity="auto")
    for point in (np.array([3.0, 1.0, -1.0]), np.array([1.0, 3.0, -1.0]), np.array([1.0, -3.0, 2.0])):
        np.testing.assert_array_equal(jacobian(point).toarray(), np.atleast_2d(ad.jacobian(f)(point)))
    said = ad.sparsity(f).explain(np.array([3.0, 1.0, -1.0])).splitlines()
    assert said[0] == "it is that of this call, and found again at each; what varies decides on it by"
    assert "test_patterns.py" in said[1]


def steps(x, end, step):
    n = int(end / step)
    y = x.copy()
    for _ in range(n):
        y[1:] = y[1:] + step * y[:-1]
    return y


def test_floats_that_do_not_vary_decide():
    x = np.ones(4)
    jacobian = ad.jacobian(steps, sparsity="auto")
    for end in (1.0, 2.0, 1.0):
        matrix = jacobian(x, end, 1.0)
        np.testing.assert_array_equal(matrix.toarray(), ad.jacobian(steps)(x, end, 1.0))
    assert jacobian(x, 1.0, 1.0).nnz == 7
    assert ad.sparsity(steps).explain(x, 1.0, 1.0).startswith("it holds for the same whole numbers and shapes, and for")


kinds = np.array([0, 1, 2])


def chosen_by_a_global(x):
    return np.array([x[kinds[0]] * x[kinds[1]], x[kinds[2]]])


def test_what_is_captured_is_looked_at():
    x = np.array([2.0, 3.0, 4.0])
    jacobian = ad.jacobian(chosen_by_a_global, sparsity="auto")
    jacobian(x)
    kinds[2] = 0
    try:
        np.testing.assert_array_equal(jacobian(x).toarray(), [[3.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    finally:
        kinds[2] = 2


def energy(x, first, second):
    total = 0.0
    for k in range(len(first)):
        total += (x[first[k]] * x[second[k]] - 1.0) ** 2
    return total + x[0]


@pytest.mark.parametrize("native", [False, True])
def test_hessian(native):
    x, first, second, _ = edges_at(9)
    hessian = ad.hessian(energy, sparsity="auto", native=native)
    dense = ad.hessian(energy)(x, first, second)
    np.testing.assert_allclose(hessian(x, first, second).toarray(), dense, rtol=1e-12)
    assert not (pattern_of(energy, x, first, second, kind="hessian") < (dense != 0)).any()
    assert hessian.sweeps < 9


def next_where_there_is_one(x, places):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if i < len(x) - 1 and x[i] > 0.0:
            y[i] += x[places[i + 1]]
    return y


@pytest.mark.parametrize("native", [False, True])
def test_sides_that_cannot_be_taken(native):
    x, places = np.array([1.0, -2.0, 3.0]), np.array([0, 2, 0])
    jacobian = ad.jacobian(next_where_there_is_one, sparsity="auto", native=native)
    for point in (x, -x):
        np.testing.assert_array_equal(
            jacobian(point, places).toarray(), ad.jacobian(next_where_there_is_one)(point, places)
        )


def clipped_energy(x):
    total = 0.0
    for i in range(len(x) - 1):
        d = x[i + 1] - x[i]
        total += d**2 if abs(d) < 1.0 else abs(d) ** 3
    return total


def test_hessian_of_branches_holds_for_both_sides():
    hessian = ad.hessian(clipped_energy, sparsity="auto")
    for scale in (0.1, 5.0):
        x = scale * np.array([0.0, 1.0, -1.0, 2.0, 4.0])
        np.testing.assert_allclose(hessian(x).toarray(), ad.hessian(clipped_energy)(x), rtol=1e-13, atol=1e-13)
    assert ad.sparsity(clipped_energy, kind="hessian").explain(x) == "it holds for the same whole numbers and shapes"


def arrays(x, a):
    u = x.reshape(2, 3)
    v = np.where(u > 0.0, u, 0.5 * u) @ a
    w = np.concatenate([v.sum(axis=0), np.diff(x), np.cumsum(x)[:2]])
    return np.outer(w, x[:2]).T


def test_array_statements():
    x = np.array([1.0, -2.0, 3.0, -4.0, 5.0, 6.0])
    a = np.random.default_rng(0).normal(size=(3, 2))
    dense = ad.jacobian(arrays)(x, a).reshape(-1, 6)
    found = pattern_of(arrays, x, a)
    assert not (found < (dense != 0)).any()
    assert found.sum() < found.size
    np.testing.assert_allclose(ad.jacobian(arrays, sparsity="auto")(x, a).toarray(), dense, rtol=1e-13)


def test_entries_at():
    x, first, second, weight = edges_at(5)
    at = ad.jacobian(edges, sparsity="auto").at(x, first, second, weight)
    dense = ad.jacobian(edges)(x + 0.5, first, second, weight)
    out = np.full(len(at.cols), np.nan)
    assert at.values(x + 0.5, first, second, weight, out=out) is out
    np.testing.assert_allclose(out, dense[at.rows, at.cols], rtol=1e-14)
    np.testing.assert_allclose(at.matrix(x + 0.5, first, second, weight).toarray(), dense, rtol=1e-14)
    assert at.shape == dense.shape
    with pytest.raises(ad.DifferentiationError, match="AD0412"):
        at.values(x, second, first, weight)


def logarithms_on_both_sides(x):
    if x[0] > 1.0:
        return math.log(x[0] - 1.0) * x[1]
    return math.log(1.0 - x[0]) * x[2]


def reads_where_a_value_says(x):
    return x[int(x[0])] * x[1] ** 2


@pytest.mark.parametrize("f", [logarithms_on_both_sides, reads_where_a_value_says])
@pytest.mark.parametrize("derivative", [ad.jacobian, ad.hessian])
def test_entries_everywhere(derivative, f):
    start, *others = [np.array(point) for point in ([0.5, 1.5, 2.0], [1.5, 0.5, 2.0], [2.5, 2.5, 0.25])]
    found = derivative(f, sparsity="auto")
    at = found.everywhere(start)
    for point in (start, *others, start):
        np.testing.assert_allclose(at.matrix(point).toarray(), np.atleast_2d(derivative(f)(point)), rtol=1e-13)
    if len(found.at(start).rows) < len(at.rows):
        with pytest.raises(ad.DifferentiationError, match="AD0412"):
            found.at(start).values(others[0])


def test_entries_everywhere_are_few_where_that_is_known():
    x, first, second, weight = edges_at(5)
    found = ad.jacobian(edges, sparsity="auto")
    at = found.at(x, first, second, weight)
    assert len(found.everywhere(x, first, second, weight).cols) == len(at.cols) < at.shape[0] * at.shape[1]


def raises_on_the_other_side(x):
    return x[7] * x[1] if x[0] > 1.0 else x[0] * x[2]


def test_sides_that_raise_are_said():
    said = ad.sparsity(raises_on_the_other_side, kind="hessian").explain(np.array([0.5, 1.5, 2.0])).splitlines()
    assert said[0].startswith("it is that of this call") and "IndexError" in said[1]


def changes_its_argument(x):
    x *= 2.0
    return x * x


def test_arguments_are_written_once():
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(pattern_of(changes_its_argument, x), np.eye(2))
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_arguments_of_other_kinds_are_refused():
    with pytest.raises(ad.DifferentiationError, match="an array of complex128"):
        ad.sparsity(lambda x: x)(np.ones(2, complex))
    with pytest.raises(ad.DifferentiationError, match="of class 'list'"):
        ad.sparsity(lambda x: x)([1.0])
    with pytest.raises(ad.DifferentiationError, match="'auto'"):
        ad.jacobian(lambda x: x, sparsity="automatic")
    with pytest.raises(ad.DifferentiationError, match="more than 3 entries"):
        ad.sparsity(lambda x: x * x, max_entries=3)(np.ones(4))


def in_half_precision(x):
    y = x.astype(np.float16)
    total = np.float16(0.0)
    for i in range(len(x)):
        total += y[i] * y[i - 1]
    return total * x


def test_floats_that_do_not_tell_all_sets_apart():
    said = ad.sparsity(in_half_precision).explain(np.ones(2000))
    assert "there are more sets than its numbers tell apart" in said
    assert ad.sparsity(in_half_precision)(np.ones(40)).nnz == 1600


def test_a_number():
    assert pattern_of(lambda x: np.array([x, 1.0, x * x]), 2.0).tolist() == [[1], [0], [1]]
    assert ad.hessian(lambda x: x**3, sparsity="auto")(2.0).toarray() == [[12.0]]


def test_sets_of_unions():
    unions = new_unions(5, 20)
    a = both(unions, np.array([1.0, 2.0, 0.0]), 3.0)
    total = all_in(unions, [a, {"b": (5.0, 2)}])
    for listed in (rows_of, lambda *given: _list_rows(*given[:2], 5, int(unions[0, 0]), given[2])):
        indptr, indices, failed = listed(np.array([*a, total, 0.0]), unions, 99)
        assert failed == -1
        assert [indices[i:j].tolist() for i, j in itertools.pairwise(indptr)] == [
            [0, 2],
            [1, 2],
            [2],
            [0, 1, 2, 4],
            [],
        ]
    assert rows_of(np.array([total]), unions, 3)[2] == 0


def test_loops_over_sets_are_the_same_as_machine_code():
    rng = np.random.default_rng(3)
    n, made = 40, 60
    unions = np.zeros((made + 1, 2))
    unions[0] = made, n
    for at in range(1, made + 1):
        unions[at] = rng.integers(1, n + at, size=2)
    args = (rng.integers(0, n + made + 1, size=50).astype(float), unions, n, made)
    compiled = compiled_loops(_list_rows, (*args, 10_000))
    assert compiled is not _list_rows
    for most in (10_000, 30):
        for found, expected in zip(compiled(*args, most), _list_rows(*args, most), strict=True):
            np.testing.assert_array_equal(found, expected)
