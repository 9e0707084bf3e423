"""Machine code calls BLAS and LAPACK without SciPy's package around them, which others import as ever."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")

PROGRAM = """
import sys
import numpy as np
import adjoint as ad

def cost(a, b):
    return np.sum(np.linalg.solve(a, b) * (a @ b))

a, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0])
{before}
found = ad.grad(cost, native="strict")(a, b)
expected = ad.grad(cost, native=False)(a, b)
assert np.allclose(found, expected, rtol=1e-12), (found, expected)
{after}
"""
APART = """
assert "scipy.linalg" not in sys.modules
ours = sys.modules["scipy.linalg.cython_blas"]
assert ours.__pyx_capi__
import scipy.linalg
import scipy.linalg.cython_blas, scipy.linalg.cython_lapack
assert scipy.linalg.cython_blas is ours is sys.modules["scipy.linalg.cython_blas"]
assert scipy.linalg.cython_lapack is sys.modules["scipy.linalg.cython_lapack"]
assert np.allclose(scipy.linalg.expm(np.zeros((2, 2))), np.eye(2))
assert not any(type(finder).__module__.startswith("adjoint") for finder in sys.meta_path)
assert np.allclose(ad.grad(cost, native="strict")(a, b), expected, rtol=1e-12)
"""
BEFORE = "import scipy.linalg"
AFTER = "assert not any(type(finder).__module__.startswith('adjoint') for finder in sys.meta_path)"
MENDED = "assert 'scipy.linalg' in sys.modules"


def _run(folder, before, after):
    (folder / "program.py").write_text(PROGRAM.format(before=before, after=after))
    settings = {name: value for name, value in os.environ.items() if not name.startswith("ADJOINT_")}
    settings["ADJOINT_CACHE_DIR"] = str(folder / "cache")
    settings["PYTHONPATH"] = os.pathsep.join(sys.path)
    program = [sys.executable, str(folder / "program.py")]
    done = subprocess.run(program, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_stays_unread_until_somebody_wants_it(tmp_path):
    _run(tmp_path, "", APART)
    _run(tmp_path, "", APART)  # from the cache
    _run(tmp_path, BEFORE, AFTER)


def test_where_they_cannot_be_found_the_package_is_imported(tmp_path):
    patch = "from adjoint.runtime.numerical_methods.of_scipy import blas_lapack\n"
    patch += "blas_lapack._NAMES = ('cython_blas', 'none')"
    _run(tmp_path, patch, MENDED)
