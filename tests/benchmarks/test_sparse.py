"""The programs of the benchmark of sparse derivatives: local, and right where dense matrices are small."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "sparse" / "programs.py"


def _cases():
    spec = importlib.util.spec_from_file_location("sparse_programs", PROGRAMS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cases(large=False)


CASES = _cases()


@pytest.mark.parametrize("name", CASES)
def test_entries(name: str) -> None:
    kind, function, args = CASES[name]
    dense = ad.jacobian if kind == "jacobian" else ad.hessian
    derivative = dense(function, sparsity="auto")
    matrix = derivative(*args)
    assert derivative.at(*args).method == "local"
    if args[0].size < 300:
        np.testing.assert_allclose(matrix.toarray(), dense(function)(*args), rtol=1e-12, atol=1e-12)
    assert matrix.nnz > args[0].size // 2
