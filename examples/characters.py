"""A text, learnt letter by letter by an LSTM: python examples/characters.py (needs matplotlib)."""

import sys
from pathlib import Path

import numpy as np
from display import picture, progress

import adjoint as ad
from adjoint import nn

TEXT = Path(__file__).parents[1] / "docs" / "native.md"


@ad.differentiable
class Model:
    table: nn.Embedding
    recurrent: nn.RecurrentLayer
    scores: nn.Dense

    def __call__(self, codes):
        return self.scores(self.recurrent(self.table(codes)))


def loss(model, codes):
    return nn.softmax_cross_entropy(model(codes[:, :-1]), codes[:, 1:])


def main(steps=300, path="characters.png", length=24, samples=32, hidden=96):
    text = TEXT.read_text()
    letters = sorted(set(text))
    codes = np.array([letters.index(letter) for letter in text])
    rng, kind = np.random.default_rng(0), {"dtype": np.float32}
    table = nn.Embedding.init(len(letters), 24, rng=rng, **kind)
    scores = nn.Dense.init(hidden, len(letters), rng=rng, **kind)
    model = Model(table, nn.LSTM(24, hidden, rng=rng, **kind), scores)
    optimizer, step, losses = ad.optim.Adam(0.01, clip_norm=1.0), ad.value_and_grad(loss), []
    for done in range(1, steps + 1):
        starts = rng.integers(0, len(codes) - length, samples)
        value, gradient = step(model, codes[starts[:, np.newaxis] + np.arange(length + 1)])
        optimizer.update(model, along=gradient)
        losses.append(float(value))
        if done % 10 == 0 or done == steps:
            progress(done, steps, f"step {done}  loss {value:.3f}")
    shares = np.bincount(codes) / len(codes)

    def draw(figure):
        axes = figure.subplots()
        axes.plot(losses, label="LSTM")
        axes.axhline(-np.sum(shares * np.log(shares)), color="gray", label="letters by their frequency")
        axes.set(xlabel="step", ylabel="nats for each letter")
        axes.legend()

    picture(path, draw, figsize=(6, 4))
    return losses, -np.sum(shares * np.log(shares))


if __name__ == "__main__":
    main(path=sys.argv[1] if len(sys.argv) > 1 else "characters.png")
