"""What comes from outside, names, key paths and files, is never run as code, and is never taken for what it is not."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import adjoint as ad
from adjoint.optim.state import State
from regressions.differences import refused

pytest.importorskip("safetensors")
from safetensors.numpy import save_file


@dataclass
class Net:
    w: np.ndarray
    rate: float


def named(name: str):
    def f(x):
        return x * x

    f.__name__ = f.__qualname__ = name
    return f


NAMES = ['z"""\nMARK = 1\n"""', "z\nMARK = 1", "z\r\nMARK = 1", "z\x0cMARK = 1\u2028MARK = 2\x85", "z'''\\"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_functions_stay_in_comments(name: str, tmp_path: Path) -> None:
    path = ad.export(tmp_path / "out.py", ad.grad(named(name)), 3.0)
    module = ast.parse(path.read_text())
    assert [type(statement) for statement in module.body] == [ast.Expr, ast.FunctionDef]
    namespace: dict[str, object] = {}
    exec(compile(module, "out.py", "exec"), namespace)
    assert "MARK" not in namespace


@pytest.mark.parametrize("name", NAMES)
def test_classes_keys_and_strings_of_any_name(name: str, tmp_path: Path) -> None:
    def f(x, mode):
        return x["w"] * x["w"] if mode else x["w"]

    path = ad.export(tmp_path / "out.py", ad.grad(f), {"w": 3.0, name: 1.0}, name)
    namespace: dict[str, object] = {}
    exec(path.read_text(), namespace)
    assert "MARK" not in namespace


@pytest.mark.parametrize("name", ["a b", "x); import os; (y", "w\nMARK = 1", ""])
def test_attributes_that_no_code_can_name_are_refused(name: str) -> None:
    argument = SimpleNamespace(w=2.0, **{name: 3.0})
    assert "AD0413" in str(refused(lambda: ad.grad(lambda o: o.w * o.w)(argument)))


@pytest.mark.parametrize("text", [".__init__.__globals__", ".w.__class__", "[0].__dict__['x']"])
def test_key_paths_from_text_lead_to_data(text: str) -> None:
    with pytest.raises(ValueError, match="is no key path"):
        ad.keypath(text)
    with pytest.raises(ValueError, match="is no key path"):
        ad.keypath(Net, text)


@pytest.mark.parametrize("steps", [".w", ".__init__.__globals__", [".w"], [0]])
def test_key_paths_are_made_of_steps(steps: object) -> None:
    with pytest.raises(TypeError, match="a key path consists of steps"):
        ad.KeyPath(steps)


@pytest.mark.parametrize("text", ["[" * 5000, ".w[f()]", ".w()", "; import os", ".w\n.x", ".w = 1", "[lambda: 0]"])
def test_texts_that_are_no_key_paths(text: str) -> None:
    with pytest.raises(ValueError, match="is no key path"):
        ad.keypath(text)


def trained() -> tuple[ad.optim.Adam, Net]:
    optimizer, net = ad.optim.Adam(0.1), Net(np.ones(3), 0.1)
    optimizer.update(net, along=gradient(net))
    return optimizer, net


def gradient(net: Net):
    return ad.grad(lambda net: np.sum(net.w**2) * net.rate)(net)


def saved(tmp_path: Path, facts: dict[str, str], **changes: np.ndarray) -> Path:
    """A file as an optimizer writes it, but for what is changed."""
    from safetensors.numpy import load_file

    optimizer, _ = trained()
    path = tmp_path / "state.safetensors"
    ad.optim.save(optimizer.state, path)
    tensors = load_file(path) | {name.replace("__", "."): value for name, value in changes.items()}
    told = {"format": "adjoint optimizer state", "step": "1", "parts": "first_moments,second_moments"} | facts
    save_file(tensors, path, {name: fact for name, fact in told.items() if fact != "missing"})
    return path


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"format": "missing"}, "holds no state of an optimizer"),
        ({"parts": "missing"}, "holds no state of an optimizer"),
        ({"step": "missing"}, "holds no state of an optimizer"),
        ({"step": "-3"}, "holds no state of an optimizer"),
        ({"step": "many"}, "holds no state of an optimizer"),
        ({"parts": "first_moments"}, "which the model does not have"),
        ({"parts": "first_moments,second_moments,third"}, "which the model has"),
    ],
)
def test_files_that_hold_no_state(facts: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        ad.optim.load(saved(tmp_path, facts), like=Net(np.ones(3), 0.1))


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_states_that_are_not_finite(number: float, tmp_path: Path) -> None:
    path = saved(tmp_path, {}, first_moments__w=np.array([0.0, number, 1.0]))
    with pytest.raises(ValueError, match=r"not finite: first_moments\.w"):
        ad.optim.load(path, like=Net(np.ones(3), 0.1))


def test_damaged_files(tmp_path: Path) -> None:
    path = saved(tmp_path, {})
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"\xff" * 100):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="is damaged, or no file of safetensors"):
            ad.optim.load(path, like=Net(np.ones(3), 0.1))


@pytest.mark.parametrize("step", [-1, 1.5, "2", True, None])
def test_steps_that_are_none(step: object) -> None:
    optimizer, _ = trained()
    before = optimizer.state
    with pytest.raises(ValueError, match="the step of a state is a whole number from 0"):
        optimizer.state = State(step, before.parts)
    assert optimizer.state == before


def test_a_state_that_is_refused_changes_nothing() -> None:
    optimizer, _ = trained()
    before = optimizer.state
    first = before.first_moments
    other = ad.optim.Adam(0.1)
    other.update({"x": 1.0}, along={"x": 1.0})
    with pytest.raises(ad.DifferentiationError):
        optimizer.state = State(7, {"first_moments": first, "second_moments": other.state.second_moments})
    assert optimizer.state == before
