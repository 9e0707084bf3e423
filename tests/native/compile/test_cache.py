"""Compiled derivatives survive their process, and whatever happens to their files."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import adjoint as ad
from adjoint.native.compile import linked_functions
from adjoint.native.kept import files as cache
from adjoint.native.kept import versions

pytest.importorskip("numba")

from adjoint.native.runtime import declaring
from adjoint.native.runtime.overloads import general
from adjoint.native.simd import bundles
from adjoint.native.vectors import functions
from adjoint.runtime.arithmetic import checks

PROGRAM = """
import adjoint as ad

def logistic(r, x, n):
    return x if n == 0 else logistic(r, r * x * (1 - x), n - 1)

print(ad.grad(logistic, native="strict")(3.1, 0.3, 5))
"""


def start(program: Path, folder: Path, **settings: str) -> subprocess.Popen:
    environment = {
        **os.environ,
        "ADJOINT_CACHE_DIR": str(folder),
        "ADJOINT_SKIP": "llvm",
        "NUMBA_DEBUG_CACHE": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
        **settings,
    }
    return subprocess.Popen(
        [sys.executable, str(program)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process: subprocess.Popen) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.splitlines()[-1].startswith("0.107827")
    return out


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_a_second_process_finds_the_machine_code_unless_it_is_damaged(program, tmp_path):
    folder = tmp_path / "new" / "cache"
    assert "data saved" in finished(start(program, folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    second = finished(start(program, folder))
    assert "data loaded" in second and "saved" not in second
    (text,) = folder.glob("*.py")
    written = text.read_text()
    text.write_text("raise SystemExit('foreign')\n")
    third = finished(start(program, folder))
    assert text.read_text() == written
    assert "data loaded" in third
    for kind in ("nbc", "nbi"):
        (kept,) = (folder / "__pycache__").glob(f"*.{kind}")
        kept.write_bytes(kept.read_bytes()[:40])
        finished(start(program, folder))
        assert "data loaded" in finished(start(program, folder))


def test_machine_code_is_named_by_the_sources_of_all_that_it_is_made_of():
    package = Path(ad.__file__).parent
    found = {str(Path(path).relative_to(package)) for path in versions.sources(*versions.MEANING)}
    modules = (checks, declaring, general, bundles, functions, linked_functions)
    for module in modules:
        assert module.__name__.removeprefix("adjoint.").replace(".", os.sep) + ".py" in found


def test_processes_at_once(program, tmp_path):
    running = [start(program, tmp_path / "cache") for _ in range(2)]
    for process in running:
        finished(process)
    assert "data loaded" in finished(start(program, tmp_path / "cache"))
    assert not list((tmp_path / "cache").glob(".*"))


def test_settings_of_numba_name_no_other_place(program, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o777)
    settings = {"NUMBA_CACHE_DIR": str(elsewhere), "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    assert str(tmp_path / "cache" / "__pycache__") in finished(start(program, tmp_path / "cache", **settings))
    assert not list(elsewhere.iterdir())


INTERRUPTED = """
import os, sys
from adjoint.native.kept import machine_code as kept_code

def interrupted(self, name, data):
    with self._open_for_write(self._data_path(name)) as file:
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), int(sys.argv[1]))

