"""The examples run, in a short form, and reach what they promise."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from sampling import IN_DEPTH

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.chdir(tmp_path)
    return importlib.import_module


def has_picture(path):
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000


def test_xor(example, tmp_path, capsys):
    found = example("xor").main(path=tmp_path / "xor.png")
    document = [[2.2782544e-05], [0.99999344], [0.99999225], [2.4871624e-06]]
    np.testing.assert_allclose(found, document, atol=1e-2)
    assert has_picture(tmp_path / "xor.png")
    assert "step 3000" in capsys.readouterr().out


def test_lotka_volterra(example, tmp_path, capsys):
    module = example("lotka_volterra")
    found = module.main(path=tmp_path / "populations.png", tolerance=1e-2)
    assert found.fun < 0.05
    model = found.x
    rates = np.exp([model.hare.growth, model.hare.meeting, model.lynx.growth, model.lynx.meeting])
    np.testing.assert_allclose(rates, [0.55, 0.028, 0.80, 0.024], rtol=0.1)  # as others have found
    assert has_picture(tmp_path / "populations.png")
    assert "misfit 0.0" in capsys.readouterr().out


def test_lotka_volterra_gradient(example):
    module = example("lotka_volterra")
    years, lynxes, hares = np.loadtxt(module.DATA, delimiter=",", skiprows=4, unpack=True)
    assert len(years) == 21 and hares[3] == 77.4 and lynxes[-1] == 8.6
    fixed = dict(years=years[:6], hares=hares, lynxes=lynxes, tolerance=1e-4)

    def misfit(growth):
        hare = module.Species(growth, np.log(0.02), np.log(30.0))
        lynx = module.Species(np.log(0.9), np.log(0.03), np.log(5.0))
        return module.misfit(module.Logarithms(hare, lynx), **fixed)

    width = 1e-4
    difference = (misfit(-0.7 + width) - misfit(-0.7 - width)) / (2 * width)
    assert module.ad.grad(misfit)(-0.7) == pytest.approx(difference, rel=1e-3)


@IN_DEPTH
def test_point_clouds(example, tmp_path, capsys):
    module = example("point_clouds")
    found = module.main(rounds=150, count=600, path=tmp_path / "clouds.png")
    degrees, distance = module.errors(found)
    assert degrees < 2.0 and distance < 0.02
    assert np.abs(found.rotation.matrix.T @ found.rotation.matrix - np.eye(3)).max() < 1e-12
    assert has_picture(tmp_path / "clouds.png")
    assert "round 150" in capsys.readouterr().out


@IN_DEPTH
def test_trees(example, tmp_path):
    found = example("trees").main(steps=300, path=tmp_path / "trees.png")
    assert found[0] > 0.9
    assert has_picture(tmp_path / "trees.png")


def test_digits(example, capsys):
    pytest.importorskip("sklearn")
    example("digits").main(epochs=3)
    last = capsys.readouterr().out.splitlines()[-1]
    assert float(last.split()[-1].rstrip("%")) > 90.0


def test_lenet(example, tmp_path, capsys):
    pytest.importorskip("sklearn")
    assert example("lenet").main(epochs=3, path=tmp_path / "lenet.png") > 0.85
    assert has_picture(tmp_path / "lenet.png")
    assert "epoch 3/3" in capsys.readouterr().out


def test_pendulum(example, tmp_path):
    costs, heights = example("pendulum").main(rounds=120, path=tmp_path / "pendulum.png")
    assert costs[-1] < 0.9 * costs[0] and heights.max() > -0.5  # it began at -0.995
    assert has_picture(tmp_path / "pendulum.png")


def test_pendulum_gradient(example):
    module = example("pendulum")
    layers = [module.nn.Dense.init(n, m, activation=np.tanh, rng=n) for n, m in ((3, 2), (2, 1))]
    module.ad.testing.check_grads(
        lambda layers: module.cost(module.nn.Sequential(layers)), (layers,), order=1, tol=1e-4
    )


def test_autoencoder(example, tmp_path):
    pytest.importorskip("sklearn")
    loss, loss_of_the_mean = example("autoencoder").main(epochs=8, path=tmp_path / "autoencoder.png")
    assert loss < 0.6 * loss_of_the_mean
    assert has_picture(tmp_path / "autoencoder.png")


def test_characters(example, tmp_path):
    losses, by_frequency = example("characters").main(steps=40, path=tmp_path / "characters.png", hidden=48)
    assert np.mean(losses[-5:]) < 1.02 * by_frequency < 0.9 * losses[0]
    assert has_picture(tmp_path / "characters.png")
