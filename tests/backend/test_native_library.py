"""Functions of NumPy that Numba lacks, or knows with fewer arguments, are machine code all the same."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.backend import native_calls
from backend.agreement import compare

pytest.importorskip("numba")


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADJOINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def _stays(monkeypatch):
    """Fails where a call leaves the machine code."""

    def left(self, emitted, declared):
        raise AssertionError(f"it leaves the machine code:\n{emitted.text}")

    monkeypatch.setattr(native_calls.ByPython, "__init__", left)


def turned(a, rows, columns):
    d = np.cross(np.sin(a), rows[:, None, :] * rows)
    return np.sum(d * d) + np.sum(np.cross(columns, columns[:2, ::-1], axis=0))


PROGRAMS = [(turned, [(3,), (4, 3), (3, 4)])]
MANNERS = [("gradient", "strided"), ("forward", "fortran"), ("reverse", "single")]


@pytest.mark.usefixtures("_stays")
@pytest.mark.parametrize(("function", "shapes"), PROGRAMS)
@pytest.mark.parametrize(("mode", "variant"), MANNERS)
def test_they_stay_in_machine_code(function, shapes, mode, variant):
    rng = np.random.default_rng(5)
    outcome = compare(function, [rng.normal(size=shape) for shape in shapes], mode, variant)
    assert outcome.kind == "same", outcome.message


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy has given them up")
def test_products_of_vectors_of_two_elements_are_refused():
    def torque(a, b):
        return np.sum(np.cross(a, b))

    with pytest.raises(ValueError, match=r"write a\[0\] \* b\[1\]"):
        ad.grad(torque, native="strict")(np.ones(2), np.ones(2))
    assert compare(torque, (np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]))).kind == "same"
