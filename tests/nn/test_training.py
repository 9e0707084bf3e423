"""The training loop: what it does, in which order, what its callbacks may change, and what is kept in files."""

import io
import math

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn


def line(samples=32):
    x = np.linspace(-1.0, 1.0, samples).reshape(-1, 1)
    return x, 3.0 * x - 1.0


def loop_of(validation=None, callbacks=(), **options):
    options = {"optimizer": ad.optim.SGD(0.5), "loss": nn.mean_squared_error} | options
    batches = ad.data.Batches(*line(), size=16, rng=0)
    return nn.TrainingLoop(batches, validation, callbacks=callbacks, **options)


def test_a_step_is_what_one_would_write():
    model, other = nn.Dense.init(1, 1, rng=0), nn.Dense.init(1, 1, rng=0)
    loop_of().fit(model, epochs=2)
    batches, optimizer = ad.data.Batches(*line(), size=16, rng=0), ad.optim.SGD(0.5)
    for _ in range(2):
        for x, y in batches:
            optimizer.update(other, along=ad.grad(lambda m: nn.mean_squared_error(m(x), y))(other))
    np.testing.assert_array_equal(model.weight, other.weight)
    np.testing.assert_array_equal(model.bias, other.bias)


def test_events_in_their_order():
    told = []
    loop = loop_of([line()], [lambda loop, event: told.append(event.value)])
    loop.fit(nn.Dense.init(1, 1, rng=0), epochs=1)
    batch = ["batch_start", "update_start", "batch_end"]
    validation = ["validation_start", "batch_start", "prediction_end", "batch_end", "validation_end"]
    training = ["training_start", *batch, *batch, "training_end"]
    assert told == ["fit_start", "epoch_start", *training, *validation, "epoch_end", "fit_end"]


@pytest.mark.parametrize(
    ("scope", "event", "expected"),
    [
        ("batch", nn.Event.UPDATE_START, {"update_start": 4, "batch_end": 6, "epoch_end": 2, "fit_end": 1}),
        ("training", nn.Event.BATCH_START, {"update_start": 0, "training_end": 2, "prediction_end": 2, "epoch_end": 2}),
        ("validation", nn.Event.PREDICTION_END, {"update_start": 4, "validation_end": 2, "epoch_end": 2}),
        ("epoch", nn.Event.TRAINING_END, {"update_start": 4, "validation_start": 0, "epoch_end": 2, "fit_end": 1}),
        (
            "fit",
            nn.Event.BATCH_END,
            {"update_start": 1, "batch_end": 1, "training_end": 1, "epoch_end": 1, "fit_end": 1},
        ),
    ],
)
def test_what_is_cancelled_is_left_out(scope, event, expected):
    told = []

    def cancel(loop, told_of):
        told.append(told_of.value)
        if told_of is event and (scope != "training" or nn.is_training()):
            raise nn.Cancel(scope)

    model = nn.Dense.init(1, 1, rng=0)
    before = model.weight.copy()
    loop_of([line()], [cancel]).fit(model, epochs=2)
    assert {name: told.count(name) for name in expected} == expected
    assert np.array_equal(model.weight, before) == (scope in ("batch", "training"))
    with pytest.raises(ValueError, match="and not 'everything'"):
        nn.Cancel("everything")


def test_what_is_not_going_on_cannot_be_cancelled():
    def cancel(loop, event):
        if event is nn.Event.FIT_START:
            raise nn.Cancel("epoch")

    with pytest.raises(RuntimeError, match="cancelled the epoch, and none was going on"):
        loop_of(callbacks=[cancel]).fit(nn.Dense.init(1, 1, rng=0), epochs=1)


def test_callbacks_change_gradients_and_rates():
    def clip(loop, event):
        if event is nn.Event.UPDATE_START:
            loop.gradient = 0.0 * loop.gradient

    model, rates = nn.Dense.init(1, 1, rng=0), []
    before = model.weight.copy()
    watch = lambda loop, event: rates.append(loop.optimizer.learning_rate)
    loop_of(callbacks=[nn.LearningRateScheduler(lambda epoch: 0.5 / epoch), watch, clip]).fit(model, epochs=2)
    np.testing.assert_array_equal(model.weight, before)
    assert list(dict.fromkeys(rates)) == [0.5, 0.25]


