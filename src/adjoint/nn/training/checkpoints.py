"""Checkpoints: models, states of optimizers and histories in one file, in the format of safetensors."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.files import replacing
from adjoint.keypaths import KeyPath, WritableKeyPath, recursively_all_key_paths
from adjoint.optim import Optimizer
from adjoint.optim.saving import contents_of, state_of, tensors_of

_FORMAT = "adjoint checkpoint"
_NUMBERS = (np.ndarray, float, np.floating)


def save_checkpoint(
    path: str | os.PathLike[str],
    model: Any,
    optimizer: Optimizer | None = None,
    history: Sequence[dict[str, float]] = (),
) -> None:
    """Writes a model to a file, with what training needs to go on; needs ``pip install adjoint[safetensors]``.

    The file is replaced at once: whoever reads it finds the old checkpoint or the new one, and never a part.

    Parameters
    ----------
    path
        Where to.
    model
        Its arrays and floats are saved, by their key paths, running values among them; and its generators of random
        numbers.
    optimizer
        Its state is saved.
    history
        That of a :class:`TrainingLoop`.
    """
    from safetensors.numpy import save  # lazy

    numbers = {f"model{text}": place.get(model) for text, place in _places(model, _NUMBERS).items()}
    tensors = {name: np.ascontiguousarray(value).reshape(np.shape(value)) for name, value in numbers.items()}
    facts = {"format": _FORMAT, "history": json.dumps(list(history)), "generators": json.dumps(_generators(model))}
    if optimizer is not None and optimizer.state is not None:
        of_state, facts_of_state = tensors_of(optimizer.state)
        tensors |= {f"optimizer.{name}": tensor for name, tensor in of_state.items()}
        facts |= facts_of_state
    with replacing(path) as file:
        file.write(save(tensors, facts))


def load_checkpoint(
    path: str | os.PathLike[str], model: Any, optimizer: Optimizer | None = None
) -> list[dict[str, float]]:
    """Reads a checkpoint into a model, and into an optimizer.

    Parameters
    ----------
    path
        What :func:`save_checkpoint` wrote.
    model
        Of the same structure; its arrays are written in place, its floats replaced.
    optimizer
        Gets the state that was saved.

    Returns
    -------
    list of dict
        The history.

    Raises
    ------
    ValueError
        If the file is damaged, holds something else, or the model has another structure; the model is unchanged then.
    """
    name = os.fspath(path)
    facts, tensors = contents_of(path)
    if facts.get("format") != _FORMAT:
        raise ValueError(f"{name} holds no checkpoint")
    of_state = {key.removeprefix("optimizer."): value for key, value in tensors.items() if key.startswith("optimizer.")}
    of_model = {key: value for key, value in tensors.items() if not key.startswith("optimizer.")}
    places = _places(model, _NUMBERS)
    _check(model, places, of_model, name)
    state = state_of(facts, of_state, model, name) if optimizer is not None and "step" in facts else None
    for text, place in places.items():
        value, found = place.get(model), of_model[f"model{text}"]
        if isinstance(value, np.ndarray):
            value[...] = found
        elif isinstance(place, WritableKeyPath):
            place.set(model, type(value)(found[()]))
    for key, value in json.loads(facts["generators"]).items():
        _places(model, np.random.Generator)[key].get(model).bit_generator.state = value
    if optimizer is not None:
        optimizer.state = state
    history: list[dict[str, float]] = json.loads(facts["history"])
    return history


def _places(model: Any, kind: Any) -> dict[str, KeyPath[Any, Any]]:
    return {str(place): place for place in recursively_all_key_paths(model, to=lambda part: isinstance(part, kind))}


def _generators(model: Any) -> dict[str, Any]:
    return {text: place.get(model).bit_generator.state for text, place in _places(model, np.random.Generator).items()}


def _check(model: Any, places: dict[str, KeyPath[Any, Any]], tensors: dict[str, Any], name: str) -> None:
    """Whether the tensors are those of the model."""
    for text, place in places.items():
        value, found = np.asarray(place.get(model)), tensors.get(f"model{text}")
        if found is None:
            raise ValueError(f"{name} lacks {text}, which the model has")
        if found.shape != value.shape or found.dtype != value.dtype:
            kinds = f"{found.dtype} of shape {found.shape}; the model has {value.dtype} of shape {value.shape}"
            raise ValueError(f"{name} holds {text} as {kinds}")
        if not value.ndim and not isinstance(place, WritableKeyPath) and value != found:
            raise ValueError(f"{name} has {found[()]} for {text}, which cannot be assigned to and is {value}")
    for key in tensors.keys() - {f"model{text}" for text in places}:
        raise ValueError(f"{name} holds {key.removeprefix('model')}, which the model does not have")
