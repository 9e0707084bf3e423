"""The operators as users meet them: kinds of functions, ways to name arguments, results, tools around them."""

import copy
import functools
import inspect
import linecache
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

SOURCE = str(Path(ad.__file__).parents[1])
THIS = os.path.relpath(__file__)


def polynomial(x, y=2.0, *, k=3.0):
    return x * x * y * k


def square(x):
    return x * x


class Spring:
    scale = 2.0

    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        return self.stiffness * x * x

    def __call__(self, x):
        return self.stiffness * x

    @staticmethod
    def plain(x):
        return x * x

    @classmethod
    def scaled(cls, x):
        return cls.scale * x * x


def message_of(action: Any) -> str:
    with pytest.raises(ad.DifferentiationError) as caught:
        action()
    return str(caught.value)


# -- kinds of functions -----------------------------------------------------------------------------------------------


def test_methods() -> None:
    spring = Spring(3.0)
    assert ad.grad(spring.energy)(2.0) == 12.0
    assert ad.grad(Spring.energy, wrt=1)(spring, 2.0) == 12.0
    assert ad.grad(Spring.energy)(spring, 2.0).stiffness == 4.0
    assert ad.grad(Spring.plain)(2.0) == ad.grad(spring.plain)(2.0) == 4.0
    assert ad.grad(Spring.scaled)(2.0) == ad.grad(spring.scaled)(2.0) == 8.0


def test_callable_objects() -> None:
    assert ad.grad(Spring(3.0))(2.0) == 3.0


def test_functions_of_libraries() -> None:
    assert ad.grad(math.sin)(0.0) == 1.0
    assert ad.grad(np.sin)(0.0) == 1.0
    assert ad.grad(abs)(-2.0) == -1.0
    assert ad.grad(np.multiply, wrt=(0, 1))(2.0, 3.0) == (3.0, 2.0)
    np.testing.assert_array_equal(ad.grad(np.sum)(np.ones((2, 3))), np.ones((2, 3)))


def test_partials() -> None:
    assert ad.grad(functools.partial(polynomial, 2.0))(5.0) == 12.0
    assert ad.grad(functools.partial(polynomial, k=5.0))(1.0) == 20.0
    assert ad.grad(functools.partial(polynomial, k=5.0), wrt="y")(1.0, y=2.0) == 5.0


def test_active_value_bound_by_partial() -> None:
    def f(x):
        return functools.partial(polynomial, x, k=x)(2.0)

    assert ad.grad(f)(3.0) == 54.0


def test_wrappers_are_differentiated_as_themselves() -> None:
    def twice(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return 2.0 * function(*args, **kwargs)

        return wrapper

    @twice
    def decorated(x):
        return x * x

    assert ad.grad(decorated)(3.0) == 12.0


def test_collecting_parameters() -> None:
    def f(*args, **named):
        total = 0.0
        for item in args:
            total = total + item * item
        for value in named.values():
            total = total + 3.0 * value
        return total

    assert ad.grad(f, wrt=(0, 1))(2.0, 5.0, s=1.0) == (4.0, 10.0)
    assert ad.grad(f, wrt="s")(2.0, 5.0, s=1.0) == 3.0


def test_functions_of_notebooks() -> None:
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_module.InteractiveShell.instance()
    try:
        shell.run_cell("import adjoint as ad\ndef cell(x):\n    return x * x * x\n")
        shell.run_cell("slope = ad.grad(cell)(2.0)\nboth = ad.grad(lambda x: cell(x) * 2.0)(1.0)")
        assert shell.user_ns["slope"] == 12.0
        assert shell.user_ns["both"] == 6.0
        shown, _ = shell.display_formatter.format(shell.ev("ad.grad(cell)"))
        assert shown["text/plain"] == "grad(cell)"
        assert "cell_grad" in shown["text/html"]
    finally:
        shell_module.InteractiveShell.clear_instance()


def test_functions_without_source() -> None:
    code = (
        "import adjoint as ad\n"
        "exec('def f(x): return x * x')\n"
        "try:\n    ad.grad(f)(1.0)\n"
        "except ad.DifferentiationError as problem:\n    print(problem)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": SOURCE}
    )
    expected = "error[AD0101]: no source available for 'f'\n"
    assert done.stdout.startswith(expected), done.stdout + done.stderr


# -- naming arguments -------------------------------------------------------------------------------------------------


