"""Long programs of array statements are one loop, in which nothing is stored but results."""

import linecache

import numpy as np
import pytest

import adjoint as ad
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.native.fusion import fuse


def written(lines):
    text = "\n    ".join(("def long(x, y):", *lines, "return np.sum(x)")) + "\n"
    linecache.cache["<long>"] = (len(text), None, text.splitlines(keepends=True), "<long>")
    names = {"np": np}
    exec(compile(text, "<long>", "exec"), names)
    return names["long"]


CHAIN = ["x = x * y + 0.5" for _ in range(300)]
TEMPORARIES = [
    *(f"a{i} = x * {0.1 * i + 1.0} + y * {0.2 * i}" for i in range(200)),
    *(f"x = x + a{i} * a{199 - i}" for i in range(200)),
]


@pytest.mark.parametrize("lines", [CHAIN, TEMPORARIES], ids=["chain", "temporaries"])
def test_values_and_loops(lines):
    pytest.importorskip("llvmlite")
    function, args = written(lines), (np.array([0.2, 0.5, -0.3]), np.array([0.3, -0.6, 0.1]))
    fused = fuse(ad.grad(function, native=True).specialized(args, {}).function)
    text = emit(fused).text
    assert text.count("for ") <= 2
    np.testing.assert_allclose(load(emit(fused))(*args), ad.grad(function)(*args), rtol=1e-9)
