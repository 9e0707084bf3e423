"""Compiled derivatives survive their process, and whatever happens to their files."""

import sys

import pytest

import adjoint as ad
from adjoint.native.kept import files as cache

pytest.importorskip("llvmlite")


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


def test_what_is_kept_can_be_listed_and_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path / "cache"))
    assert cache.entries() == {}
    name = "f_grad_" + "0123456789ab" * 2
    code = cache.keep_bytes(f"{name}{cache.OBJECT}", b"12345")
    other = tmp_path / "cache" / "notes.txt"
    other.write_text("mine")
    assert cache.entries() == {name: 5}
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