def test_training_and_validation_have_their_phases():
    seen = []

    @ad.differentiable
    class Watching:
        scale: float

        def __call__(self, x):
            record(nn.is_training())
            return self.scale * x

    def record(flag):
        seen.append(bool(flag))

    ad.rules.observer(record, pure=False)
    loop_of([line()]).fit(Watching(1.0), epochs=1)
    assert seen == [True, True, False] and not nn.is_training()


def test_metrics():
    scores = np.array([[2.0, 1.0], [0.0, 1.0], [3.0, 1.0], [0.0, 5.0]])
    labels = np.array([0, 1, 1, 1])
    values = {}
    for name, make in nn.METRICS.items():
        metric = make()
        assert metric.name == name
        metric.add(1.0, scores[:3], labels[:3])
        metric.add(2.0, scores[3:], labels[3:])
        values[name] = metric.value()
    assert values["loss"] == 1.25 and values["perplexity"] == math.exp(1.25) and values["accuracy"] == 0.75
    assert values["top5_accuracy"] == 1.0
    assert values["matthews_correlation"] == pytest.approx(np.corrcoef([0, 1, 0, 1], labels)[0, 1])
    top = nn.METRICS["top5_accuracy"]()
    top.add(0.0, np.arange(12.0).reshape(2, 6), np.array([0, 1]))
    assert top.value() == 0.5
    with pytest.raises(ValueError, match="no metric 'precision'; there are accuracy"):
        loop_of(metrics=["precision"])


