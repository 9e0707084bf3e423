"""Compiled derivatives survive their process, and whatever happens to their files."""

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


def test_lines_that_are_left_to_python_are_told_before(monkeypatch, tmp_path):
    from adjoint import progress

    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    events = []
    monkeypatch.setattr(progress.Progress, "leaves", lambda self, lines: events.append(sorted(lines)))

    def f(x):
        print(f"{x:.3f}")
        return x * x * 3.5

    assert ad.grad(f, native="strict")(2.0) == 14.0
    assert events == [[f.__code__.co_firstlineno + 1]]
