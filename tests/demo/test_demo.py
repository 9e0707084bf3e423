"""The demonstration: what it prints, the picture that it leaves, and how it stops."""

import os
import runpy
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.cli import main as adjoint_command
from adjoint.demo import digits, main
from sampling import check_grads

pytestmark = pytest.mark.skipif(
    find_spec("sklearn") is None or find_spec("matplotlib") is None, reason="needs scikit-learn and matplotlib"
)
EXAMPLE = Path(__file__).parents[2] / "examples" / "digits.py"


def test_a_short_run_prints_its_accuracy_and_leaves_a_picture(tmp_path, capsys):
    picture = tmp_path / "digits.png"
    assert main(["--epochs", "2", "--output", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "def cooling_grad(rate, minutes):" in printed
    assert "def loss_value_and_grad(model, images, labels):" in printed
    assert "test accuracy" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["digits.png"]


def test_the_command_takes_the_same_options(tmp_path, capsys):
    picture = tmp_path / "digits.svg"
    assert adjoint_command(["demo", "--epochs", "1", "--seed", "5", "--output", str(picture)]) == 0
    assert "<svg" in picture.read_text()


def test_training_reaches_the_promised_accuracy():
    last = list(digits.train(digits.load(), epochs=20, seed=0))[-1]
    assert last.accuracy >= 0.96


def test_training_depends_on_its_seed_alone():
    data = digits.load()
    first, second = (list(digits.train(data, epochs=1, seed=3))[-1] for _ in range(2))
    assert first.losses == second.losses


def test_the_gradient_of_the_loss_is_right():
    data = digits.load()
    model = digits.initial(np.random.default_rng(1), hidden=5)
    images, labels = data.train_images[:6], data.train_labels[:6]
    check_grads(lambda model, images: digits.loss(model, images, labels), (model, images))


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("digits.gif", "the picture can be"),
        (".", "the picture can be"),
        ("nowhere/digits.png", "there is no directory"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_anything_runs(output, reason, capsys):
    assert main(["--output", output]) == 2
    printed = capsys.readouterr()
    assert reason in printed.err
    assert not printed.out


def test_a_directory_is_no_picture(tmp_path, capsys):
    (tmp_path / "taken.png").mkdir()
    assert main(["--output", str(tmp_path / "taken.png")]) == 2
    assert "is a directory" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--epochs", "0"], ["--seed", "-1"], ["--epochs", "many"]])
def test_options_are_checked(arguments):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch, tmp_path, capsys):
    module = sys.modules["adjoint.demo.main"]
    monkeypatch.setattr(module, "_NEEDED", {"scikit-learn": "no_such_module"})
    assert main(["--output", str(tmp_path / "digits.png")]) == 2
    assert 'training needs scikit-learn: pip install "adjoint[train]"' in capsys.readouterr().err


def test_the_derivative_agrees_with_differences():
    from adjoint.demo.cooling import cooling

    width = 1e-6
    estimate = (cooling(0.03 + width, 30) - cooling(0.03 - width, 30)) / (2 * width)
    assert ad.grad(cooling)(0.03, 30) == pytest.approx(estimate, rel=1e-6)


def test_side_by_side_where_there_is_room():
    import io

    from rich.console import Console

    module = sys.modules["adjoint.demo.main"]
    shown = {}
    for width in (60, 160):
        file = io.StringIO()
        module.show_derivative(Console(file=file, width=width, force_terminal=True, color_system=None))
        shown[width] = file.getvalue()
    both = [line for line in shown[160].splitlines() if "def cooling(" in line]
    assert "def cooling_grad(" in both[0]
    assert not [line for line in shown[60].splitlines() if "cooling(" in line and "cooling_grad(" in line]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_leaves_one_line_and_no_picture(tmp_path):
    command = [sys.executable, "-m", "adjoint.demo", "--epochs", "100000"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(ad.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "images to learn from" in line:
                break
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert errors.strip() == "adjoint demo: interrupted; nothing was written"
    assert process.returncode == 130
    assert not list(tmp_path.iterdir())


def test_a_picture_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    from adjoint.demo.picture import save_picture

    def stop(self, file, **options):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Figure, "savefig", stop)
    picture = tmp_path / "digits.png"
    picture.write_bytes(b"old")
    data = digits.load()
    with pytest.raises(KeyboardInterrupt):
        save_picture(picture, data, list(digits.train(data, epochs=1, seed=0)))
    assert picture.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_the_example_trains(capsys):
    example = runpy.run_path(str(EXAMPLE))
    example["main"](epochs=2)
    assert "test accuracy" in capsys.readouterr().out
