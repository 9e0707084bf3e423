"""What generated code calls is loaded as it is needed."""

import os
import subprocess
import sys
from pathlib import Path

from adjoint import runtime

PROGRAM = """
import math, sys
import adjoint as ad

def f(x):
    return math.sin(x) * x

ad.grad(f)(1.0)
print(*sys.modules)
"""


def test_every_module_of_the_package_is_known_to_it():
    home = Path(runtime.__file__).parent
    modules = set()
    for file in home.rglob("*.py"):
        parts = file.relative_to(home).with_suffix("").parts
        modules.add(".".join(part for part in parts if part != "__init__"))
    modules.remove("")
    assert modules == {*runtime._MODULES, *runtime._OTHERS}


def test_the_first_derivative_of_numbers_loads_no_helper_that_is_for_arrays(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(Path(runtime.__file__).parents[2])}
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, env=environment)
    loaded = set(run.stdout.split())
    unneeded = {
        f"adjoint.runtime.{name}"
        for name in ("numerical_methods", "array_functions.linalg", "array_functions.spectra", "arithmetic.vector_math")
    }
    assert "adjoint.runtime.tangents" in loaded
    assert not unneeded & loaded
