"""Handwritten digits, read by a small LeNet: python examples/lenet.py (needs scikit-learn and matplotlib)."""

import sys

import numpy as np
from display import picture
from sklearn.datasets import load_digits

import adjoint as ad
from adjoint import nn


def lenet(rng):
    options = {"activation": nn.relu, "rng": rng, "dtype": np.float32}
    return nn.Sequential(
        [
            nn.Conv2D.init(3, 1, 8, padding="same", **options),
            nn.MaxPool2D.init(2),
            nn.Conv2D.init(3, 8, 16, padding="same", **options),
            nn.MaxPool2D.init(2),
            nn.Flatten(),
            nn.Dense.init(64, 64, **options),
            nn.Dense.init(64, 10, rng=rng, dtype=np.float32),
        ]
    )


def main(epochs=15, path="lenet.png"):
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    images = digits.images[order, :, :, np.newaxis].astype(np.float32) / 16.0
    labels = digits.target[order]
    model = lenet(np.random.default_rng(1))
    loop = nn.TrainingLoop(
        ad.data.Batches(images[360:], labels[360:], size=32, rng=2),
        [(images[:360], labels[:360])],
        optimizer=ad.optim.Adam(0.003),
        loss=nn.softmax_cross_entropy,
        metrics=["accuracy"],
        callbacks=[nn.ProgressPrinter()],
    )
    history = loop.fit(model, epochs)
    (scores,) = loop.predict(model, [images[:360]])
    wrong = np.flatnonzero(np.argmax(scores, axis=1) != labels[:360])

    def draw(figure):
        left, right = figure.subfigures(1, 2)
        axes = left.subplots()
        axes.plot([epoch["accuracy"] for epoch in history], label="training")
        axes.plot([epoch["validation_accuracy"] for epoch in history], label="validation")
        axes.set(xlabel="epoch", ylabel="accuracy")
        axes.legend()
        for cell, place in zip(right.subplots(3, 4).ravel(), [*wrong, *range(12)][:12], strict=True):
            cell.imshow(images[place, :, :, 0], cmap="gray_r")
            cell.set_title(f"{labels[place]}, read {np.argmax(scores[place])}", fontsize=8)
            cell.set_axis_off()

    picture(path, draw, figsize=(9, 4))
    return history[-1]["validation_accuracy"]


if __name__ == "__main__":
    main(path=sys.argv[1] if len(sys.argv) > 1 else "lenet.png")
