"""The benchmarks measure derivatives that are right, and write their tables themselves."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmark_module(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.mark.parametrize("command", ["benchmarks", "benchmarks.kernels", "benchmarks.gradbench"])
def test_libraries_are_told_of_one_thread_before_they_are_imported(command):
    program = f"import sys, {command}.__main__; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


@pytest.mark.parametrize("arguments", [(0.3, 1.0), (0.05, 0.1), (-0.4, 0.0)])
def test_the_gradient_of_the_hundred_lines(benchmark_module, arguments):
    cost = benchmark_module("vehicle").lap_cost
    gradient = ad.grad(cost, (0, 1))(*arguments)
    width = 1e-6
    for place, found in enumerate(gradient):
        above, below = ([value + sign * width * (i == place) for i, value in enumerate(arguments)] for sign in (1, -1))
        assert found == pytest.approx((cost(*above) - cost(*below)) / (2 * width), rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("name", ["covariance", "heat", "Gram-Schmidt", "cavity"])
def test_array_programs_are_the_same_in_jax(benchmark_module, name):
    pytest.importorskip("jax")
    function, args, wrt = benchmark_module("array_programs").PROGRAMS[name]
    found = benchmark_module("array_programs_in_jax").gradient(name, args, wrt)
    for theirs, ours in zip(found, ad.grad(function, wrt)(*args), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("place", range(3))
def test_the_gradients_of_the_loops(benchmark_module, place):
    loop = benchmark_module("loops").programs(20)[place]
    value, gradient = ad.value_and_grad(loop.function, loop.wrt)(*loop.arguments)
    assert value == pytest.approx(loop.function(*loop.arguments))
    _, pullback = ad.vjp(loop.function, *loop.arguments)
    wanted = pullback(1.0)
    np.testing.assert_allclose(gradient, wanted[loop.wrt] if isinstance(loop.wrt, int) else wanted[: len(loop.wrt)])


@pytest.mark.parametrize("name", ["covariance", "heat", "Gram-Schmidt", "cavity"])
def test_the_gradients_of_the_programs_on_arrays(benchmark_module, name):
    function, args, wrt = benchmark_module("array_programs").PROGRAMS[name]
    check_grads(function, args, wrt=wrt, order=1)


@pytest.mark.parametrize("place", range(2))
def test_the_gradients_of_the_problems_for_threads(benchmark_module, place):
    pytest.importorskip("llvmlite")
    threads = benchmark_module("threads")
    problem = threads.problems(0.001)[place]
    found = ad.value_and_grad(problem.function, problem.wrt, native="strict", threads=2)(*problem.arguments)
    expected = ad.value_and_grad(problem.function, problem.wrt)(*problem.arguments)
    np.testing.assert_allclose(threads._flat(found), threads._flat(expected), rtol=1e-9, atol=1e-9)


def test_a_step_of_training_is_that_of_the_gradient_by_hand(benchmark_module):
    training = benchmark_module("training")
    problem = training._problem()
    ours, theirs = training._adjoint(problem), training._by_hand(problem)
    for _ in range(3):
        assert ours() == pytest.approx(theirs(), rel=1e-12)


def test_a_tiny_network_is_trained(benchmark_module, monkeypatch):
    module = benchmark_module("exclusive_or")
    losses = module._adjoint()()
    assert len(losses) == module.STEPS and losses[-1] < 0.1 * losses[0]
    assert module._adjoint()() == losses
    assert module._adjoint_native()() == pytest.approx(losses, rel=1e-9)
    ours = dict(list(module.CONTESTANTS.items())[:1])
    monkeypatch.setattr(module, "CONTESTANTS", {**ours, "nobody": ("no_such_package", module._jax)})
    results = module.measure(quick=True)
    assert results.notes == ["Not installed: no_such_package."] and results.rows[0][3] == "1.00 ×"
    with pytest.raises(AssertionError):
        module.check({"Adjoint, interpreted": lambda: losses, "wrong": lambda: [1.0] * len(losses)})


def test_adam_on_many_parameters(benchmark_module, monkeypatch):
    module = benchmark_module("memory_bound")
    monkeypatch.setattr(module, "PARAMETERS", 100_000)
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None if name == "torch" else name)
    results = module.measure(quick=True)
    names = [row[0] for row in results.rows]
    assert names == ["bound: memory alone", "Adjoint, native", "Adjoint, interpreted"]
    assert results.notes == ["Not installed: torch."]


def test_growth_is_measured_from_size_to_size(benchmark_module, monkeypatch):
    module = benchmark_module("growth")
    monkeypatch.setattr(module, "QUICK", (10, 100))
    monkeypatch.setattr(module.gc, "collect", lambda: 0)
    rows = module.measure(quick=True).rows
    assert [row[:2] for row in rows[:2]] == [("stepping", "10"), ("stepping", "100")] and len(rows) == 12
    assert all((row[6] == "") == (row[1] == "10") and row[8].endswith(" bytes") for row in rows)


def test_contestants_take_turns(benchmark_module):
    calls = []
    times = benchmark_module("timing").race({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3)
    assert set(times) == {"a", "b"}
    assert all(len(found.turns) == 3 and 0 < found.best <= found.median for found in times.values())


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.1234, "123 ms"), (1e-3, "1 ms"), (4.56e-6, "4.56 µs"), (120.0, "120 s"), (3e-9, "3 ns")],
)
def test_durations(benchmark_module, seconds, text):
    assert benchmark_module("report").duration(seconds) == text


def test_tables_are_written_as_markdown(benchmark_module):
    report = benchmark_module("report")
    table = report.Results("Title", "What it is.", ("", "time"), [("row", "1 ms")], ["A note."])
    text = report.markdown([table], "python -m benchmarks")
    assert "Written by `python -m benchmarks`; do not edit." in text
    assert "|  | time |\n| --- | ---: |\n| row | 1 ms |" in text
    assert text.rstrip().endswith("A note.")


def test_only_what_is_installed_takes_part(benchmark_module, monkeypatch):
    training = benchmark_module("training")
    missing = {"nobody": ("no_such_package", training._by_hand)}
    monkeypatch.setattr(training, "CONTESTANTS", {**dict(list(training.CONTESTANTS.items())[:2]), **missing})
    results = training.measure(quick=True)
    assert results.notes == ["Not installed: no_such_package."]
    assert [row[0] for row in results.rows] == ["Adjoint, interpreted", "NumPy, gradient by hand"]


def test_the_command_writes_its_tables(benchmark_module, monkeypatch, tmp_path, capsys):
    command, report = benchmark_module("__main__"), benchmark_module("report")
    for name in command.SECTIONS:
        table = report.Results(name, "", ("", "time"), [("row", "1 ms")])
        monkeypatch.setattr(benchmark_module(name), "measure", lambda quick, table=table: table)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--quick", "--output", str(tmp_path / "results.md")])
    monkeypatch.setattr(command, "ONE_THREAD", {})
    assert command.main() == 0
    text = (tmp_path / "results.md").read_text()
    assert all(f"## {name}\n" in text for name in command.SECTIONS) and "--quick" in text
    again = report.Results("loops", "", ("", "time"), [("row", "2 ms")])
    monkeypatch.setattr(benchmark_module("loops"), "measure", lambda quick: again)
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--only", "loops"])
    assert command.main() == 0
    merged = (tmp_path / "results.md").read_text()
    assert merged.count("2 ms") == 1 and merged.count("1 ms") == text.count("1 ms") - 1
    assert [line for line in merged.splitlines() if "##" in line] == [
        line for line in text.splitlines() if "##" in line
    ]


def test_the_gradient_of_the_long_loop(benchmark_module):
    checkpoints = benchmark_module("checkpoints")
    u = np.linspace(0.01, 0.02, 5)
    checkpoints._check(u, ad.grad(checkpoints.growth)(u, 1.0 / 200, 200, 7))


def test_back_ends_are_told(benchmark_module) -> None:
    back_ends = benchmark_module("back_ends")
    function, args, wrt = benchmark_module("array_programs").PROGRAMS["covariance"]
    assert back_ends.stage_of(function, args, wrt) == ("", 0)

    def remembered(x, n):
        table = {i: x * x for i in range(n)}
        return table[1]

    reason, count = back_ends.stage_of(remembered, (3.0, 2), (0,))
    assert not reason and count

    def is_the_other(x, y):
        return np.sum(x) if x is y else np.sum(y)

    assert "identity" in back_ends.stage_of(is_the_other, (np.ones(3), np.ones(3)), (0,))[0]
