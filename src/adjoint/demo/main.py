"""What the demonstration shows, in order; each part is a function that prints.

Only the standard library is imported at once: the command line asks for the options of every command.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import adjoint as ad

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from adjoint.demo.digits import Data, Epoch

EPOCHS = 40
INTERRUPTED = 130  # what shells report for a program that was stopped by Ctrl-C
_FORMATS = (".png", ".pdf", ".svg")
_RATES = (0.01, 0.03, 0.1)
_MINUTES = 30
_NEEDED = {"scikit-learn": "sklearn", "matplotlib": "matplotlib"}


class DemoError(Exception):
    """The demonstration cannot run as asked; the message says why and what helps."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the demonstration with its own command line; the result is the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m adjoint.demo", description="Train a small model, and print the derivative that trained it."
    )
    add_options(parser)
    return run(parser.parse_args(arguments))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the demonstration to a parser."""
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("digits.png"),
        metavar="PATH",
        help="where to write the picture: .png, .pdf or .svg (default: digits.png)",
    )
    parser.add_argument("--epochs", type=_positive, default=EPOCHS, help=f"passes over the images (default: {EPOCHS})")
    parser.add_argument("--seed", type=_seed, default=0, help="of the weights and the order of images (default: 0)")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def run(options: argparse.Namespace) -> int:
    """Runs the demonstration; the result is the exit status."""
    try:
        _check_output(options.output)
        _show(options)
    except KeyboardInterrupt:
        print("\nadjoint demo: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    except DemoError as problem:
        print(f"adjoint demo: {problem}", file=sys.stderr)
        return 2
    return 0


def _check_output(path: Path) -> None:
    if path.suffix.lower() not in _FORMATS:
        raise DemoError(f"--output {path}: the picture can be {', '.join(_FORMATS)}")
    if path.is_dir():
        raise DemoError(f"--output {path} is a directory")
    if not path.parent.is_dir():
        raise DemoError(f"--output {path}: there is no directory {path.parent}")


def _show(options: argparse.Namespace) -> None:
    from rich.console import Console  # lazy

    console = Console(highlight=False)
    show_derivative(console)
    show_check(console)
    missing = [package for package, module in _NEEDED.items() if find_spec(module) is None]
    if missing:
        raise DemoError(f'training needs {" and ".join(missing)}: pip install "adjoint[train]"')
    show_training(console, options)


# --- a derivative to read --------------------------------------------------------------------------------------------


def show_derivative(console: Console) -> None:
    """Prints a function and its derivative, side by side where there is room."""
    import inspect  # lazy

    from rich.table import Table  # lazy

    from adjoint.demo.cooling import cooling  # lazy

    _heading(console, "A function, and its derivative as Adjoint writes it")
    texts = (inspect.getsource(cooling).rstrip(), ad.source(ad.grad(cooling)).rstrip())
    if not console.is_terminal:
        console.print("\n\n".join(texts), markup=False, soft_wrap=True)
        return
    panels = [_code(text, title) for text, title in zip(texts, ("cooling", "ad.grad(cooling)"), strict=True)]
    if sum(console.measure(panel).maximum for panel in panels) + 2 > console.width:
        console.print(*panels, sep="\n")
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_row(*panels)
    console.print(grid)


def _code(text: str, title: str) -> RenderableType:
    from rich.panel import Panel  # lazy
    from rich.syntax import Syntax  # lazy

    code = Syntax(text, "python", theme="ansi_dark", background_color="default", word_wrap=False)
    return Panel(code, title=title, border_style="dim", expand=False)


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold")
    console.print()


# --- a check ---------------------------------------------------------------------------------------------------------


def show_check(console: Console) -> None:
    """Holds the derivative against central differences, and prints both."""
    from rich.table import Table  # lazy

    from adjoint.demo.cooling import cooling  # lazy

    _heading(console, "Held against central differences")
    derivative = ad.grad(cooling)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for title in ("rate", "ad.grad", "differences", "they differ by"):
        table.add_column(title, justify="right")
    for rate in _RATES:
        exact = derivative(rate, _MINUTES)
        width = 1e-6 * rate
        estimate = (cooling(rate + width, _MINUTES) - cooling(rate - width, _MINUTES)) / (2 * width)
        gap = abs(exact - estimate) / abs(exact)
        table.add_row(f"{rate:g}", f"{exact:.9g}", f"{estimate:.9g}", f"{gap:.0e} of it")
    console.print(table)


# --- a model trained by a derivative ---------------------------------------------------------------------------------


def show_training(console: Console, options: argparse.Namespace) -> None:
    """Trains the classifier, prints the derivative that did it, and writes the picture."""
    from adjoint.demo import digits  # lazy
    from adjoint.demo.picture import save_picture  # lazy

    _heading(console, "A classifier of handwritten digits, trained by its derivative")
    data = digits.load()
    console.print(f"{len(data.train_labels):,} images to learn from, {len(data.test_labels):,} to test")
    console.print()
    epochs = _train(console, data, options)
    text = ad.source(digits.step).rstrip()
    _heading(console, "The derivative that trained it: ad.value_and_grad(loss)")
    if console.is_terminal:
        console.print(_code(text, "loss_value_and_grad"))
    else:
        console.print(text, markup=False, soft_wrap=True)
    wrong = save_picture(options.output, data, epochs)
    console.print()
    console.print(f"[bold]test accuracy {epochs[-1].accuracy:.1%}[/]: {wrong} of {len(data.test_labels)} misread")
    console.print(f"picture: {options.output}", markup=False, soft_wrap=True)


def _train(console: Console, data: Data, options: argparse.Namespace) -> list[Epoch]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # lazy

    from adjoint.demo import digits  # lazy

    columns = (
        TextColumn("epoch"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    epochs: list[Epoch] = []
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("train", total=options.epochs, state="")
        for epoch in digits.train(data, options.epochs, options.seed):
            epochs.append(epoch)
            loss = sum(epoch.losses) / len(epoch.losses)
            progress.update(task, advance=1, state=f"loss {loss:.4f}  test accuracy {epoch.accuracy:.1%}")
    return epochs
