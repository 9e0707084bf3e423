"""Object code is found by later processes, which import no Numba, and only if nothing has changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import adjoint as ad
from adjoint.dispatch import specialize
from adjoint.native.kept import files as cache
from adjoint.native.kept import known_objects

PROGRAM = """
import json, sys
import numpy as np
import adjoint as ad
from helper import slope

def cost(x):
    total = 0.0
    if len(x) > 2:
        raise ValueError("too many")
    for i in range(len(x)):
        total += slope(x[i])
    return total

derivative = ad.grad(cost, native="strict")
found = derivative(np.array([1.0, 2.0]))
loaded = [name for name in ("numba.core", "adjoint.native.legalize.form") if name in sys.modules]
try:
    derivative(np.ones(3))
except ValueError as problem:
    said = str(problem)
print(json.dumps([found.tolist(), loaded, said]))
"""
SQUARE = "def slope(x):\n    return x * x\n"
FOUND = [2.0, 4.0]


@pytest.fixture
def run(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def finished(helper=SQUARE, **settings):
        (tmp_path / "helper.py").write_text(helper)
        path = os.pathsep.join([str(tmp_path), *sys.path])
        places = {"ADJOINT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, str(tmp_path / "program.py")],
            env={**os.environ, **places, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found, loaded, said = json.loads(done.stdout.splitlines()[-1])
        assert said == "too many"
        return found, loaded

    finished.folder = tmp_path / "cache"
    return finished


def test_later_processes_run_no_pass_and_import_no_numba(run):
    found, loaded = run()
    assert found == FOUND and loaded == ["adjoint.native.legalize.form"]
    assert run() == (FOUND, [])
    (path,) = run.folder.glob(f"*{cache.OBJECT}")
    assert path.stat().st_mode & 0o077 == 0
    found, loaded = run(SQUARE.replace("x * x", "5.0 * x"))
    assert found != FOUND and loaded


def test_options_count(run):
    run()
    assert run(ADJOINT_SKIP="vector-math")[1]
    assert run() == (FOUND, [])


def _cube(x):
    return x * x * x


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[::-1]),
        lambda path: path.write_bytes(path.read_bytes()[:200]),
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
        lambda path: path.write_bytes(b""),
        lambda path: path.chmod(0o666),
    ],
    ids=["gone", "backwards", "cut off", "another byte", "empty", "others can write it"],
)
def test_what_is_harmed_is_made_anew(tmp_path, monkeypatch, harm):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    specialize.forget()
    assert ad.grad(_cube, native="strict")(2.0) == 12.0
    (path,) = tmp_path.glob(f"*{cache.OBJECT}")
    whole = path.read_bytes()
    harm(path)
    specialize.forget()
    assert ad.grad(_cube, native="strict")(2.0) == 12.0
    (path,) = tmp_path.glob(f"*{cache.OBJECT}")
    assert path.read_bytes() == whole and known_objects.known_object(path.name) is not None


def test_where_nothing_can_be_kept_nothing_is(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "_write", full)
    specialize.forget()
    assert ad.grad(_cube, native="strict")(3.0) == 27.0
    assert not list(tmp_path.glob("*"))


def test_what_is_kept_is_listed_and_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    specialize.forget()
    ad.grad(_cube, native="strict")(2.0)
    assert len(cache.entries()) == 1
    assert cache.clear() == 1 and not list(tmp_path.glob("*.*"))
