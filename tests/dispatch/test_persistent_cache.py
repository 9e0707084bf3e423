"""Calls that an earlier process compiled are found before anything is lowered, and only if nothing has changed."""

import json
import linecache
import os
import subprocess
import sys
import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.sparse import local, patterns
from adjoint.api.sweeps.batched_sweeps import Sweeps
from adjoint.dispatch import contents, persistent_cache, specialize, targets
from adjoint.dispatch.speculative import Speculative
from adjoint.native.kept import files as cache
from adjoint.native.kept import known_functions
from adjoint.optim.vector_functions import VectorFunction
from adjoint.records import replace
from adjoint.rules import registry
from adjoint.types import registry as types_registry
from programs.registry import collect
from sampling import is_chosen

pytest.importorskip("llvmlite")

HELPER = """
import math
RATE = 2.0
DATA = np.array([1.0, 2.0])
NAMES = ("a", "b")
table = {"k": 3.0, "f": math.sin}

def slope(x, scale=1.0):
    return x * x * scale

def unused(x):
    return x

def made(c):
    def inner(x):
        return x * c
    return inner

inner = made(5.0)
"""
PROGRAM = """
import helper
from helper import slope as called

def cost(x):
    # a word on nothing
    total = 0.0
    for i in range(len(x)):
        total += called(x[i]) * helper.RATE + helper.inner(x[i]) + helper.DATA[0] + helper.table["k"]
    if len(helper.NAMES) == 1:
        total = total + helper.slope(x[0], scale=4.0)
    return total
"""


@pytest.fixture(autouse=True)
def _nobody_has_declared_anything(monkeypatch):
    """Other tests of the same process have."""
    monkeypatch.setattr(registry, "_extended", False)
    monkeypatch.setattr(registry, "_of_users", set())
    monkeypatch.setattr(types_registry, "_registered", {})


@pytest.fixture
def world(monkeypatch):
    """Makes modules anew from texts, as another process would."""

    def made(program: str = PROGRAM, helper: str = HELPER) -> types.ModuleType:
        for name, text in (("helper", helper), ("program", program)):
            module = types.ModuleType(name)
            module.np = np
            file = f"/nowhere/{name}.py"
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
            monkeypatch.setitem(sys.modules, name, module)
            exec(compile(text, file, "exec"), vars(module))
        return module

    return made


def _entry(program, args=(np.ones(3),), native="strict", key=("grad", (("has_aux", False), ("wrt", 0))), kwargs=None):
    return persistent_cache.Request(key, program.cost, native, args, kwargs or {}).entry


def test_what_is_equal_has_one_name(world):
    entry = _entry(world())
    assert entry and entry == _entry(world())
    assert entry == _entry(
        world(helper=HELPER.replace("def unused(x):\n    return x", "def unused(x):\n    return -x"))
    )
    assert entry == _entry(world(program=f"# further down\n\n{PROGRAM}"))
    assert entry == _entry(world(helper=HELPER.replace("np.array([1.0, 2.0])", "np.array([7.0, 2.0, 4.0])")))
    assert entry == _entry(world(), (np.zeros(5),))


EDITS = [
    ("slope of the callee", "", "x * x * scale", "x * x * x * scale"),
    ("default of the callee", "", "scale=1.0", "scale=3.0"),
    ("global number", "", "RATE = 2.0", "RATE = 3.0"),
    ("kind of a global number", "", "RATE = 2.0", "RATE = 2"),
    ("kind of an array", "", "np.array([1.0, 2.0])", "np.array([[1.0, 2.0]])"),
    ("kind of numbers in an array", "", "np.array([1.0, 2.0])", "np.array([1, 2])"),
    ("extent that is spread", "", "np.array([1.0, 2.0])", "np.array([1.0])"),
    ("tuple of words", "", '("a", "b")', '("a",)'),
    ("number in a dict", "", '"k": 3.0', '"k": 4.0'),
    ("function in a dict", "", "math.sin", "math.cos"),
    ("cell", "", "made(5.0)", "made(6.0)"),
    ("inner function", "", "return x * c", "return x + c"),
    ("name that is imported", "import slope as called", "", "import unused as called"),
    ("own body", "total = 0.0", "", "total = 1.0"),
    ("annotation", "def cost(x):", "", "def cost(x: 'helper.NAMES'):"),
    ("what a module's name means", "", "def slope(", "def slope(x, scale=1.0):\n    return x\n\ndef other("),
    ("decorator", "", "def slope", "def twice(f):\n    return lambda *a: 2.0 * f(*a)\n\n@twice\ndef slope"),
]


