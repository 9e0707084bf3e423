"""Pictures of training: how metrics went, and images side by side; needs ``pip install adjoint[train]``."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def plot_history(history: Sequence[dict[str, float]], path: str | os.PathLike[str]) -> None:
    """Draws each metric over the epochs, that of the validation beside that of the training.

    Parameters
    ----------
    history
        That of a :class:`TrainingLoop`.
    path
        The picture: its ending tells the format.
    """
    figure = _figure()
    names = [name for name in history[-1] if not name.startswith("validation_")]
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for each, label in ((name, "training"), (f"validation_{name}", "validation")):
            points = [(epoch, numbers[each]) for epoch, numbers in enumerate(history, 1) if each in numbers]
            if points:
                axes.plot(*zip(*points, strict=True), marker="." if len(points) < 20 else "", label=label)
        axes.set(title=name.replace("_", " "), xlabel="epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
        axes.legend()
    figure.set_size_inches(5.0 * len(names), 4.0)
    figure.savefig(path)


def plot_images(
    images: NDArray[Any], path: str | os.PathLike[str], *, titles: Sequence[str] = (), columns: int | None = None
) -> None:
    """Draws images in rows.

    Parameters
    ----------
    images
        ``(samples, height, width)``, or with one channel or three.
    path
        The picture.
    titles
        One above each image.
    columns
        How many in a row; about as many as there are rows by default.
    """
    columns = columns or math.ceil(math.sqrt(len(images)))
    rows = math.ceil(len(images) / columns)
    figure = _figure()
    figure.set_size_inches(1.1 * columns, 1.3 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid:
        axes.set_axis_off()
    for number, (axes, image) in enumerate(zip(grid, np.asarray(images), strict=False)):
        axes.imshow(image[..., 0] if image.ndim == 3 and image.shape[-1] == 1 else image, cmap="gray_r")
        axes.set_title(titles[number] if number < len(titles) else "", fontsize=8)
    figure.savefig(path)


def _figure() -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # lazy
    from matplotlib.figure import Figure  # lazy

    figure: Any = Figure(dpi=120, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure
