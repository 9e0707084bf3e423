"""The command answers the messages of GradBench, and nothing else."""

import importlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.gradbench.{name}")


@pytest.fixture
def converse(benchmarks):
    """What answers messages, without a process of its own."""

    def answers(*messages):
        lines = [json.dumps({"id": number, **message}) + "\n" for number, message in enumerate(messages)]
        written = io.StringIO()
        benchmarks("protocol").serve(lines, written, benchmarks("build").Build(native=False))
        found = [json.loads(line) for line in written.getvalue().splitlines()]
        assert [answer.pop("id") for answer in found] == list(range(len(found)))
        return found

    return answers


def evaluate(module, function, given):
    return {"kind": "evaluate", "module": module, "function": function, "input": given}


def test_a_conversation_with_the_process():
    messages = [
        {"kind": "start", "eval": "hello"},
        {"kind": "define", "module": "hello"},
        evaluate("hello", "square", 3.0),
        evaluate("hello", "double", 9.0),
        {"kind": "analysis", "of": 3, "valid": True},
        {"kind": "define", "module": "unheard of"},
        {"kind": "end"},
    ]
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.gradbench"],
        input="".join(json.dumps({"id": number, **message}) + "\n" for number, message in enumerate(messages)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=300,
        check=True,
    )
    start, define, square, double, analysis, unknown = map(json.loads, process.stdout.splitlines())
    assert start == {"id": 0, "tool": "adjoint"}
    assert define == {"id": 1, "success": True}
    assert square["success"] and square["output"] == 9.0
    assert double["success"] and double["output"] == 18.0
    assert [timing["name"] for timing in double["timings"]] == ["evaluate"]
    assert analysis == {"id": 4}
    assert unknown["success"] is False and "unheard of" in unknown["error"]


@pytest.mark.parametrize(("limits", "least"), [({}, 1), ({"min_runs": 4, "min_seconds": 0}, 4), ({"runs": 3}, 3)])
def test_there_are_as_many_runs_as_asked_for(converse, limits, least):
    (answer,) = converse(evaluate("lse", "gradient", {"x": [1.0, 2.0], **limits}))
    assert len(answer["timings"]) == least
    assert all(isinstance(timing["nanoseconds"], int) for timing in answer["timings"])


def test_it_runs_until_the_time_is_over(converse):
    (answer,) = converse(evaluate("lse", "primal", {"x": [1.0, 2.0], "min_runs": 1, "min_seconds": 0.01}))
    assert sum(timing["nanoseconds"] for timing in answer["timings"]) >= 1e7
    assert len(answer["timings"]) > 1


def test_errors_are_answers(converse):
    unknown, failing, after = converse(
        evaluate("hello", "cube", 1.0), evaluate("gmm", "jacobian", {"d": 2}), evaluate("hello", "square", 2.0)
    )
    assert unknown["success"] is False and "'cube'" in unknown["error"]
    assert failing["success"] is False and "KeyError" in failing["error"]
    assert after["output"] == 4.0


def test_what_is_printed_is_no_answer(converse, benchmarks, monkeypatch, capsys):
    evaluation = benchmarks("evaluation")
    talking = evaluation.Function(lambda given: (given,), lambda x: print("here") or x)
    monkeypatch.setattr(benchmarks("protocol"), "functions_of", lambda name, build: {"talk": talking})
    (answer,) = converse(evaluate("any", "talk", 1.0))
    assert answer["output"] == 1.0
    assert capsys.readouterr().err == "here\nhere\n"


def test_results_are_checked_against_files(benchmarks, tmp_path, monkeypatch, capsys):
    points = benchmarks("inputs").kmeans(3, 9, 2)
    np.savez(tmp_path / "kmeans_small.npz", **{name: np.array(part) for name, part in points.items()})
    kmeans = benchmarks("kmeans")
    arguments = kmeans.prepare(points)
    step = kmeans.direction(benchmarks("build").Build(native=False))(*arguments)
    np.savez(tmp_path / "kmeans_small_ref.npz", objective=kmeans.cost(*arguments), dir=step)
    command = benchmarks("__main__")
    monkeypatch.setattr(command, "ONE_THREAD", {})
    monkeypatch.setattr(sys, "argv", ["gradbench", "--interpreted", "--check", str(tmp_path)])
    assert command.main() == 0
    assert "kmeans_small" in capsys.readouterr().out
    np.savez(tmp_path / "kmeans_small_ref.npz", objective=kmeans.cost(*arguments), dir=step * (1 + 1e-8))
    assert command.main() == 1


@pytest.mark.parametrize("in_triangles", [True, False])
def test_a_hand_in_a_file_is_read_as_it_is_sent(benchmarks, tmp_path, in_triangles):
    sent = benchmarks("inputs").hand(5, 4, in_triangles)
    parts = {"theta": sent["theta"], "us": sent["us"], **sent["data"]["model"]}
    parts.update(correspondences=sent["data"]["correspondences"], points=sent["data"]["points"])
    np.savez(tmp_path / "ht_small.npz", **{name: np.array(part) for name, part in parts.items()})
    prepare = benchmarks("ht").prepare
    ours, theirs = prepare(benchmarks("check").load(tmp_path / "ht_small.npz")), prepare(sent)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