kept_code._Files._save_data = interrupted
"""


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_what_is_interrupted_leaves_nothing_that_is_half_written(program, tmp_path, monkeypatch, kind):
    broken = tmp_path / "broken.py"
    broken.write_text(INTERRUPTED + program.read_text())
    process = subprocess.run(
        [sys.executable, str(broken), str(int(kind))],
        env={
            **os.environ,
            "ADJOINT_SKIP": "llvm",
            "ADJOINT_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        timeout=120,
    )
    assert process.returncode in (-kind, 130, 1)
    assert not list((tmp_path / "cache" / "__pycache__").glob("*.nbc"))
    assert "data saved" in finished(start(program, tmp_path / "cache"))
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path / "cache"))
    cache.clear()
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


@pytest.mark.usefixtures("by_numba")
def test_a_full_disk_takes_nothing_from_the_derivative(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path / "cache"))
    compiled = []

    def full(*_):
        compiled.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    from adjoint.native.kept import machine_code as kept_code

    monkeypatch.setattr(kept_code._Files, "_dump", full)
    derivative = ad.grad(lambda x: x * x * x, native="strict")
    assert derivative(2.0) == 12.0
    assert compiled == [1]
    assert not list((tmp_path / "cache").rglob("*.nb*"))


@pytest.mark.usefixtures("by_numba")
def test_code_that_is_damaged_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path / "cache"))
    first = ad.grad(lambda x: x * x + x, native="strict")
    second = ad.grad(lambda x: x * x + x, native="strict")  # the same text
    assert first(2.0) == 5.0
    (kept,) = (tmp_path / "cache").rglob("*.nbc")
    damaged = kept.read_bytes()[:-1000] + bytes(1000)  # as long as before
    kept.write_bytes(damaged)
    assert second(2.0) == 5.0
    (anew,) = (tmp_path / "cache").rglob("*.nbc")
    assert anew.read_bytes() != damaged


def test_a_place_that_others_can_write_is_not_trusted(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(shared))
    path = cache.keep("a.py", "x = 1\n")
    assert path is not None and path.parent != shared
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_links_are_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path / "cache"))
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("x = 1\n")
    folder = cache.directory()
    (folder / "a.py").symlink_to(elsewhere)
    path = cache.keep("a.py", "x = 1\n")
    assert not path.is_symlink() and path.read_text() == "x = 1\n"
    assert cache.keep("a.py", "x = 2\n").read_text() == "x = 2\n"
    assert elsewhere.read_text() == "x = 1\n"


def test_places_by_default(tmp_path, monkeypatch):
    monkeypatch.delenv("ADJOINT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.directory() == tmp_path / "adjoint"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.directory() == tmp_path / ".cache" / "adjoint"


def test_machine_code_that_others_can_write_is_not_read(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    (folder / "__pycache__").mkdir(parents=True)
    folder.chmod(0o700)
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(folder))
    (folder / "__pycache__").chmod(0o777)
    assert cache.directory() != folder
    (folder / "__pycache__").chmod(0o700)
    assert cache.directory() == folder


def test_what_is_kept_can_be_listed_and_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path / "cache"))
    assert cache.entries() == {}
    name = "f_grad_" + "0123456789ab" * 2
    cache.keep(f"{name}.py", "x = 1\n")
    code = tmp_path / "cache" / "__pycache__" / f"{name}.f-1.py311.nbi"
    code.parent.mkdir(mode=0o700)
    code.write_bytes(b"12345")
    other = tmp_path / "cache" / "notes.txt"
    other.write_text("mine")
    assert cache.entries() == {name: 11}
    assert cache.clear() == 1
    assert cache.entries() == {} and not code.exists() and other.exists()


@pytest.mark.parametrize("terminal", [True, False])
def test_compiling_that_takes_long_is_told_on_a_terminal(monkeypatch, terminal):
    import io
    import time

    from adjoint.native.compile.messages import progress

    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "STEP", 0.01)
    with progress.told_when_slow("f_grad") as told:
        told.leaves([7, 3])
        time.sleep(0.2)
    shown = stream.getvalue().split("\r")
    if not terminal:
        assert shown == [""]
        return
    assert shown[0] == "adjoint: compiling f_grad to machine code (lines 3, 7 will run as Python), 0 s ..."
    assert len(shown) > 4 and shown[-2] == " " * len(shown[0]) and shown[-1] == ""


def test_compiling_that_takes_long_is_told_in_a_notebook(monkeypatch):
    import io
    import time
    from types import SimpleNamespace

    from adjoint.native.compile.messages import progress

    shown = []

    def display(data, raw, display_id):
        assert raw and display_id
        shown.append(data["text/plain"])
        return SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=sys.modules["IPython.display"]))
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with progress.told_when_slow("f_grad"):
        time.sleep(0.1)
    assert shown == ["adjoint: compiling f_grad to machine code, 0 s ...", ""] and not stream.getvalue()


def test_what_does_not_take_long_is_not_told(monkeypatch):
    import io

    from adjoint.native.compile.messages import progress

    stream = type("Stream", (io.StringIO,), {"isatty": lambda self: True})()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.told_when_slow("f_grad"):
        pass
    assert not stream.getvalue()


def test_lines_that_are_left_to_python_are_told_before(monkeypatch, tmp_path):
    from adjoint.native.compile.messages import progress

    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    events = []
    monkeypatch.setattr(progress.Progress, "leaves", lambda self, lines: events.append(sorted(lines)))

    def f(x):
        print(f"{x:.3f}")
        return x * x * 3.5

    assert ad.grad(f, native="strict")(2.0) == 14.0
    assert events == [[f.__code__.co_firstlineno + 1]]
