"""A picture of the times of gradients, beside those of JAX and of the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.beside_jax import Finding


def plot(findings: Sequence[Finding], path: Path) -> None:
    """Draws how long each gradient takes, beside that of Adjoint."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 0.24 * len(findings) + 1.5), layout="constrained")
    words = {"JAX": ("o", "JAX"), "program": ("|", "the program alone, by Numba"), "interpreted": ("^", "interpreted")}
    for name, (mark, label) in words.items():
        known = [(i, value) for i, each in enumerate(findings) if (value := each.beside(name)) is not None]
        axes.plot([1.0 / value for _, value in known], [i for i, _ in known], mark, label=label, linestyle="none")
    axes.axvline(1.0, color="black", linewidth=1, label="Adjoint, machine code")
    axes.set_xscale("log")
    axes.set_yticks(range(len(findings)), [each.subject.name for each in findings])
    axes.invert_yaxis()
    axes.grid(axis="x", linewidth=0.3)
    axes.set_xlabel("time, beside the gradient of Adjoint (to the right: slower)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.08), ncols=4, frameon=False, fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
