"""Messages between processes: each number of them is one run of mpi_programs.py, which makes all checks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")

import adjoint
from sampling import THOROUGH

PROGRAMS = Path(__file__).with_name("mpi_programs.py")
LAUNCHER = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


@pytest.mark.skipif(LAUNCHER is None, reason="there is no mpiexec")
@pytest.mark.parametrize("count", [1, 2, 4] if THOROUGH else [2])
def test_programs(count):
    paths = [str(Path(adjoint.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [LAUNCHER, "-n", str(count), sys.executable, "-m", "mpi4py", str(PROGRAMS)],
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "ADJOINT_MPI_TIMEOUT": "60"},
    )
    assert done.stdout.count("all of it holds") == count, done.stdout + done.stderr
    if count == 2:
        assert done.stdout.count("what does not fit raises") == count, done.stdout + done.stderr