@pytest.mark.parametrize(("own", "before", "after"), [edit[1:] for edit in EDITS], ids=[edit[0] for edit in EDITS])
def test_what_is_edited_counts(world, own, before, after):
    program = PROGRAM.replace(own, after) if own else PROGRAM
    helper = HELPER.replace(before, after) if before else HELPER
    assert (program, helper) != (PROGRAM, HELPER)
    assert _entry(world(program, helper)) != _entry(world())


LOADED = """
import sys
import numpy as np
import scipy
import adjoint as ad
from adjoint.dispatch import persistent_cache

def cost(x):
    _, pullback = ad.vjp(np.sin, x[0])
    return pullback(1.0)[0] * scipy.special.gamma(x[1]) * ad.stop_gradient(x[1])

def entry():
    return persistent_cache.Request(("grad", ()), cost, True, (np.ones(3),), {}).entry

first = entry()
assert first and "adjoint.api.jvp_vjp" not in sys.modules
assert "vjp" not in vars(ad) and ad.vjp and ad.stop_gradient and scipy.special
assert entry() == first
ad.vjp = ad.jvp
assert entry() != first
"""


def test_what_a_library_loads_at_first_use_changes_nothing(tmp_path):
    (tmp_path / "script.py").write_text(LOADED)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


UNKNOWN = [
    "getattr(helper, 'slope')(x[0])",
    "globals()['helper'].slope(x[0])",
    "helper.__dict__['slope'](x[0])",
    "eval('x[0]')",
    "vars(helper)['slope'](x[0])",
    "Thing.rate * x[0]",
    "thing.rate * x[0]",
    "df(x[0])",
]


@pytest.mark.parametrize("expression", UNKNOWN)
def test_what_cannot_be_written_down_is_not_kept(world, expression):
    text = "class Thing:\n    rate = 3.0\n\nthing = Thing()\n\nimport adjoint as ad\ndf = ad.grad(lambda x: x * x)\n\n"
    assert _entry(world(f"{text}import helper\n\ndef cost(x):\n    return {expression}\n")) is None


def test_imports_and_assignments_of_globals_are_not_kept(world):
    assert _entry(world("def cost(x):\n    import helper\n    return helper.slope(x[0])\n")) is None
    assert _entry(world("count = 0\n\ndef cost(x):\n    global count\n    count = 1\n    return x[0]\n")) is None


def test_modules_that_answer_for_missing_names_are_not_kept(world):
    assert _entry(world(helper=HELPER + "\ndef __getattr__(name):\n    return 3.0\n")) is None


def test_a_function_put_into_a_library_counts(world, monkeypatch):
    text = "def cost(x):\n    return np.trace(x)\n"
    entry = _entry(world(text))
    program = world(text + "\ndef mine(x):\n    return x[0, 0]\n")
    monkeypatch.setattr(np, "trace", program.mine)
    assert entry and _entry(program) not in (None, entry)


CALLS = [
    {"args": (np.ones(3, np.float32),)},
    {"args": (np.ones((3, 3)),)},
    {"args": (np.ones(1),)},
    {"args": ([1.0, 2.0, 3.0],)},
    {"args": ([1, 2, 3],)},
    {"args": ((1.0, 2.0, 3.0),)},
    {"args": ([np.ones(2), np.ones(2)],)},
    {"args": (3.0,)},
    {"args": (3,)},
    {"args": (True,)},
    {"args": (False,)},
    {"args": (None,)},
    {"args": ("a",)},
    {"args": (np.float32(1.0),)},
    {"args": ({"a": 1.0},)},
    {"args": ({"b": 1.0},)},
    {"args": (np.ones(3), 1.0)},
    {"args": (), "kwargs": {"x": np.ones(3)}},
    {"key": ("grad", (("has_aux", False), ("wrt", (0,))))},
    {"key": ("value_and_grad", (("has_aux", False), ("wrt", 0)))},
    {"native": True},
    {"native": ad.grad(abs, native="strict", fastmath=True).native},
]


