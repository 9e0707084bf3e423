"""What libraries ask before they compute: settings of a thread, sets of names, imported modules, dtypes, signatures.

All of it is known when a derivative is made, and asked again at each call.
"""

from __future__ import annotations

import importlib
import inspect
import math
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad

SOURCE = """
import functools
import inspect
import threading
from collections import Counter
from contextlib import contextmanager

import numpy as np

DEFAULTS = {"dispatch": False, "size": 1024, "display": "diagram", "skip": False}
NAMES = {"numpy", "array_numpy"}
HOOKS = frozenset(["no_such_library"])
OWN = threading.local()

def _own():
    if not hasattr(OWN, "settings"):
        OWN.settings = DEFAULTS.copy()
    return OWN.settings

def settings():
    return _own().copy()

def change(dispatch=None, size=None, display=None, skip=None):
    own = _own()
    if dispatch is not None:
        own["dispatch"] = dispatch
    if size is not None:
        own["size"] = size
    if display is not None:
        own["display"] = display
    if skip is not None:
        own["skip"] = skip

@contextmanager
def changed(**given):
    old = settings()
    change(**given)
    try:
        yield
    finally:
        change(**old)

def namespace_of(*arrays):
    return (object(), True) if settings()["dispatch"] else (np, False)

def is_numpy(xp):
    return xp.__name__ in NAMES

def best_dtype(*arrays, xp):
    found = [a.dtype for a in arrays if hasattr(a, "dtype") and xp.isdtype(a.dtype, "real floating")]
    return xp.result_type(*found) if found else xp.float64 if is_numpy(xp) else "none"

class Doubled:
    def __init__(self, x):
        self.x = 2.0 * x

class Tripled(Doubled):
    def __init__(self, x):
        self.x = 3.0 * x

@functools.lru_cache(16)
def worker_for(xp):
    return (Doubled, (xp, "numpy")) if is_numpy(xp) else (Tripled, (None, "none"))

def worked(x):
    worker, (inner, name) = worker_for(np)
    return inner.sum(worker(inner.asarray(x)).x ** 2) if name == "numpy" else name

def is_frame(x):
    if any((found := imported(name)) is not None and isinstance(x, found.Frame) for name in HOOKS):
        return True
    return inspect.getattr_static(x, "__frame__", OWN) is not OWN

def imported(name):
    import sys
    return sys.modules.get(name)

def checked(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if settings()["skip"]:
            return function(*args, **kwargs)
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        ignored = [p.name for p in signature.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        given = {name: value for name, value in bound.arguments.items() if name not in ignored}
        if given["kind"] not in ("mean", "sum"):
            raise ValueError(given["kind"])
        with changed(skip=True):
            return function(*args, **kwargs)
    return wrapper

@checked
def loss(a, b, *, weights=None, kind="mean"):
    xp, compliant = namespace_of(a, b)
    if is_frame(a):
        return "a frame"
    dtype = best_dtype(a, b, weights, xp=xp)
    a, b = xp.asarray(a, dtype=dtype), xp.asarray(b, dtype=dtype)
    errors = (a - b) ** 2 if weights is None else weights * (a - b) ** 2
    return xp.mean(errors) if kind == "mean" else xp.sum(errors)

class Methods:
    def __init__(self, held):
        self.held = dict(held)

    def __getitem__(self, name):
        try:
            return self.held[name]
        except KeyError:
            return self.held[dict(zip(self.lower(), self.held))[name.lower()]]

    def lower(self):
        names = [name.lower() for name in self.held]
        self.warn_of_collisions(names)
        yield from names

    @staticmethod
    def warn_of_collisions(names):
        found = [name for name, count in Counter(names).items() if count > 1]
        if found:
            print(found)

METHODS = Methods({"Square": lambda x: x * x, "Cube": lambda x: x**3})

def computed(x, method):
    return METHODS[method](x)
"""

X = np.array([0.5, 1.5, -0.7])


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Any]:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "careful.py").write_text(SOURCE)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("careful")
    finally:
        sys.path.remove(str(folder))
        del sys.modules["careful"]


@pytest.mark.parametrize("is_called_before", [False, True])
def test_a_careful_library(library: Any, is_called_before: bool) -> None:
    if is_called_before:
        library.loss(X, 2 * X)
    slope = ad.grad(lambda x: library.loss(x * x, X))
    np.testing.assert_allclose(slope(X), 4 * X * (X * X - X) / 3)
    np.testing.assert_allclose(slope(X), 4 * X * (X * X - X) / 3)
    assert library.settings() == library.DEFAULTS
    assert all(type(library.settings()[key]) is type(value) for key, value in library.DEFAULTS.items())


def test_methods_by_names_of_which_those_that_collide_are_counted(library: Any) -> None:
    assert ad.grad(lambda x: library.computed(x, "cube"))(3.0) == 27.0


