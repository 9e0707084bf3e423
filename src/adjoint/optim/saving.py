"""States in files, in the format of safetensors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from adjoint import tangents
from adjoint.optim.state import State
from adjoint.parameters import Layout, Parameter

_FORMAT = "adjoint optimizer state"


def save(state: State, path: str | os.PathLike[str]) -> None:
    """Writes a state to a file; needs ``pip install adjoint[safetensors]``.

    Parameters
    ----------
    state
        The ``state`` of an optimizer.
    path
        Where to. Each number and array is a tensor there, named by its key path: ``first_moments.layers[0].weight``.
    """
    from safetensors.numpy import save_file  # lazy

    tensors, facts = tensors_of(state)
    save_file(tensors, path, {"format": _FORMAT, **facts})


def tensors_of(state: State) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]:
    """The arrays that a file holds of a state, and the facts beside them."""
    tensors: dict[str, np.ndarray[Any, Any]] = {}
    for name, part in state.parts.items():
        layout = Layout(part)
        for parameter, value in zip(layout.parameters, layout.leaves(part), strict=True):
            tensors[name + parameter.path] = np.ascontiguousarray(value).reshape(np.shape(value))
    return tensors, {"step": str(state.step), "parts": ",".join(state.parts)}


def load(path: str | os.PathLike[str], like: Any) -> State:
    """Reads a state that :func:`save` wrote.

    Parameters
    ----------
    path
        The file.
    like
        A model of the structure that it belongs to.

    Returns
    -------
    State
        Exactly what was saved: ``optimizer.state = load(...)`` goes on as if nothing had happened.

    Raises
    ------
    ValueError
        If the file is damaged or holds something else, if the model has another structure, or if there is a number
        that is not finite.
    """
    facts, tensors = contents_of(path)
    if facts.get("format") != _FORMAT or "parts" not in facts or not facts.get("step", "").isdecimal():
        raise ValueError(f"{os.fspath(path)} holds no state of an optimizer")
    return state_of(facts, tensors, like, path)


def state_of(facts: dict[str, str], tensors: dict[str, Any], like: Any, path: str | os.PathLike[str]) -> State:
    """The state that :func:`tensors_of` told of; raises what :func:`load` does."""
    names = [name for name in facts["parts"].split(",") if name]
    zero = tangents.zero(like)
    layout = Layout(zero)
    parts = {}
    for name in names:
        values = [_value(parameter, tensors, name, path) for parameter in layout.parameters]
        parts[name] = layout.rebuilt(zero, values)
    if tensors:
        raise ValueError(f"{os.fspath(path)} holds {next(iter(tensors))}, which the model does not have")
    state = State(int(facts["step"]), parts)
    try:
        state.check()
    except ValueError as problem:
        raise ValueError(f"{os.fspath(path)}: {problem}") from None
    return state


def contents_of(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """What a file of safetensors says of itself, and its tensors."""
    from safetensors import SafetensorError, safe_open  # lazy

    try:
        with safe_open(path, framework="numpy") as file:
            facts = file.metadata() or {}
            return facts, {name: file.get_tensor(name) for name in list(file.keys())}
    except SafetensorError as problem:
        raise ValueError(f"{os.fspath(path)} is damaged, or no file of safetensors: {problem}") from None


def _value(parameter: Parameter, tensors: dict[str, Any], name: str, path: str | os.PathLike[str]) -> Any:
    key = name + parameter.path
    found = tensors.pop(key, None)
    if found is None:
        raise ValueError(f"{os.fspath(path)} lacks {key}, which the model has")
    if found.dtype != parameter.dtype or found.shape != (parameter.shape or ()):
        kind = f"{parameter.dtype} of shape {parameter.shape or ()}"
        raise ValueError(f"{os.fspath(path)} holds {key} as {found.dtype} of shape {found.shape}; the model has {kind}")
    return found if parameter.is_array else parameter.type(found[()])
