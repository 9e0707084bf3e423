"""Short forms of NumPy's functions in machine code do what NumPy's do."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions import linalg, places, plain
from sampling import IN_DEPTH, THOROUGH

numba = pytest.importorskip("numba")
import adjoint.native.runtime.declarations  # noqa: E402

pytestmark = IN_DEPTH  # Adjoint compiles most itself: these are the forms for units that are left to Numba
OPTIONS = {"error_model": "numpy"}


def compiled(text, **names):
    namespace = {"np": np, "plain": plain, "places": places, "linalg": linalg, **names}
    exec(text, namespace)
    return numba.njit(**OPTIONS)(namespace["f"])


def matrix(n, m=None, dtype=np.float64, layout="C", seed=3):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, m or n))
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=values.shape)
    values = (values + (3 * np.eye(n) if m is None else 0)).astype(dtype)
    if layout == "strided":
        wide = np.zeros((2 * values.shape[0], 3 * values.shape[1]), dtype)
        wide[::2, ::3] = values
        return wide[::2, ::3]
    return np.asarray(values, order=layout)


KINDS = [(np.float64, "strided"), (np.complex128, "C")]
KINDS += [(np.float64, "C"), (np.float64, "F"), (np.float32, "C")] if THOROUGH else []


@pytest.mark.parametrize(("dtype", "layout"), KINDS)
def test_linear_algebra(dtype, layout):
    a = matrix(4, dtype=dtype, layout=layout)
    b = matrix(4, 3, dtype=dtype, layout=layout, seed=4)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-13}

    def same(found, expected):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, **tolerance)

    solve = compiled("def f(a, b): return plain.solution(a, b)")
    same(solve(a, b), np.linalg.solve(a, b))
    same(solve(a, b[:, 0]), np.linalg.solve(a, b[:, 0]))
    same(compiled("def f(a): return plain.inverse(a)")(a), np.linalg.inv(a))
    np.testing.assert_allclose(compiled("def f(a): return plain.determinant(a)")(a), np.linalg.det(a), **tolerance)
    definite = np.ascontiguousarray(a @ a.conj().T)
    factor = compiled("def f(a): return plain.cholesky_factor(a)")
    if layout != "C":
        definite = np.asfortranarray(definite)
    same(factor(definite), np.linalg.cholesky(definite))
    if dtype == np.float64:
        signed = compiled("def f(a): return plain.sign_and_log_determinant(a)")
        for sample in (a, -a[:3, :3], a[[1, 0, 2, 3]]):
            np.testing.assert_allclose(signed(sample), tuple(np.linalg.slogdet(sample)), rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1])
def test_small_matrices(n):
    a = 2.0 * np.eye(n)
    assert compiled("def f(a, b): return plain.solution(a, b)")(a, np.ones((n, 2))).shape == (n, 2)
    np.testing.assert_array_equal(compiled("def f(a): return plain.inverse(a)")(a), np.linalg.inv(a))
    assert compiled("def f(a): return plain.determinant(a)")(a) == 2.0**n
    assert compiled("def f(a): return plain.sign_and_log_determinant(a)")(a)[0] == 1.0
    np.testing.assert_array_equal(compiled("def f(a): return plain.cholesky_factor(a)")(a), np.linalg.cholesky(a))


def test_singular_matrices():
    a = np.ones((3, 3))
    assert compiled("def f(a): return plain.determinant(a)")(a) == 0.0
    assert compiled("def f(a): return plain.sign_and_log_determinant(a)")(a) == (0.0, -np.inf)
    for text in ("plain.inverse(a)", "plain.solution(a, a)", "plain.cholesky_factor(-a)"):
        with pytest.raises(np.linalg.LinAlgError):
            compiled(f"def f(a): return {text}")(a)
    with pytest.raises(np.linalg.LinAlgError):
        compiled("def f(a): return plain.inverse(a)")(np.ones((2, 3)))
    with pytest.raises(ValueError):
        compiled("def f(a, b): return plain.solution(a, b)")(np.eye(3), np.ones(2))


PARTS = "transposed hermitian conjugated lower_half completed folded skew hollow diagonal_of".split()


SINGLE = (np.float32, np.complex64)
KINDS_OF_PARTS = [
    (name, dtype)
    for place, name in enumerate(PARTS)
    for dtype in (np.float64, np.complex128, *(SINGLE if THOROUGH else SINGLE[place % 2 :][:1]))
]


@pytest.mark.parametrize(("name", "dtype"), KINDS_OF_PARTS)
def test_parts_of_matrices(name, dtype):
    a = (matrix(4, layout="F") * (1 + 0.5j if np.dtype(dtype).kind == "c" else 1)).astype(dtype)
    found = compiled(f"def f(a): return linalg.{name}(a)")(a)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, getattr(linalg, name)(a), rtol=1e-6 if dtype in SINGLE else 1e-15)


@pytest.mark.parametrize("name", ["completed", "folded"])
def test_upper_triangles(name):
    a = matrix(4) * (1 + 0.5j)
    found = compiled(f"def f(a): return linalg.{name}(a, False)")(a)
    np.testing.assert_allclose(found, getattr(linalg, name)(a, False), rtol=1e-15)


@pytest.mark.parametrize("name", ["diagonal_matrix", "differences"])
def test_matrices_of_vectors(name):
    v = np.arange(3.0) ** 2
    np.testing.assert_array_equal(compiled(f"def f(v): return linalg.{name}(v)")(v), getattr(linalg, name)(v))


def test_arrays_without_elements_yet():
    made = "plain.zeros(n), plain.zeros((2, n), np.int64), plain.zeros_in_shape(x), plain.empty((n, 1, 2))"
    f = compiled(f"def f(x, n): return {made}")
    x = np.asfortranarray(np.ones((2, 3), np.float32))
    vector, whole, alike, fresh = f(x, 4)
    np.testing.assert_array_equal(vector, np.zeros(4))
    assert whole.dtype == np.int64 and whole.shape == (2, 4) and not whole.any()
    assert alike.dtype == np.float32 and alike.flags.f_contiguous and not alike.any()
    assert fresh.shape == (4, 1, 2) and fresh.dtype == np.float64
    with pytest.raises(ValueError, match="negative dimensions"):
        f(x, -1)


NUMBERS = [(3, 5), (5, -3), (2.5, -1.0), (2, 2.5), (math.nan, 1.0), (1.0, math.nan), (3, -math.inf)]


@pytest.mark.parametrize("name", ["plus", "times_by", "largest", "smallest"])
def test_combinations_of_two_numbers(name):
    function = compiled(f"def f(a, b): return fused_loops.{name}(a, b)", fused_loops=fused_loops)
    for a, b in NUMBERS:
        found, expected = function(a, b), getattr(fused_loops, name)(a, b)
        np.testing.assert_equal(found, expected)
        assert type(found) is int if type(a) is type(b) is int else type(found) is float


STORES = [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 4), (1, 4)), ((3, 4), (3, 1)), ((3, 4), (1, 1)), ((5,), (1,))]


@pytest.mark.parametrize(("shape", "stored"), STORES)
@pytest.mark.parametrize("name", ["put", "add_to", "take_from"])
def test_stores_into_parts(name, shape, stored):
    rng = np.random.default_rng(1)
    part, value = rng.normal(size=shape), rng.normal(size=stored)
    expected = part.copy()
    getattr(plain, name)(expected, value)
    compiled(f"def f(part, value): plain.{name}(part, value)")(part[:, ::1] if part.ndim > 1 else part, value)
    np.testing.assert_array_equal(part, expected)


def test_stores_that_do_not_fit():
    f = compiled("def f(part, value): plain.put(part, value)")
    for shape, stored in (((3,), (2,)), ((3, 4), (2, 4)), ((3, 4), (3, 2)), ((1,), (2,))):
        with pytest.raises(ValueError):
            f(np.zeros(shape), np.ones(stored))


INDICES = ["i", "i, j", "1, i", ":, i", "i, :, j", "1:, i, j", "rows, :, columns", "i, columns", "-1, square"]


@pytest.mark.parametrize("index", INDICES)
def test_places(index):
    rng = np.random.default_rng(2)
    a = rng.normal(size=(3, 4, 5))
    given = {
        "i": np.array([2, 0, 2]),
        "j": np.array([1, -1, 3]),
        "rows": np.array([[0], [2]]),
        "columns": np.array([[1, 3, 0]]),
        "square": np.array([[0, 1], [2, -1]]),
    }
    names = [name for name in given if name in index.replace(",", " ").split()]
    arrays = [given[name] for name in names]
    selected = eval(f"a[{index}]", {"a": a, **given})
    slices = {":": "slice(None)", "1:": "slice(1, None)"}
    items = ", ".join(slices.get(part.strip(), part.strip()) for part in index.split(","))
    params = ", ".join(["a", "v", *names])
    taken = compiled(f"def f({params}): return plain.taken_at(a, {items})")
    np.testing.assert_array_equal(taken(a, 0.0, *arrays), selected)
    shapes = [selected.shape, tuple(1 for _ in selected.shape)]
    if THOROUGH or INDICES.index(index) % 2:
        shapes.append(selected.shape[-1:])
    for name, reference in ((plain.put_at, "a[{}] = v"), (places.add_at, "np.add.at(a, np.index_exp[{}], v)")):
        module = "plain" if name is plain.put_at else "places"
        store = compiled(f"def f({params}): {module}.{name.__name__}(a, v, {items})")
        for values in (1.5, *[rng.normal(size=shape) for shape in shapes]):
            mine, theirs = a.copy(), a.copy()
            store(mine, values, *arrays)
            exec(reference.format(index), {"a": theirs, "v": values, "np": np, **given})
            np.testing.assert_allclose(mine, theirs, rtol=1e-14)
    with pytest.raises(ValueError):
        store(a, np.ones(7), *arrays)


def outer(a, b, x):
    x = x.copy()
    x[1:] = np.linalg.solve(a, b)[1:]
    x[[0, 1]] = x[[1, 0]]
    return np.sum(np.outer(x, x) @ np.linalg.inv(a)) + np.linalg.slogdet(a @ a.T)[1]


def test_few_functions_are_compiled_besides():
    """Each takes as long as a page of a program: what looks like one call may bring dozens."""
    from numba.core import event

    with event.install_recorder("numba:compile") as recorder:
        a, b, x = matrix(3), np.arange(3.0), np.ones(3)
        found = ad.grad(outer, wrt=(0, 1, 2), native="strict")(a, b, x)
    for mine, theirs in zip(found, ad.grad(outer, wrt=(0, 1, 2))(a, b, x), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert sum(record.is_start for _, record in recorder.buffer) < 90