def test_kinds_of_calls_are_told_apart(world):
    program = world()
    entries = [_entry(program), *(_entry(program, **call) for call in CALLS)]
    assert None not in entries and len(set(entries)) == len(entries)


def test_objects_and_functions_of_others_are_not_kept(world):
    program = world()
    for value in (object(), np.zeros(2, object), np.zeros(2).view(np.recarray), range(3), np.ma.zeros(2)):
        assert _entry(program, (value,)) is None


def test_versions_settings_and_sources_count(world, monkeypatch):
    program = world()
    entries = [_entry(program)]
    with monkeypatch.context() as patch:
        patch.setattr(persistent_cache, "circumstances", lambda: ("numpy 0",))
        entries.append(_entry(program))
    with monkeypatch.context() as patch:
        patch.setattr(persistent_cache, "digest", lambda: "another")
        entries.append(_entry(program))
    with monkeypatch.context() as patch:
        patch.setenv("ADJOINT_INLINE", "0")
        entries.append(_entry(program))
    with monkeypatch.context() as patch:
        target = targets.target_of(program.cost, "strict")
        patch.setattr(targets, "target_of", lambda *_: replace(target, skipped=frozenset({"dead-code"})))
        entries.append(_entry(program))
        patch.setattr(targets, "target_of", lambda *_: replace(target, watch=print))
        assert _entry(program) is None
    assert None not in entries and len(set(entries)) == len(entries)


def test_nothing_is_found_where_users_declared_something(world, monkeypatch):
    program = world()
    assert _entry(program)
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_extended", True)
        assert contents.is_extended() and _entry(program) is None
    with monkeypatch.context() as patch:
        patch.setattr(types_registry, "_registered", {int: None})
        assert contents.is_extended() and _entry(program) is None


