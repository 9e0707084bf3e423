"""What is compiled does not hang on what the process has compiled before."""

import os
import subprocess
import sys
from pathlib import Path

import adjoint

PROGRAM = """
import gc
import numpy as np, math
import adjoint as ad
from adjoint.native.compile import unit as native_unit

texts = []
plain = native_unit.Unit.compile
def compile_and_keep(unit):
    texts.append(unit.text)
    return plain(unit)
native_unit.Unit.compile = compile_and_keep

def f(x):
    largest = np.max(x)
    total = 0.0
    for i in range(len(x)):
        total += math.exp(x[i] - largest)
    return largest + math.log(total) + np.sum(np.exp(x) * x)

gradient = ad.grad(f, native="strict")
searches = []
gc.collect()
gc.callbacks.append(lambda phase, info: searches.append(info["generation"]))
gradient(np.ones(5))
assert len(searches) < 200, searches  # for garbage: five hundred, if they interrupted the compiler
assert texts and not any("objmode" in text for text in texts), texts
"""


def test_first_function_of_a_process_stays_in_machine_code(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    source = str(Path(adjoint.__file__).parent.parent)
    environment = {
        **os.environ,
        "PYTHONPATH": source,
        "ADJOINT_CACHE_DIR": str(tmp_path / "cache"),
        "ADJOINT_SKIP": "llvm",
    }
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
