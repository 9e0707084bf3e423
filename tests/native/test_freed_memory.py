import os
import platform
import subprocess
import sys

import pytest

pytest.importorskip("llvmlite")

PROGRAM = """
import resource
import numpy as np
import adjoint as ad

def f(x, steps):
    y = np.zeros(len(x))
    for _ in range(steps):
        y = x - y * y
    return np.sum(y)

gradient, x = ad.grad(f, native="strict"), np.full(10_000, 0.1)

def faults():
    for _ in range(10):
        gradient(x, 50)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

print(faults(), faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_memory_of_one_call_serves_the_next(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    settings = {**os.environ, "ADJOINT_CACHE_DIR": str(tmp_path / "cache")}
    for _ in ("compiles", "finds machine code"):
        run = subprocess.run([sys.executable, str(path)], env=settings, capture_output=True, text=True, check=True)
    first, second = map(int, run.stdout.split())
    pages_of_one_call = 50 * 10_000 * 8 // 4096
    assert second - first < pages_of_one_call


STRUCTURES = """
import resource
import sys
from dataclasses import dataclass
import numpy as np
import adjoint as ad

@dataclass
class Layer:
    w: np.ndarray
    b: float

def of_list(ps):
    return sum(np.sum(p * p) for p in ps)

def of_pairs(ps):
    total = 0.0
    for p, factor in ps:
        total += np.sum(p * p) * factor
    return total

def of_nested(ps):
    total = 0.0
    for row in ps:
        for p in row:
            total += np.sum(p * p)
    return total

def of_objects(ps):
    total = 0.0
    for layer in ps:
        total += np.sum(layer.w * layer.w) * layer.b
    return total

def of_dict(ps):
    return np.sum(ps["a"] * ps["b"][0]) * np.sum(ps["b"][1])

def made(x):
    parts = [(x * float(i), np.sum(x)) for i in range(3)]
    return sum(np.sum(a) * b for a, b in parts)

x = np.full(50_000, 0.1)
arguments = {
    of_list: [x, x + 1],
    of_pairs: [(x, 0.5), (x + 1, 2.0)],
    of_nested: [[x, x + 1], [x + 2]],
    of_objects: [Layer(x, 0.5), Layer(x + 1, 2.0)],
    of_dict: {"a": x, "b": [x + 1, x + 2]},
    made: x,
}
f, argument = next(each for each in arguments.items() if each[0].__name__ == sys.argv[1])
gradient = ad.grad(f, native=True)

def most(calls):
    for _ in range(calls):
        gradient(argument)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

first, last = most(10), most(100)
print((last - first) * 1024)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
@pytest.mark.parametrize("function", ["of_list", "of_pairs", "of_nested", "of_objects", "of_dict", "made"])
def test_what_calls_make_is_freed(function, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(STRUCTURES)
    settings = {**os.environ, "ADJOINT_CACHE_DIR": str(tmp_path / "cache")}
    run = subprocess.run([sys.executable, path, function], env=settings, capture_output=True, text=True, check=True)
    array = 50_000 * 8
    assert int(run.stdout) <= 20 * array