def test_a_declared_derivative_is_a_declaration_of_users():
    code = (
        "import adjoint as ad\nfrom adjoint.dispatch import contents\nassert not contents.is_extended()\n"
        "def f(x):\n    return x * x\n"
        "@ad.derivative_of(f)\ndef _(x):\n    return x * x, lambda ct: ct * 7.0\n"
        "assert contents.is_extended()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# What is found gives what is made


MASKED = """
import math

def cost(x):
    total = 0.0
    for i in range(len(x)):
        r = math.sqrt(x[i])
        y = x[i] * r if x[i] > 0.0 else 0.0 * r
        total += x[i] + y if x[i] > 0.0 else 0.0
    return total
"""


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    specialize.forget()
    return tmp_path


def _found(derivative, *args):
    """The derivative as a later process finds it."""
    specialize.forget()
    result = derivative.specialized(args, {})
    assert isinstance(result, persistent_cache.KnownSpecialization)
    return result


def test_results_captured_data_and_guards(world, kept):
    program = world()
    derivative = ad.grad(program.cost, native="strict")
    first = derivative(np.array([1.0, 2.0]))
    found = _found(derivative, np.array([1.0, 2.0]))
    assert ad.grad(program.cost, native="strict")(np.array([1.0, 2.0])).tolist() == first.tolist() == [9.0, 13.0]
    assert found.fits(program.cost, (np.ones(2),), {}, {})
    sys.modules["helper"].RATE = 10.0
    assert derivative(np.array([1.0, 2.0])).tolist() == [25.0, 45.0]
    sys.modules["helper"].slope = sys.modules["helper"].unused
    program.called = sys.modules["helper"].unused
    assert not found.fits(program.cost, (np.ones(2),), {}, {})
    assert derivative(np.array([1.0, 2.0])).tolist() == [15.0, 15.0]


def test_tools_see_what_was_made(world, kept):
    program = world()
    text = ad.source(ad.grad(program.cost, native="strict"), np.ones(3))
    ad.grad(program.cost, native="strict")(np.ones(3))
    found = _found(ad.grad(program.cost, native="strict"), np.ones(3))
    assert found.emitted.text in text and found.function.name == "cost_grad"
    assert found.exact.function.name == "cost_grad"


def test_machine_code_that_is_missing_is_made(world, kept):
    program = world()
    first = ad.grad(program.cost, native="strict")(np.ones(3))
    for path in kept.glob("*.code"):
        path.unlink()
    found = _found(ad.grad(program.cost, native="strict"), np.ones(3))
    assert found.run(program.cost, (np.ones(3),)).tolist() == first.tolist()
    assert list(kept.glob("*.code"))


def test_other_types_of_the_same_call_are_compiled(world, kept):
    program = world("def cost(x):\n    return np.sum(x * x)\n")
    ad.grad(program.cost, native="strict")(np.ones((3, 4)))
    found = _found(ad.grad(program.cost, native="strict"), np.ones((3, 4)))
    laid_out = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert found.run(program.cost, (laid_out,)).tolist() == (2.0 * laid_out).tolist()


def test_whole_numbers_that_count_are_looked_at(world, kept):
    program = world(
        "def cost(x, n):\n    parts = (x, x * x, x * x * x)\n    return parts[n] * 2.0\n",
    )
    for n in (0, 1, 2):
        expected = ad.grad(program.cost, native=False)(3.0, n)
        assert ad.grad(program.cost, native="strict")(3.0, n) == expected
    for n in (2, 0, 1):
        specialize.forget()
        assert ad.grad(program.cost, native="strict")(3.0, n) == ad.grad(program.cost, native=False)(3.0, n)
    assert len(list(kept.glob("*.call"))) == 1


def test_what_is_not_a_number_is_computed_again(world, kept):
    program = world(MASKED)
    args = (np.array([0.0, 4.0]),)
    derivative = ad.grad(program.cost, native="strict")
    first = derivative(*args)
    found = _found(derivative, *args)
    assert isinstance(found.call, Speculative)
    assert found.run(program.cost, args).tolist() == first.tolist() == [0.0, 4.0]


def test_structures_have_a_boundary(world, kept):
    program = world("def cost(p, n):\n    return p['a'] * p['b'][0] * n\n")
    args = ({"a": 3.0, "b": [2.0, 1.0]}, 4)
    derivative = ad.grad(program.cost, native="strict")
    first = derivative(*args)
    found = _found(derivative, *args)
    assert found.run(program.cost, args) == first == {"a": 8.0, "b": [12.0, 0.0]}


def _sweeps_of(found):
    return [value for value in found.lanes.values() if isinstance(value, Sweeps)]


def _rows(jacobian, *args):
    """A Jacobian as a later process computes it, and the sweeps that it found."""
    specialize.forget()
    derivative = jacobian(*args)
    kept = [one for table in specialize._tables.values() for entries in table.values() for one in entries]
    (found,) = [one for one in kept if isinstance(one, persistent_cache.KnownSpecialization)]
    return derivative, found


def test_sweeps_of_several_directions_are_found(world, kept):
    program = world(MASKED.replace("total += x[i] + y if x[i] > 0.0 else 0.0", "total += x[i] * x[0] + y"))
    jacobian = ad.jacobian(program.cost, mode="forward", native="strict")
    x = np.arange(1.0, 8.0)
    first = jacobian(x)
    (path,) = kept.glob("*.further")
    second, found = _rows(jacobian, x)
    (sweeps,) = _sweeps_of(found)
    assert isinstance(sweeps.sweep, known_functions.KnownFunction)
    assert second.tolist() == first.tolist()
    np.testing.assert_allclose(first, ad.jacobian(program.cost, mode="forward", native=False)(x), rtol=1e-14)
    for code in kept.glob("*.code"):
        code.unlink()
    assert _rows(jacobian, x)[0].tolist() == first.tolist()
    path.write_bytes(path.read_bytes()[::-1])
    assert _rows(jacobian, x)[0].tolist() == first.tolist()


def test_what_is_harmed_is_made_anew(world, kept):
    program = world()
    harms = (
        lambda path: path.write_bytes(path.read_bytes()[::-1]),
        lambda path: path.write_bytes(path.read_bytes()[:25]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"cost", b"cast")),
        lambda path: path.write_bytes(b"[]"),
        lambda path: path.chmod(0o666),
    )
    for harm in harms:
        specialize.forget()
        first = ad.grad(program.cost, native="strict")(np.ones(3))
        (path,) = kept.glob("*.call")
        harm(path)
        specialize.forget()
        assert ad.grad(program.cost, native="strict")(np.ones(3)).tolist() == first.tolist()
    cache.clear()
    assert not list(kept.glob("*.*"))