def test_ways_to_name_arguments() -> None:
    assert ad.grad(polynomial)(1.0) == 12.0
    assert ad.grad(polynomial, wrt=-1)(1.0, 4.0) == 3.0
    assert ad.grad(polynomial, wrt=1)(1.0, y=4.0) == 3.0
    assert ad.grad(polynomial, wrt="y")(1.0, 4.0) == 3.0
    assert ad.grad(polynomial, wrt="k")(1.0, k=4.0) == 2.0
    assert ad.grad(polynomial, wrt=("x", "k"))(1.0, 4.0, k=2.0) == (16.0, 4.0)
    assert ad.grad(polynomial, wrt=[0, 1])(1.0, 4.0) == (24.0, 3.0)
    assert ad.grad(polynomial, wrt=(0,))(1.0) == (12.0,)
    assert ad.grad(polynomial)(y=4.0, x=1.0) == 24.0


def test_matrices_take_arguments_by_name() -> None:
    assert ad.jacobian(polynomial)(1.0, k=2.0) == 8.0
    assert ad.jacobian(polynomial, wrt="y")(1.0, y=4.0) == 3.0
    assert ad.hessian(polynomial)(1.0, y=4.0, k=2.0) == 16.0
    assert ad.hessian(polynomial, wrt=("x", "y"))(1.0, 4.0, k=2.0) == ((16.0, 4.0), (4.0, 0.0))
    assert ad.jacobian(polynomial, wrt="k")(1.0, k=2.0) == ad.grad(polynomial, wrt="k")(1.0, k=2.0)


@pytest.mark.parametrize(
    ("wrt", "label"),
    [
        ("z", "'z' is not among its parameters: 'x', 'y', 'k'"),
        ("k", "'k' is not given in this call: 'x', 'y', 'k'"),
        (2, "wrt=2, but the call has 2 positional arguments"),
        ((0, "x"), "wrt=(0, 'x') names the argument 'x' twice"),
    ],
)
def test_wrong_names(wrt: Any, label: str) -> None:
    line = polynomial.__code__.co_firstlineno
    found = message_of(lambda: ad.grad(polynomial, wrt=wrt)(1.0, 4.0))
    lines = found.splitlines()
    assert lines[0] == "error[AD0405]: wrt must name parameters of the function, each once"
    assert lines[1].strip() == f"--> {THIS}:{line}:1"
    assert lines[3] == f"{line} | def polynomial(x, y=2.0, *, k=3.0):"
    assert lines[4] == f"   | ^^^^^^^^^^^^^^ {label}"
    assert "= help: " in lines[-1]


def test_an_argument_for_wrt() -> None:
    lines = message_of(lambda: ad.grad(square, 1.5)).splitlines()
    assert lines[0] == "error[AD0405]: wrt must name parameters of the function, each once"
    assert lines[4].endswith("^ wrt=1.5 is no index, name or key path")
    assert lines[6] == "    = help: to differentiate there, call what comes back: ad.grad(square)(1.5)"
    assert ad.grad(polynomial, wrt=np.int64(1))(1.0, 2.0) == ad.grad(polynomial, wrt=1)(1.0, 2.0)


@pytest.mark.parametrize(
    ("argument", "title", "label", "way"),
    [
        (
            3,
            "error[AD0403]: cannot differentiate with respect to an integer",
            "argument 0 is the integer 3",
            "3.0 for 3",
        ),
        (
            np.arange(3),
            "error[AD0403]: cannot differentiate with respect to an integer",
            "argument 0 is an array of int64",
            "x.astype(float)",
        ),
        (
            "text",
            "error[AD0404]: cannot differentiate with respect to this argument: nothing in it can vary",
            "argument 0 is 'text'",
            "numbers are given as floats",
        ),
        (
            None,
            "error[AD0404]: cannot differentiate with respect to this argument: nothing in it can vary",
            "argument 0 is None",
            "numbers are given as floats",
        ),
    ],
)
def test_arguments_that_cannot_vary(argument: Any, title: str, label: str, way: str) -> None:
    lines = message_of(lambda: ad.grad(square)(argument)).splitlines()
    line = square.__code__.co_firstlineno
    assert lines[0] == title
    assert lines[1].strip() == f"--> {THIS}:{line}:12"
    assert lines[4].endswith(f"^ {label}")
    assert way in lines[-1]


def test_what_is_no_function() -> None:
    lines = message_of(lambda: ad.grad(3.0)).splitlines()  # type: ignore[arg-type]
    assert lines[0] == "error[AD0103]: cannot differentiate 'float': it is not a function"
    assert lines[4].endswith("^^^ ad.grad was given a value of type 'float'")
    assert lines[6] == "    = help: hand over the function itself, not its result: ad.grad(f), not ad.grad(f(x))"


@pytest.mark.parametrize("args", [(), (1.0, 2.0, 3.0)])
def test_calls_that_do_not_fit(args: Any) -> None:
    assert message_of(lambda: ad.grad(polynomial)(*args)).startswith(("error[AD0203]", "error[AD0405]"))


