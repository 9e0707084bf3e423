"""What has no form in machine code runs as Python: derivatives agree with interpreted ones."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import _stats

import adjoint as ad
from native.agreement import compare
from native.own_code import own_code
from native.rule_programs import programs
from programs.registry import collect

pytest.importorskip("llvmlite")

RULES = """
numpy.diff[1] numpy.pad[3] numpy.kron[0] numpy.einsum[2] numpy.roll[2] numpy.linalg.norm[4] numpy.interp[0]
adjoint.runtime.array_functions.arrays.match[0] math.cbrt[0]
""".split()


def test_rules_of_the_library():
    """All of them: ``python -m native.campaign --rules``."""
    found = {name: (function, args) for name, function, args in programs() if name in RULES}
    assert set(RULES) == set(found)
    for name, (function, args) in found.items():
        outcome = compare(function, args)
        assert outcome.kind == "same", (name, outcome.message)


def logged(x, n):
    log = []
    for i in range(n):
        x = math.sin(x) + x**2 / (i + 1)
        log.append(f"step {i}: {x:.3f}")
    assert len(log) == n, "\n".join(log)
    return x


def refused(x):
    if x < 0:
        raise ValueError(f"{x:.2f} is negative")
    return x * x


def remembered(x):
    known = {}
    total = 0.0
    for i in range(6):
        k = i % 3
        if k not in known:
            known[k] = math.sin(x * k)
        total += known[k]
    return total


def diagonals(v, m):
    """New matrices and views, read and written before and after."""
    a = np.diag(v)
    a[0, 1] = v[0]
    b = m.copy()
    d = np.diag(b)
    s = np.sum(d * d)
    b[0, 0] *= 3.0
    s += np.sum(np.diag(b, 1) ** 2) + np.sum(np.diagonal(b, -2) ** 3) + np.sum(np.diag(a, -1) * v[1:])
    return s + np.sum(a @ b) + d[0] * d[2] + np.sum(np.diag(v, -1)[1:, 1:] @ np.diag(b, k=0)) + np.sum(np.diag(b, k=4))


def reshaped(x, n):
    """Views through which others are written, before and after."""
    t = np.zeros((n, 2, 3))
    for i in range(n):
        t[i, 0] = x * i
        t[i, 1, 2] = x[0] ** 2
    rows = t.reshape(n, 6)
    s = np.sum(rows * rows)
    rows[0, 5] = x[1] * x[2]
    t[1, 0, 0] *= 3.0
    flat = t.ravel()
    flat[2] += x[2]
    turned = t.T.reshape(6, n)
    turned[0, 0] += x[0]
    return s + np.sum(rows @ rows.T) + np.sum(flat**3) + np.sum(np.eye(3) @ x) + np.sum(turned**2)


def assembled(nodes, k):
    n = len(nodes)
    stiffness = np.zeros((n, n))
    for e in range(n - 1):
        h = nodes[e + 1] - nodes[e]
        stiffness[np.ix_([e, e + 1], [e, e + 1])] += k[e] / h * np.array([[1, -1], [-1, 1]])
    u = np.linalg.solve(stiffness[1:-1, 1:-1], np.ones(n - 2))
    return u.max()


def shortest(points):
    n = len(points)

    def length(order):
        return sum(np.linalg.norm(points[order[k]] - points[order[k - 1]]) for k in range(n))

    return min(length(order) for order in itertools.permutations(range(n)))


def pairwise_products(x):
    total = 0.0
    for (i, a), (j, b) in itertools.combinations(enumerate(x), 2):
        total += a * b**2 * (i + j)
    for a, b, c in itertools.combinations(x, 3):
        total += a * b**2 * c**3
    for a, b in itertools.combinations_with_replacement(x, 2):
        total += a * b**3
    for a, b in itertools.permutations(x, 2):
        total += a * b**2
    return total


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (shortest, (np.random.default_rng(3).normal(size=(4, 2)),)),
        (pairwise_products, (np.array([0.5, 1.5, -0.7, 2.0]),)),
        (logged, (1.2, 3)),
        (refused, (1.5,)),
        (remembered, (0.7,)),
        (reshaped, (np.array([0.5, 1.5, -0.7]), 3)),
        (diagonals, (np.array([1.0, 2.0, 0.5]), np.arange(9.0).reshape(3, 3) + 1.0)),
        (assembled, (np.linspace(0, 1, 5) ** 1.2, np.array([1.0, 2.0, 0.5, 1.5]))),
    ],
)
def test_programs(f, args):
    smooth = tuple(k for k, arg in enumerate(args) if not isinstance(arg, int))
    found, expected = (ad.grad(f, wrt=smooth, native=native)(*args) for native in ("strict", False))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)
    ad.testing.check_grads(f, args, wrt=smooth, order=1)


def test_messages_with_numbers():
    with pytest.raises(ValueError, match=r"^-1.50 is negative$"):
        ad.grad(refused, native="strict")(-1.5)


@pytest.mark.parametrize("name", ["numpy.linalg.eig[1]", "numpy.tensordot[2]"])
def test_what_is_known_only_when_the_program_runs_is_an_object_of_python(name):
    """The kind of eigenvalues, the rank of what axes in lists leave."""
    function, args = next(found[1:] for found in programs() if found[0] == name)
    assert compare(function, args).kind == "same"


def test_memory_that_may_be_shared():
    overlap = own_code(lambda a, b: np.may_share_memory(a, b))
    a = np.arange(24.0).reshape(4, 6)
    parts = [
        a,
        a.T,
        a[1:3],
        a[::-1],
        a[:, ::-2],
        a[2:, 3],
        a[:2, :2],
        a[2:, 4:],
        a[0:0],
        a.copy(),
        np.asfortranarray(a),
    ]
    for one in parts:
        for other in parts:
            assert overlap(one, other) == np.may_share_memory(one, other)


@pytest.mark.parametrize(
    ("name", "kind"), [("numpy_calculus.correlations", "plain"), ("numpy_calculus.bessel", "single")]
)
def test_what_leaves_machine_code_comes_back_with_its_extents_and_dtype(name, kind):
    case = next(case for case in collect() if case.name == name)
    outcome = compare(case.function, case.arguments(), "forward", kind)
    assert outcome.kind == "same", outcome.message


@pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")
@pytest.mark.parametrize("index", [None, ..., (), (None, ...)])
def test_axes_of_a_number(index):
    """Arrays without axes are numbers in machine code, and numbers of NumPy to Python."""

    def f(x):
        return (x[0] * 2.0)[index]

    x = np.array([0.3, 0.4])
    value, pullback = ad.vjp(f, x)
    same, native = ad.vjp(f, x, native=True)
    np.testing.assert_array_equal(same, value)
    np.testing.assert_array_equal(native(np.ones_like(value)), pullback(np.ones_like(value)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of SciPy's own modules
def test_functions_of_cython():
    def f(a, b):
        return _stats._kendall_dis(np.argsort(a) + 1, np.argsort(b) + 1) * np.sum(a * a)

    args = np.array([0.3, 1.2, -0.4, 0.9]), np.array([1.0, 0.2, 0.5, 0.7])
    np.testing.assert_array_equal(ad.grad(f, native=True)(*args), ad.grad(f)(*args))