def test_derivatives_in_threads_are_not_kept(world):
    assert _entry(world(), native=ad.grad(abs, native=True, threads=2).native) is None


NAMES = [case.name for case in collect()][::13]


@pytest.mark.parametrize("name", NAMES)
def test_programs_are_found_as_they_are_made(name, kept):
    """While the environment asks for checks, what is found is compared with what is made."""
    case = next(case for case in collect() if case.name == name)
    derivative = ad.grad(case.function, native=True)
    try:
        made = derivative.specialized(case.arguments(), {})
    except ad.DifferentiationError:
        return
    specialize.forget()
    found = derivative.specialized(case.arguments(), {})
    assert isinstance(found, persistent_cache.KnownSpecialization) == bool(list(kept.glob("*.call")))
    assert found.emitted.text == made.emitted.text and persistent_cache.CHECKING


def same(found, expected):
    """Whether two structures have the same numbers."""
    assert type(found) is type(expected)
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, dict):
        same(list(found.items()), list(expected.items()))
    elif isinstance(expected, (float, np.ndarray)):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


def _seed_for(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(_seed_for, value))
    return np.ones_like(value) if isinstance(value, np.ndarray) else 1.0


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("name", [name for name in NAMES if is_chosen(name, 8)])
def test_pullbacks_of_programs_are_found_as_they_are_made(name, kept):
    case = next(case for case in collect() if case.name == name)
    results = []
    for _ in range(2):
        specialize.forget()
        try:
            value, pullback = ad.vjp(case.function, *case.arguments(), native=True)
        except ad.DifferentiationError:
            return
        is_known = isinstance(pullback._compiled, persistent_cache.KnownSpecialization)
        try:
            results.append((is_known, pullback._compiled.adjoint_emitted.text, pullback(_seed_for(value))))
        except TypeError:  # a result that is no number
            return
    (_, text, first), (is_known, again, second) = results
    assert is_known == bool(list(kept.glob("*.call"))) and again == text
    same(second, first)


def test_products_with_directions_are_found(world, kept):
    program = world("def cost(x, y):\n    return np.sum(x * x * y)\n")
    args = np.array([1.0, 2.0]), 3.0
    for operator, tangents in ((ad.jvp, (np.ones(2), 1.0)), (ad.hvp, (np.ones(2), None)), (ad.hvp, (np.ones(2), 1.0))):
        expected = operator(program.cost, args, tangents, native=False)
        for _ in range(2):
            specialize.forget()
            same(operator(program.cost, args, tangents, native="strict"), expected)
    assert len(list(kept.glob("*.call"))) == 3
    kinds = [type(one) for table in specialize._tables.values() for entries in table.values() for one in entries]
    assert persistent_cache.KnownSpecialization in kinds


