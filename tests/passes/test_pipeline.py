"""Pipelines: their names, their homes, what they verify, tell and leave out."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import adjoint as ad
from adjoint import ir, passes, pipeline
from adjoint.ir.verifier import InvalidIR
from adjoint.passes import DRIVERS, PASSES, Context, apply
from adjoint.pipeline import run
from adjoint.target import MACHINE, PYTHON, Target
from ir.building import build

PIPELINES = {
    name: value
    for name, value in vars(pipeline).items()
    if name.isupper() and isinstance(value, tuple) and name not in ("DRIVERS", "SPECULATING")
}


def test_every_name_is_a_pass_and_every_pass_is_run() -> None:
    named = {name for names in PIPELINES.values() for name in names}
    assert named == set(PASSES)


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_a_home(name: str) -> None:
    assert callable(passes._resolved(PASSES[name].home))


def test_what_a_pass_makes_is_verified() -> None:
    function = build(lambda b, x: x, ir.FLOAT)
    assert run(("cleanup",), function, Context()).params == function.params
    broken = lambda whole: ir.Function(whole.name, (), whole.body)
    with pytest.raises(InvalidIR, match="after broken"):
        apply("broken", broken, function, PYTHON)


def test_who_watches_is_told_of_each_pass() -> None:
    told: list[str] = []
    target = Target(machine=True, watch=lambda name, before, after, seconds: told.append(name))
    run(pipeline.LEGALIZE, build(lambda b, x: x, ir.FLOAT), Context(target))
    assert told == list(pipeline.LEGALIZE)


def test_what_is_left_out_changes_nothing() -> None:
    function = build(lambda b, x: x, ir.FLOAT)
    twice = lambda whole: ir.Function(whole.name, whole.params, whole.body)
    assert apply("fuse-loops", twice, function, Target(skipped=frozenset({"fuse-loops"}))) is function
    assert apply("fuse-loops", twice, function, MACHINE) is not function


@pytest.mark.parametrize(
    ("skipped", "message"),
    [("fuse-loop", "'fuse-loop' is no pass; these can be left out: cleanup,"), ("reverse", "'reverse' is needed;")],
)
def test_only_what_can_be_left_out_is(skipped: str, message: str) -> None:
    environment = {**os.environ, "ADJOINT_SKIP": skipped, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.run(
        [sys.executable, "-c", "import adjoint.pipeline"], capture_output=True, text=True, env=environment
    )
    assert f"ValueError: ADJOINT_SKIP: {message}" in process.stderr


def stepped(x, steps):
    for _ in range(steps):
        x = 0.5 * (x + 2.0 / x)
    return x


def test_stages_show_what_each_pass_makes() -> None:
    text = ad.stages(stepped, 1.0, 3, native=True)
    titles = [line.removeprefix("-- ") for line in text.splitlines() if line.startswith("-- ")]
    assert titles[:2] == ["source", "lowered"] and titles[-2:] == ["text", "llvm"]
    steps = titles[2:-2]
    assert set(steps) <= set(PASSES) and not set(steps) & set(DRIVERS)
    assert steps.index("reverse") < steps.index("expand-derivatives") < steps.index("tapes-to-arrays")
