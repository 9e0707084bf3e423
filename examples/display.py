"""What the examples show while they run: one line of progress, and a picture at the end."""

import sys
from pathlib import Path


def progress(done, total, text):
    """One line that is written over, on a terminal; elsewhere only the last one is written."""
    is_last = done >= total
    if sys.stdout.isatty():
        filled = 30 * done // total
        print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {text}\x1b[K", end="\n" if is_last else "", flush=True)
    elif is_last:
        print(text)


def picture(path, draw, **size):
    """Draws a picture into a file; `draw` is given the figure of Matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained", dpi=120, **size)
    draw(figure)
    figure.savefig(path)
    print(f"picture: {Path(path).resolve()}")