def test_sweeps_of_several_cotangents_are_found(world, kept):
    program = world("def f(x, y):\n    return np.cumsum(x * y[::-1]) * x\n")
    x = np.arange(1.0, 6.0)
    jacobian = ad.jacobian(program.f, wrt=(0, 1), mode="reverse", native="strict")
    first = jacobian(x, x)
    assert len(list(kept.glob("*.further"))) == 1
    again, found = _rows(jacobian, x, x)
    assert all(isinstance(each.sweep, known_functions.KnownFunction) for each in _sweeps_of(found)) and _sweeps_of(
        found
    )
    same(again, first)
    same(first, ad.jacobian(program.f, wrt=(0, 1), mode="forward", native=False)(x, x))


def test_most_programs_are_kept():
    cases = collect()[::13]
    key = ("grad", (("has_aux", False), ("wrt", 0)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(persistent_cache, "is_extended", lambda: False)
        entries = [persistent_cache.Request(key, case.function, True, case.arguments(), {}).entry for case in cases]
    assert 3 * sum(entry is not None for entry in entries) > 2 * len(entries)


# Between processes

SCRIPT = """
import json, sys
import numpy as np
import adjoint as ad
from helper import slope

def cost(x):
    total = 0.0
    for i in range(len(x)):
        total += slope(x[i])
    return total

found = ad.grad(cost, native="strict")(np.array([1.0, 2.0]))
seldom = ("adjoint.frontend.entry.entry", "adjoint.pipeline", "adjoint.codegen.python", "adjoint.native.backend")
print(json.dumps([found.tolist(), [name for name in seldom if name in sys.modules]]))
"""


def _run(folder, helper):
    (folder / "script.py").write_text(SCRIPT)
    (folder / "helper.py").write_text(helper)
    settings = {name: value for name, value in os.environ.items() if not name.startswith("ADJOINT_")}
    settings["ADJOINT_CACHE_DIR"] = str(folder / "cache")
    settings["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    settings["PYTHONDONTWRITEBYTECODE"] = "1"
    script = [sys.executable, str(folder / "script.py")]
    done = subprocess.run(script, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def test_a_later_process_loads_no_front_end(tmp_path):
    square = "def slope(x):\n    return x * x\n"
    first, loaded = _run(tmp_path, square)
    assert first == [2.0, 4.0] and loaded
    assert _run(tmp_path, square) == ([2.0, 4.0], [])
    found, loaded = _run(tmp_path, square.replace("x * x", "5.0 * x"))
    assert found == [5.0, 5.0] and loaded
    assert _run(tmp_path, f"# further down\n\n{square}") == ([2.0, 4.0], [])
    declared = "import adjoint as ad\n\n@ad.derivative_of(slope)\ndef _(x):\n    return x * x, lambda ct: ct * 7.0\n"
    found, loaded = _run(tmp_path, square + declared)
    assert found == [7.0, 7.0] and loaded


def pairs(x, count):
    r = np.zeros(count)
    for i in range(count):
        r[i] = x[i] * x[i + 1]
    return r


def test_patterns_and_entries_of_sparse_derivatives(monkeypatch, tmp_path):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))

    def matrices():
        specialize.forget()
        jacobian = ad.jacobian(pairs, sparsity="auto", native=True)
        return [jacobian(np.arange(5.0), count).toarray() for count in (4, 3)]

    made = matrices()
    matrices()  # each is compared with what is made anew
    monkeypatch.setattr(persistent_cache, "CHECKING", False)
    for module, name in ((patterns, "lower_sets"), (local, "lower_entries")):
        monkeypatch.setattr(module, name, None)
    for found, expected in zip(matrices(), made, strict=True):
        np.testing.assert_array_equal(found, expected)


def twice(x):
    return 2.0 * x


def thrice(x):
    return 3.0 * x


def test_closures_of_libraries_are_told_apart_by_what_they_capture():
    def words(f, *args):
        found = contents.Contents()
        found.function(VectorFunction(f, {"a": np.ones(2), "b": 1.0}, args).function)
        return found.words

    assert words(lambda x: twice(x["a"])) == words(lambda x: twice(x["a"]))
    first, second = (words(lambda x, f=f: f(x["a"])) for f in (twice, thrice))
    assert first != second
    assert words(lambda x, n: x["a"] * n, 2) != words(lambda x, n: x["a"] * n, 3)