def test_a_memo_that_gives_a_class_and_a_module(library: Any) -> None:
    np.testing.assert_allclose(ad.grad(library.worked)(X), 8 * X)
    np.testing.assert_allclose(ad.jvp(library.worked, (X,), (X,))[1], 8 * X @ X)
    np.testing.assert_allclose(ad.jacobian(ad.grad(library.worked))(X), 8 * np.eye(3))


def test_a_setting_that_changes_is_seen(library: Any) -> None:
    library.change(skip=False)

    def asked(x):
        return np.sum(x**3) if library.settings()["skip"] else np.sum(x**2)

    np.testing.assert_allclose(ad.grad(asked)(X), 2 * X)
    library.change(skip=True)
    np.testing.assert_allclose(ad.grad(asked)(X), 3 * X**2)
    with library.changed(skip=False):
        np.testing.assert_allclose(ad.grad(asked)(X), 2 * X)


class OwnState(threading.local):
    pass


@pytest.mark.parametrize("kind", [types.SimpleNamespace, threading.local, OwnState])
@pytest.mark.parametrize("is_there", [False, True])
def test_attributes_of_a_thread(kind: Any, is_there: bool) -> None:
    state = kind()
    if is_there:
        state.table = {"rate": 2.0, "scale": 1.0}

    def scaled(x):
        if not hasattr(state, "table"):
            state.table = {"rate": 2.0, "scale": 1.0}
        state.table["scale"] = 3.0
        return x * x * state.table["rate"]

    assert ad.grad(scaled)(3.0) == ad.grad(scaled)(3.0) == 12.0
    assert state.table == {"rate": 2.0, "scale": 3.0}


TABLE: dict[str, Any] = {"flag": False, "count": 3, "rate": 2.0}


def test_flags_and_integers_beside_floats_stay_what_they_are() -> None:
    def counted(x):
        TABLE["flag"], TABLE["count"] = True, TABLE["count"] + 1
        return x**3 if TABLE["flag"] is True else x

    assert ad.grad(counted)(2.0) == 12.0
    assert [type(value) for value in TABLE.values()] == [bool, int, float]
    assert TABLE["flag"] is True


NAMES = {"a", "b"}


def test_names_in_a_set_that_is_written() -> None:
    def asked(x):
        if "c" in NAMES:
            return x**3
        NAMES.add("c")
        return x**2 if "c" in NAMES else x

    assert ad.grad(asked)(3.0) == 6.0
    assert "c" in NAMES
    assert ad.grad(asked)(3.0) == 27.0
    NAMES.discard("c")
    assert ad.grad(asked)(3.0) == 6.0


def test_a_module_that_is_imported_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "a_library_of_frames"

    def by_item(x):
        try:
            found = sys.modules[name]
        except KeyError:
            return np.sum(x**3)
        return np.sum(x) if isinstance(x, found.Frame) else np.sum(x**2)

    def by_get(x):
        found = sys.modules.get(name)
        return np.sum(x**3) if found is None or isinstance(x, found.Frame) else np.sum(x**2)

    def by_name(x):
        return np.sum(x**2) if name in sys.modules else np.sum(x**3)

    slopes = [ad.grad(function) for function in (by_item, by_get, by_name)]
    for slope in slopes:
        np.testing.assert_allclose(slope(X), 3 * X**2)
    module: Any = types.ModuleType(name)
    module.Frame = type("Frame", (), {})
    monkeypatch.setitem(sys.modules, name, module)
    for slope in slopes:
        np.testing.assert_allclose(slope(X), 2 * X)
    monkeypatch.delitem(sys.modules, name)
    for slope in slopes:
        np.testing.assert_allclose(slope(X), 3 * X**2)


QUESTIONS = [
    lambda x: np.issubdtype(x.dtype, np.floating),
    lambda x: np.isdtype(x.dtype, ("real floating", "integral")),
    lambda x: np.can_cast(x.dtype, np.complex128),
    lambda x: np.promote_types(x.dtype, np.float32) == np.float64,
    lambda x: not np.iscomplexobj(x) and np.isrealobj(x),
    lambda x: x.device == "cpu",
    lambda x: np == np and math != np,
    lambda x: inspect.getattr_static(x, "__frame__", None) is None,
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_known_of_an_array(question: Any) -> None:
    def branching(x):
        return np.sum(x**2) if question(x) else "another"

    np.testing.assert_allclose(ad.grad(branching)(X), 2 * X)


def test_names_in_a_set_that_is_written_out() -> None:
    def asked(x):
        if "numpy" in {f"{np.__name__}", "a" + "b"} and 3 not in {1, 2}:
            return getattr(np, f"exp{2}")(x)
        return "another"

    np.testing.assert_allclose(ad.grad(asked)(3.0), 8 * math.log(2))
