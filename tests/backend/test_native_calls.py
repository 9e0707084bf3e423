"""What Numba lacks runs as Python, or has a form of ours: derivatives agree with interpreted ones."""

import math

import numpy as np
import pytest

import adjoint as ad
from backend.agreement import compare
from backend.rule_programs import programs

pytest.importorskip("numba")

RULES = """
numpy.diff[0] numpy.diff[1] numpy.pad[3] numpy.tile[1] numpy.repeat[1] numpy.cumsum[0] numpy.cumsum[2] numpy.kron[0]
numpy.einsum[2] numpy.einsum[5] numpy.transpose[1] numpy.roll[2] numpy.linspace[0] numpy.imag[0] numpy.linalg.norm[4]
adjoint.runtime.arrays.match[0] math.log[1] math.hypot[2] math.cbrt[0] math.remainder[0] abs[1] pow[1]
""".split()


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADJOINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def test_rules_of_the_library():
    """All of them: ``python -m backend.campaign --rules``."""
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


def assembled(nodes, k):
    n = len(nodes)
    stiffness = np.zeros((n, n))
    for e in range(n - 1):
        h = nodes[e + 1] - nodes[e]
        stiffness[np.ix_([e, e + 1], [e, e + 1])] += k[e] / h * np.array([[1, -1], [-1, 1]])
    u = np.linalg.solve(stiffness[1:-1, 1:-1], np.ones(n - 2))
    return u.max()


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (logged, (1.2, 3)),
        (refused, (1.5,)),
        (remembered, (0.7,)),
        (assembled, (np.linspace(0, 1, 5) ** 1.2, np.array([1.0, 2.0, 0.5, 1.5]))),
    ],
)
def test_programs(f, args):
    outcome = compare(f, args)
    assert outcome.kind == "same", outcome.message


def test_messages_with_numbers():
    with pytest.raises(ValueError, match=r"^-1.50 is negative$"):
        ad.grad(refused, native="strict")(-1.5)
