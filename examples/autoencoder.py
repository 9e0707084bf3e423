"""Handwritten digits through eight numbers: python examples/autoencoder.py (needs scikit-learn and matplotlib)."""

import sys

import numpy as np
from display import picture
from sklearn.datasets import load_digits

import adjoint as ad
from adjoint import nn


def autoencoder(rng):
    sizes = [(64, 48, nn.relu), (48, 8, np.tanh), (8, 48, nn.relu), (48, 64, nn.sigmoid)]
    return nn.Sequential([nn.Dense.init(n, m, activation=f, rng=rng, dtype=np.float32) for n, m, f in sizes])


def main(epochs=60, path="autoencoder.png"):
    images = load_digits().data[np.random.default_rng(0).permutation(1797)].astype(np.float32) / 16.0
    test, rest = images[:360], images[360:]
    model = autoencoder(np.random.default_rng(1))
    loop = nn.TrainingLoop(
        ad.data.Batches(rest, rest, size=32, rng=2),
        [(test, test)],
        optimizer=ad.optim.Adam(0.005),
        loss=nn.mean_squared_error,
        callbacks=[nn.ProgressPrinter()],
    )
    history = loop.fit(model, epochs)

    def draw(figure):
        rows = np.stack([test[:12], model(test[:12])]).reshape(2, 12, 8, 8)
        for cell, image in zip(figure.subplots(2, 12).ravel(), rows.reshape(-1, 8, 8), strict=True):
            cell.imshow(image, cmap="gray_r", vmin=0.0, vmax=1.0)
            cell.set_axis_off()

    picture(path, draw, figsize=(9, 2))
    return history[-1]["validation_loss"], float(np.mean((test - rest.mean(axis=0)) ** 2))


if __name__ == "__main__":
    main(path=sys.argv[1] if len(sys.argv) > 1 else "autoencoder.png")
