"""What is compared computes the same, and is written down."""

import importlib
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.gradbench.{name}")


@pytest.fixture
def small(benchmarks, monkeypatch):
    """Inputs so small that they take no time."""
    inputs, contestants = benchmarks("inputs"), benchmarks("contestants")
    cases = {
        "gmm": inputs.gmm(3, 4, 6, 0.8, 1),
        "ba": inputs.ba(2, 3, 5),
        "lstm": inputs.lstm(2, 3, 5),
        "ht": inputs.hand(6, 5, in_triangles=True),
        "ode": inputs.ode(5, 3),
        "lse": inputs.lse(7),
        "det": inputs.det(4),
        "llsq": inputs.llsq(4, 6),
        "kmeans": inputs.kmeans(3, 12, 2),
    }
    assert set(cases) == set(contestants.CASES)
    monkeypatch.setattr(contestants, "CASES", {name: (lambda case=case: case,) for name, case in cases.items()})
    return contestants


def interpreted(benchmarks, monkeypatch):
    """Adjoint takes part without a compiler."""
    contestants = benchmarks("contestants")
    build = benchmarks("build").Build
    monkeypatch.setattr(contestants, "Build", lambda native=False, fastmath=False: build(native=False))


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", ["gmm", "ba", "lstm", "ht", "ode", "lse", "det", "llsq", "kmeans"])
def test_c_by_hand(benchmarks, small, monkeypatch, name, fast):
    if small.missing(small.C):
        pytest.skip("there is no C compiler")
    interpreted(benchmarks, monkeypatch)
    numbers = benchmarks("peers.peer").numbers
    args = small.arguments(name, "S")
    ours, theirs = small.peer(small.OURS, name, args), small.peer(small.C_FAST if fast else small.C, name, args)
    for one, other in ((ours.primal(), theirs.primal()), (ours.gradient(), theirs.gradient())):
        wanted = numbers(one)
        np.testing.assert_allclose(numbers(other), wanted, rtol=1e-9, atol=1e-9 * np.max(np.abs(wanted)))


@pytest.mark.parametrize("turned", [True, False])
def test_hands_by_hand_that_are_not_turned(benchmarks, small, monkeypatch, turned):
    if small.missing(small.C):
        pytest.skip("there is no C compiler")
    interpreted(benchmarks, monkeypatch)
    given = benchmarks("inputs").hand(6, 5, in_triangles=True, turned=turned)
    args = benchmarks("ht").prepare(given)
    found, wanted = (small.peer(name, "ht", args).gradient() for name in (small.C, small.OURS))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_the_array_formulas(benchmarks, small, monkeypatch):
    """They are for other systems; NumPy can evaluate them too."""
    interpreted(benchmarks, monkeypatch)
    formulas = benchmarks("peers.formulas")
    numbers = benchmarks("peers.peer").numbers
    from scipy.special import logsumexp

    def of(name):
        return small.arguments(name, "S")

    cameras, points, weights, features, which_camera, which_point = of("ba")
    theta, us, parents, relatives, inverses, positions, skin, *seen = of("ht")
    values = {
        "gmm": formulas.gmm(np, logsumexp, *of("gmm")),
        "ba": (
            formulas.reprojection(np, cameras[which_camera], points[which_point], weights, features),
            1.0 - weights**2,
        ),
        "lstm": formulas.lstm(np, *of("lstm")),
        "ht": formulas.hand_errors(np, theta, us, (parents, relatives, inverses, positions, skin), *seen),
        "ode": formulas.ode(np, *of("ode")),
        "det": formulas.det(np, of("det")[0]),
        "llsq": formulas.llsq(np, *of("llsq")),
        "kmeans": formulas.kmeans(np, *of("kmeans")),
    }
    for name, found in values.items():
        wanted = numbers(small.peer(small.OURS, name, of(name)).primal())
        np.testing.assert_allclose(numbers(found), wanted, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("name", ["JAX", "PyTorch", "autograd"])
@pytest.mark.parametrize("case", ["gmm", "ba", "lstm", "ht", "ode", "lse", "det", "llsq", "kmeans"])
def test_other_systems(benchmarks, small, monkeypatch, name, case):
    if small.missing(name):
        pytest.skip(f"{name} is not installed")
    interpreted(benchmarks, monkeypatch)
    numbers = benchmarks("peers.peer").numbers
    args = small.arguments(case, "S")
    wanted = numbers(small.peer(small.OURS, case, args).gradient())
    found = numbers(small.peer(name, case, args).gradient())
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.max(np.abs(wanted)))