# -- kinds of numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [square, lambda x: 2.5 * x, lambda x: x, lambda x: x - 1.0, lambda x: np.sin(x)])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_gradients_have_the_class_of_the_argument(f: Any, kind: Any) -> None:
    gradient = ad.grad(f)(kind(2.0))
    assert type(gradient) is kind
    assert gradient == pytest.approx(float(ad.grad(f)(2.0)), rel=1e-6)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_results_of_one_element(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 3.0)
    gradient = ad.grad(square)(x)
    assert isinstance(gradient, np.ndarray)
    np.testing.assert_array_equal(gradient, np.full(shape, 6.0))


def test_float32_arrays() -> None:
    value, gradient = ad.value_and_grad(lambda x: np.sum(x * x))(np.ones(2, np.float32))
    assert value.dtype == gradient.dtype == np.float32


def test_whole_numbers_in_float_fields() -> None:
    @dataclass
    class Model:
        a: float
        n: int = 2

    gradient = ad.grad(lambda model: model.a * model.a * model.n)(Model(3))  # type: ignore[arg-type]
    assert gradient.a == 12.0 and type(gradient.a) is float
    assert not hasattr(gradient, "n") or gradient.n is None


def test_aux() -> None:
    def f(x):
        return x * x, {"half": x / 2.0}

    assert ad.grad(f, has_aux=True)(2.0) == (4.0, {"half": 1.0})
    assert ad.value_and_grad(f, has_aux=True)(2.0) == ((4.0, {"half": 1.0}), 4.0)
    assert "must return a pair (value, aux)" in message_of(lambda: ad.grad(square, has_aux=True)(2.0))


def test_results_that_are_no_number() -> None:
    assert "ad.jacobian(square)" in message_of(lambda: ad.grad(square)(np.ones(2)))
    assert "this returns a tuple of 2" in message_of(lambda: ad.grad(lambda x: (x, x))(2.0))
    assert "this returns None" in message_of(lambda: ad.grad(lambda x: None)(2.0))


# -- as objects -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [square, math.sin, Spring(3.0).energy, functools.partial(polynomial, k=2.0)])
def test_pickle(function: Any) -> None:
    derivative = ad.value_and_grad(function)
    again = pickle.loads(pickle.dumps(derivative))
    assert again(2.0) == derivative(2.0)
    assert pickle.loads(pickle.dumps(derivative))(2.0) == derivative(2.0)  # once it was called
    assert repr(again) == repr(derivative)


def test_pickle_of_matrices_and_of_derivatives_of_derivatives() -> None:
    assert pickle.loads(pickle.dumps(ad.jacobian(square)))(2.0) == 4.0
    assert pickle.loads(pickle.dumps(ad.grad(ad.grad(square))))(2.0) == 2.0


def test_cloudpickle_of_closures() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    k = 3.0
    derivative = ad.grad(lambda x: k * x * x)
    assert derivative(1.0) == 6.0
    assert pickle.loads(cloudpickle.dumps(derivative))(1.0) == 6.0


def test_cloudpickle_into_another_process(tmp_path) -> None:
    """What is defined in a script goes with its derivative, and so does its text."""
    pytest.importorskip("cloudpickle")
    script = """
import cloudpickle, pickle, sys, adjoint as ad
rate = 3.0
def scaled(x):
    return rate * x
def f(x):
    return scaled(x) * x
with open(sys.argv[1], "wb") as file:
    cloudpickle.dump(ad.grad(f), file)
"""
    (tmp_path / "script.py").write_text(script)
    kept = tmp_path / "derivative.pkl"
    subprocess.run([sys.executable, str(tmp_path / "script.py"), str(kept)], check=True, cwd=tmp_path)
    (tmp_path / "script.py").unlink()
    assert pickle.loads(kept.read_bytes())(2.0) == 12.0


def test_copies() -> None:
    derivative = ad.grad(polynomial, wrt="y")
    assert copy.copy(derivative)(1.0, y=4.0) == copy.deepcopy(derivative)(1.0, y=4.0) == 3.0


@pytest.mark.slow
def test_spawned_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spawned_function.py").write_text("def cube(x):\n    return x * x * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([SOURCE, str(tmp_path)]))
    from spawned_function import cube  # type: ignore[import-not-found]

    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(ad.grad(cube), [1.0, 2.0, 3.0]) == [3.0, 12.0, 27.0]


@pytest.mark.slow
def test_joblib() -> None:
    joblib = pytest.importorskip("joblib")
    k = 2.0
    derivative = ad.grad(lambda x: k * x * x)
    with joblib.parallel_config("threading"):
        assert joblib.Parallel(2)(joblib.delayed(derivative)(x) for x in (1.0, 2.0)) == [4.0, 8.0]


