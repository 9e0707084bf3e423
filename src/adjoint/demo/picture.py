"""The picture of a training run: how the loss fell, and which digits the model still misreads.

It is written to a temporary file beside its place and then moved there, so that the place never holds half a picture.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adjoint.demo.digits import Data, Epoch, predicted

_COLUMNS, _ROWS = 6, 3
_INK, _SOFT, _WRONG, _GOOD = "#1f2933", "#9fb3c8", "#c2410c", "#1d4ed8"


def save_picture(path: Path, data: Data, epochs: Sequence[Epoch]) -> int:
    """Draws a training run into a file, and returns how many of the test images the model misreads."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 5.0), dpi=150, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.15), wspace=0.04)
    _draw_losses(left.subplots(), epochs)
    seen = predicted(epochs[-1].model, data.test_images)
    wrong = np.flatnonzero(seen != data.test_labels)
    _draw_digits(right, data, seen, wrong)
    _write(figure, path)
    return len(wrong)


def _draw_losses(axes: Any, epochs: Sequence[Epoch]) -> None:
    """The loss of every step, its mean over every epoch, and the test accuracy."""
    counts = np.cumsum([len(epoch.losses) for epoch in epochs])
    losses = np.concatenate([epoch.losses for epoch in epochs])
    steps = np.arange(1, len(losses) + 1) * len(epochs) / counts[-1]
    passes = np.arange(1, len(epochs) + 1)
    axes.plot(steps, losses, color=_SOFT, linewidth=0.6, label="loss of a step")
    axes.plot(passes, [np.mean(epoch.losses) for epoch in epochs], color=_INK, linewidth=2, label="mean of an epoch")
    axes.set_yscale("log")
    axes.set_xlim(0, len(epochs))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("epoch")
    axes.set_ylabel("training loss", color=_INK)
    axes.grid(True, which="major", color="#e4e7eb", linewidth=0.8)

    errors = axes.twinx()
    errors.plot(passes, [100 * epoch.accuracy for epoch in epochs], color=_GOOD, linewidth=1.6, label="test accuracy")
    errors.set_ylim(min(80.0, 100 * min(epoch.accuracy for epoch in epochs)), 100.0)
    errors.set_ylabel("test accuracy, %", color=_GOOD)
    errors.tick_params(axis="y", colors=_GOOD)
    for side in (axes, errors):
        side.spines["top"].set_visible(False)
    lines = [*axes.get_lines(), *errors.get_lines()]
    axes.legend(lines, [line.get_label() for line in lines], loc="center right", frameon=True, framealpha=0.9)
    axes.set_title(f"{100 * epochs[-1].accuracy:.1f} % of the test images read correctly", color=_INK, fontsize=13)


def _draw_digits(figure: Any, data: Data, seen: Any, wrong: Any) -> None:
    """The misread images, each with what it is and what the model took it for."""
    total = len(data.test_labels)
    shown = wrong[: _COLUMNS * _ROWS]
    more = f"; the first {len(shown)}" if len(shown) < len(wrong) else ""
    figure.suptitle(f"{len(wrong)} of {total} misread{more}: true digit → prediction", color=_INK, fontsize=13)
    grid = figure.subplots(_ROWS, _COLUMNS)
    for axes in grid.flat:
        axes.set_axis_off()
    for axes, place in zip(grid.flat, shown, strict=False):
        axes.imshow(data.test_images[place].reshape(8, 8), cmap="gray_r", vmin=0.0, vmax=1.0)
        axes.set_title(f"{data.test_labels[place]} → {seen[place]}", color=_WRONG, fontsize=12, pad=4)


def _write(figure: Any, path: Path) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            figure.savefig(file, format=path.suffix[1:].lower())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """The permissions that new files do not get; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