def test_history_progress_and_tables(tmp_path):
    printed, path = io.StringIO(), tmp_path / "log.csv"
    loop = loop_of([line()], [nn.ProgressPrinter(printed), nn.CSVLogger(path)])
    model = nn.Dense.init(1, 1, rng=0)
    history = loop.fit(model, epochs=3)
    assert [set(numbers) for numbers in history] == [{"loss", "validation_loss"}] * 3
    assert history[-1]["validation_loss"] == pytest.approx(nn.mean_squared_error(model(line()[0]), line()[1]))
    lines = printed.getvalue().splitlines()
    assert len(lines) == 3 and lines[2].startswith(f"epoch 3/3  loss {history[2]['loss']:.4f}  validation loss")
    loop.fit(model, epochs=1)
    rows = path.read_text().splitlines()
    assert rows[0] == "epoch,loss,validation_loss" and [row.split(",")[0] for row in rows[1:]] == ["1", "2", "3", "4"]
    assert [float(row.split(",")[1]) for row in rows[1:]] == [numbers["loss"] for numbers in loop.history]
    with pytest.raises(ValueError, match="has the columns"):
        loop_of(callbacks=[nn.CSVLogger(path)]).fit(model, epochs=1)
    pytest.importorskip("matplotlib")
    nn.plot_history(loop.history, tmp_path / "history.png")
    nn.plot_images(np.eye(4)[np.newaxis], tmp_path / "images.png", titles=["one"])
    for name in ("history.png", "images.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_progress_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    printed = Terminal()
    loop_of(callbacks=[nn.ProgressPrinter(printed)]).fit(nn.Dense.init(1, 1, rng=0), epochs=1)
    assert "epoch 1/1  batch 2/2  loss" in printed.getvalue() and printed.getvalue().count("\n") == 1


def test_stopping_early():
    stopping = nn.EarlyStopping("loss", patience=2)
    loop = loop_of(callbacks=[stopping], optimizer=ad.optim.SGD(0.0))
    loop.training = [line()]
    assert len(loop.fit(nn.Dense.init(1, 1, rng=0), epochs=50)) == 3
    with pytest.raises(ValueError, match="there is no 'validation_loss' among loss"):
        loop_of(callbacks=[nn.EarlyStopping()]).fit(nn.Dense.init(1, 1, rng=0), epochs=1)


class TestCheckpoints:
    @staticmethod
    def model(seed):
        first = nn.Dense.init(1, 4, activation=np.tanh, rng=seed)
        return nn.Sequential(
            [first, nn.BatchNorm.init(4), nn.Dropout(0.25, rng=seed), nn.Dense.init(4, 1, rng=seed + 1)]
        )

    @pytest.fixture(autouse=True)
    def safetensors(self):
        pytest.importorskip("safetensors")

    def test_training_goes_on_to_the_last_bit(self, tmp_path):
        path = tmp_path / "model.safetensors"
        loop = loop_of(callbacks=[nn.Checkpoint(path)], optimizer=ad.optim.Adam(0.01))
        loop.training = [line()]
        model = self.model(0)
        loop.fit(model, epochs=3)
        other, optimizer = self.model(7), ad.optim.Adam(0.01)
        assert nn.load_checkpoint(path, other, optimizer) == loop.history
        again = loop_of(optimizer=optimizer)
        again.training = [line()]
        loop.callbacks.clear()
        loop.fit(model, epochs=2)
        again.fit(other, epochs=2)
        for one, two in zip(model.layers[:2] + model.layers[3:], other.layers[:2] + other.layers[3:], strict=True):
            for name in vars(one):
                np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert loop.history[3:] == again.history

    def test_the_best_is_kept(self, tmp_path):
        path, losses = tmp_path / "best.safetensors", iter([3.0, 1.0, 2.0])
        save = nn.Checkpoint(path, best="loss")
        model = nn.Dense(np.zeros((1, 1)), None)
        loop = loop_of(optimizer=ad.optim.SGD(0.0))
        for loop.epoch in (1, 2, 3):
            loop.model, model.weight[...] = model, float(loop.epoch)
            loop.history = [{"loss": next(losses)}]
            save(loop, nn.Event.EPOCH_END)
        other = nn.Dense(np.zeros((1, 1)), None)
        assert nn.load_checkpoint(path, other) == [{"loss": 1.0}] and other.weight[0, 0] == 2.0

    def test_what_does_not_fit_is_refused_and_changes_nothing(self, tmp_path):
        path = tmp_path / "model.safetensors"
        nn.save_checkpoint(path, nn.Dense.init(2, 3, rng=0))
        other = nn.Dense.init(2, 4, rng=1)
        before = other.weight.copy()
        with pytest.raises(ValueError, match=r"holds .weight as float64 of shape \(2, 3\); the model has .* \(2, 4\)"):
            nn.load_checkpoint(path, other)
        np.testing.assert_array_equal(other.weight, before)
        with pytest.raises(ValueError, match=r"lacks \.layers"):
            nn.load_checkpoint(path, nn.Sequential([other]))
        with pytest.raises(ValueError, match=r"holds \.bias, which the model does not have"):
            nn.load_checkpoint(path, nn.Dense.init(2, 3, use_bias=False, rng=0))
        nn.save_checkpoint(path, (other, 1.0))
        nn.load_checkpoint(path, (other, 1.0))
        with pytest.raises(ValueError, match=r"has 1.0 for \[1\], which cannot be assigned to and is 2.0"):
            nn.load_checkpoint(path, (other, 2.0))
        path.write_bytes(path.read_bytes()[:-3])
        with pytest.raises(ValueError, match="is damaged"):
            nn.load_checkpoint(path, other)
        assert [entry.name for entry in tmp_path.iterdir()] == ["model.safetensors"]

    def test_a_write_that_fails_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "model.safetensors"
        nn.save_checkpoint(path, nn.Dense.init(2, 3, rng=0))
        old = path.read_bytes()

        def fail(handle):
            raise OSError("no space")

        monkeypatch.setattr("os.fsync", fail)
        with pytest.raises(OSError, match="no space"):
            nn.save_checkpoint(path, nn.Dense.init(2, 3, rng=1))
        assert path.read_bytes() == old and len(list(tmp_path.iterdir())) == 1


def test_the_exclusive_or_of_the_document():
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([[0.0], [1.0], [1.0], [0.0]])
    rng = np.random.default_rng(0)
    model = nn.Sequential(
        [nn.Dense.init(2, 4, activation=nn.relu, rng=rng), nn.Dense.init(4, 1, activation=nn.relu, rng=rng)]
    )
    loop = nn.TrainingLoop([(x, y)], optimizer=ad.optim.Adam(0.02), loss=nn.mean_squared_error)
    loop.fit(model, epochs=1000)
    np.testing.assert_allclose(loop.predict(model, [x])[0], y, atol=0.01)