def test_contestants_must_agree(benchmarks, small, monkeypatch):
    interpreted(benchmarks, monkeypatch)
    measuring, peer = benchmarks("measuring"), benchmarks("peers.peer").Peer
    answers = {small.OURS: 1.0, small.OURS_FAST: 1.0 + 1e-6}
    monkeypatch.setattr(small, "NAMES", tuple(answers))
    monkeypatch.setattr(small, "peer", lambda name, *_: peer(lambda: 0.0, lambda: answers[name]))
    with pytest.raises(AssertionError, match="Adjoint, fastmath"):
        measuring.measure("lse", "S", 1)


def test_processes_tell_what_they_measured(benchmarks, small, monkeypatch, capsys):
    measuring, summary = benchmarks("measuring"), benchmarks("summary")
    monkeypatch.setattr(measuring, "measure", lambda *case: {small.OURS: measuring.Measured(1.0, 2.0)})
    monkeypatch.setattr(measuring.sys, "argv", ["measuring", "3", "lse/S", "lse/M"])
    measuring._main()
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [{small.OURS: {"primal": 1.0, "gradient": 2.0}}] * 2

    first = {small.OURS_FAST: measuring.Measured(2.0, 3.0), small.JAX: measuring.Measured(2.0, 2.0)}
    second = {small.OURS_FAST: measuring.Measured(1.0, 4.0), small.JAX: measuring.Measured(2.0, 8.0)}
    runs = [{("lse", "S"): first}, {("lse", "S"): second}]
    merged = measuring.fastest_of(runs)
    assert merged[("lse", "S")][small.OURS_FAST] == measuring.Measured(1.0, 3.0)
    (row,) = summary.ours(merged, runs).rows
    assert row[4:6] == ("1.50 ×", "0.50 to 1.50")


def test_a_process_that_fails_is_told(benchmarks, monkeypatch):
    measuring = benchmarks("measuring")
    with pytest.raises(subprocess.CalledProcessError):
        list(measuring.in_a_process([("nothing", "S")], 1))


def test_the_tables_and_the_plot(benchmarks, small, monkeypatch, tmp_path, capsys):
    interpreted(benchmarks, monkeypatch)
    compare, summary = benchmarks("compare"), benchmarks("summary")
    report = importlib.import_module("benchmarks.report")
    monkeypatch.setattr(compare, "ONE_THREAD", {})
    monkeypatch.setattr(small, "NAMES", (small.OURS, small.OURS_FAST))
    monkeypatch.setattr(summary, "nested", lambda rounds: report.Results("nested", "", ("", "rr"), [("saddle", "1 s")]))
    output, plot = tmp_path / "results.md", tmp_path / "results.svg"
    options = ["compare", "--quick", "--evals", "llsq", "lse", "--output", str(output), "--plot", str(plot)]
    monkeypatch.setattr(compare.sys, "argv", options)
    assert compare.main() == 0
    text = output.read_text()
    assert "| llsq S |" in text and "| lse S, fastmath |" in text and "![" in text and "(results.svg)" in text
    assert plot.read_text().lstrip().startswith("<?xml")


def test_a_process_tells_of_its_first_derivative(benchmarks, monkeypatch, capsys):
    probe = benchmarks("probe")
    contestants, peer = benchmarks("contestants"), benchmarks("peers.peer").Peer
    monkeypatch.setattr(contestants, "arguments", lambda name, size: ())
    monkeypatch.setattr(contestants, "peer", lambda *_: peer(lambda: None, lambda: np.ones(4_000_000).sum()))
    monkeypatch.setattr(probe.sys, "argv", ["probe", "C by hand", "lse", "S"])
    probe._main()
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["first"] < 60
    assert found["peak"] is None or 2e7 < found["peak"] < 2e8


def test_memory_that_is_freed_is_taken_again(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    timing = importlib.import_module("benchmarks.timing")
    told = []

    class Library:
        def mallopt(self, parameter, value):
            told.append((parameter, value))

    monkeypatch.setattr(timing.ctypes, "CDLL", lambda name: Library())
    timing.keep_freed_memory()
    assert [parameter for parameter, _ in told] == [-3, -1]
    monkeypatch.setattr(timing.ctypes, "CDLL", lambda name: object())
    timing.keep_freed_memory()
    assert len(told) == 2
