"""Handwritten digits, read by a model made of plain dataclasses: python examples/digits.py (needs scikit-learn)."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

import adjoint as ad


@dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray

    def __call__(self, x):
        return x @ self.w + self.b


@dataclass
class Classifier:
    hidden: Dense
    output: Dense

    def __call__(self, images):
        return self.output(np.maximum(self.hidden(images), 0.0))


def loss(model, images, labels):
    scores = model(images)
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_sums = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_sums - shifted[np.arange(len(labels)), labels])


def accuracy(model, images, labels):
    return np.mean(np.argmax(model(images), axis=1) == labels)


def main(epochs=20, rate=0.1, momentum=0.9, batch=32):
    rng = np.random.default_rng(0)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images, labels = digits.data[order] / 16.0, digits.target[order]
    images, test_images = images[360:], images[:360]
    labels, test_labels = labels[360:], labels[:360]
    model = Classifier(
        hidden=Dense(rng.normal(size=(64, 64)) * 0.18, np.zeros(64)),
        output=Dense(rng.normal(size=(64, 10)) * 0.18, np.zeros(10)),
    )

    step = ad.value_and_grad(loss)
    optimizer = ad.optim.SGD(rate, momentum)
    for epoch in range(epochs):
        for some in np.array_split(rng.permutation(len(labels)), len(labels) // batch):
            value, gradient = step(model, images[some], labels[some])  # gradient.hidden.w, gradient.hidden.b, ...
            optimizer.update(model, along=gradient)
        print(f"epoch {epoch + 1:2}  loss {value:.4f}  test accuracy {accuracy(model, test_images, test_labels):.1%}")
    return model


if __name__ == "__main__":
    main()
