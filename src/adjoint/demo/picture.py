"""The picture of a training run: how the loss fell, and which digits the model still misreads.

It is written to a temporary file beside its place and then moved there, so that the place never holds half a picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adjoint.demo.digits import Data, Epoch, predicted
from adjoint.files import replacing

_MOST = 24  # digits, so that each is large enough to be seen
_INK, _LINE, _SOFT, _WRONG, _GOOD = "#1f2933", "#cbd2d9", "#bcccdc", "#c2410c", "#1d4ed8"


def save_picture(path: Path, data: Data, epochs: Sequence[Epoch]) -> int:
    """Draws a training run into a file, and returns how many of the test images the model misreads."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # lazy
    from matplotlib.figure import Figure  # lazy

    figure: Any = Figure(figsize=(12.0, 5.0), dpi=150, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.15), wspace=0.04)
    _draw_losses(left.subplots(), epochs)
    seen = predicted(epochs[-1].model, data.test_images)
    wrong = np.flatnonzero(seen != data.test_labels)
    _draw_digits(right, data, seen, wrong)
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower())
    return len(wrong)


def _draw_losses(axes: Any, epochs: Sequence[Epoch]) -> None:
    """The loss of every step, its mean over every epoch, and the test accuracy."""
    counts = np.cumsum([len(epoch.losses) for epoch in epochs])
    losses = np.concatenate([epoch.losses for epoch in epochs])
    steps = np.arange(1, len(losses) + 1) * len(epochs) / counts[-1]
    passes = np.arange(1, len(epochs) + 1)
    marks: dict[str, Any] = {"marker": "o", "markersize": 4} if len(epochs) < 10 else {}
    axes.plot(steps, losses, color=_SOFT, linewidth=0.6, label="loss of a step")
    axes.plot(
        passes, [np.mean(epoch.losses) for epoch in epochs], color=_INK, linewidth=2, **marks, label="mean of an epoch"
    )
    axes.set_yscale("log")
    axes.set_xlim(0, len(epochs))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("epoch")
    axes.set_ylabel("training loss", color=_INK)
    axes.grid(True, which="major", color=_LINE, linewidth=0.6)

    percent = axes.twinx()
    percent.plot(
        passes, [100 * epoch.accuracy for epoch in epochs], color=_GOOD, linewidth=1.6, **marks, label="test accuracy"
    )
    percent.set_ylim(min(80.0, 100 * min(epoch.accuracy for epoch in epochs)), 100.0)
    percent.set_ylabel("test accuracy, %", color=_GOOD)
    percent.tick_params(axis="y", colors=_GOOD)
    for side in (axes, percent):
        side.spines["top"].set_visible(False)
    lines = [*axes.get_lines(), *percent.get_lines()]
    axes.legend(lines, [line.get_label() for line in lines], loc="center right", frameon=True, framealpha=0.9)
    axes.set_title(f"{100 * epochs[-1].accuracy:.1f} % of the test images read correctly", color=_INK, fontsize=13)


def _draw_digits(figure: Any, data: Data, seen: Any, wrong: Any) -> None:
    """The misread images, each with what it is and what the model took it for."""
    shown = wrong[:_MOST]
    more = f"; here are {len(shown)}" if len(shown) < len(wrong) else ""
    title = f"{len(wrong)} of {len(data.test_labels)} misread{more} (true digit → prediction)"
    figure.suptitle(title, color=_INK, fontsize=13)
    columns = max(2, math.ceil(math.sqrt(1.2 * len(shown))))
    grid = figure.subplots(max(1, math.ceil(len(shown) / columns)), columns, squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    for axes, place in zip(grid.flat, shown, strict=False):
        axes.imshow(data.test_images[place].reshape(8, 8), cmap="gray_r", vmin=0.0, vmax=1.0)
        axes.set_title(f"{data.test_labels[place]} → {seen[place]}", color=_WRONG, fontsize=12, pad=4)
        axes.set(xticks=(), yticks=())
        for spine in axes.spines.values():
            spine.set_color(_LINE)