def test_threads_compile_once_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    from adjoint.dispatch import compiling

    compiled: list[None] = []
    compile_entry = compiling.compile_entry

    def counting(*args: Any, **options: Any) -> Any:
        compiled.append(None)
        return compile_entry(*args, **options)

    monkeypatch.setattr(compiling, "compile_entry", counting)

    def f(x):
        for _ in range(20):
            x = math.sin(x) * 1.01
        return x

    derivative, start, found = ad.grad(f), threading.Barrier(8), []

    def work() -> None:
        start.wait()
        found.extend(derivative(0.5) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiled) == 1
    assert len(found) == 160 and len(set(found)) == 1


# -- looking into them ------------------------------------------------------------------------------------------------


def test_repr() -> None:
    assert repr(ad.grad(square)) == "grad(square)"
    assert repr(ad.value_and_grad(polynomial, wrt="k", has_aux=True)) == (
        "value_and_grad(polynomial, has_aux=True, wrt='k')"
    )
    assert repr(ad.grad(ad.grad(square))) == "grad(grad(square))"
    assert repr(ad.grad(functools.partial(polynomial, 1.0))) == "grad(partial(polynomial))"
    assert repr(ad.grad(Spring(1.0))) == "grad(Spring)"
    assert repr(ad.jacobian(square)) == "jacobian(square)"


def test_docstring_and_module() -> None:
    def f(x):
        """Doubles."""
        return 2.0 * x

    assert ad.grad(f).__doc__ == "The gradient of f.\n\nDoubles."
    assert ad.grad(f).__module__ == __name__


def test_notebook_display() -> None:
    def f(x):
        return x * x

    derivative = ad.grad(f)
    assert derivative._repr_html_() is None  # nothing is known of its arguments
    derivative(1.0)
    shown = derivative._repr_html_()
    assert shown is not None and "f_grad" in shown and 'aria-label="Program"' in shown and "<style>" in shown


def test_source_without_arguments() -> None:
    def typed(x: float, n: int) -> float:
        return x * n

    def untyped(x):
        return x * x

    assert "def typed_grad(x, n):" in ad.source(ad.grad(typed))
    assert "the types of the arguments are not known" in message_of(lambda: ad.source(ad.grad(untyped)))


def test_tools_find_the_source_of_compiled_code() -> None:
    derivative = ad.grad(polynomial)
    compiled = derivative.specialized((1.0,), {}).call
    assert inspect.getsource(compiled) == ad.source(derivative, 1.0)
    linecache.checkcache()
    assert inspect.getsource(compiled) == ad.source(derivative, 1.0)


def test_tracebacks_show_generated_lines() -> None:
    def f(x, n):
        return x * x / n

    try:
        ad.grad(f)(1.0, 0)
    except ZeroDivisionError as failure:
        text = "".join(traceback.format_exception(failure))
    assert "<adjoint f_grad #" in text
    assert "/ n" in text


def test_stepping_through_generated_code() -> None:
    lines: list[str] = []
    compiled = ad.grad(polynomial).specialized((1.0,), {}).call

    def tracer(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code is compiled.__code__ and event == "line":
            lines.append(linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip())
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        compiled(1.0, 2.0, 3.0)
    finally:
        sys.settrace(before)
    assert lines and lines[-1].startswith("return ")


def test_stages() -> None:
    text = ad.stages(polynomial, 1.0)
    titles = [line for line in text.splitlines() if line.startswith("-- ")]
    assert titles == ["-- source", "-- lowered", "-- simplified", "-- derivative", "-- text"]
    assert "def polynomial(x, y=2.0, *, k=3.0):" in text
    assert ad.source(ad.grad(polynomial), 1.0) in text
    assert "value_and_grad" in ad.stages(ad.value_and_grad(polynomial), 1.0)


def energy(x, k):
    return k * np.sum(x * x) + x[0] * x[1]


def descend(x, k, steps):
    for _ in range(steps):
        x = x - 0.1 * ad.grad(energy)(x, k)
    return x


@pytest.mark.parametrize("native", [False, "strict"])
def test_compile(native):
    compiled = ad.compile(descend, native=native)
    start = np.array([1.0, 2.0])
    np.testing.assert_allclose(compiled(start, 0.5, 4), descend(start, 0.5, 4), rtol=1e-14)
    np.testing.assert_array_equal(start, [1.0, 2.0])
    assert repr(compiled).startswith("compile(descend")


def test_derivative_of_what_is_compiled():
    compiled = ad.compile(descend, native=False)
    start = np.array([1.0, 2.0])

    def loss(k):
        return np.sum(compiled(start, k, 4))

    check_grads(loss, (0.5,))
