"""A training step of LeNet-5 beside PyTorch's, on one core (needs ``torch``).

``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.lenet``. The model is that of LeCun et al., 1998, with
average pools and ``relu``, in single precision: value, gradient and a step of gradient descent. Both run in this
process, by turns; what is counted is the time of the processor.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import nn

Step = Callable[[], float]


def lenet(rng: np.random.Generator) -> nn.Sequential:
    """The model, of images of 28 x 28 with one channel."""
    options: dict[str, Any] = {"activation": nn.relu, "rng": rng, "dtype": np.float32}
    return nn.Sequential(
        [
            nn.Conv2D.init(5, 1, 6, padding="same", **options),
            nn.AvgPool2D.init(2),
            nn.Conv2D.init(5, 6, 16, **options),
            nn.AvgPool2D.init(2),
            nn.Flatten(),
            nn.Dense.init(400, 120, **options),
            nn.Dense.init(120, 84, **options),
            nn.Dense.init(84, 10, rng=rng, dtype=np.float32),
        ]
    )


def step_here(model: nn.Sequential, images: Any, labels: Any) -> Step:
    """A step of this library; it gives the loss before."""
    derivative = ad.value_and_grad(lambda model, images, labels: nn.softmax_cross_entropy(model(images), labels))
    optimizer = ad.optim.SGD(0.05)

    def step() -> float:
        value, gradient = derivative(model, images, labels)
        optimizer.update(model, along=gradient)
        return float(value)

    return step


def step_of_torch(torch: Any, model: nn.Sequential, images: Any, labels: Any, channels_last: bool) -> Step:
    """A step of PyTorch, from the same weights."""
    torch.set_num_threads(1)
    first, _, second, _, _, *dense = model.layers
    other = torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 5, padding=2),
        torch.nn.ReLU(),
        torch.nn.AvgPool2d(2),
        torch.nn.Conv2d(6, 16, 5),
        torch.nn.ReLU(),
        torch.nn.AvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(400, 120),
        torch.nn.ReLU(),
        torch.nn.Linear(120, 84),
        torch.nn.ReLU(),
        torch.nn.Linear(84, 10),
    )
    flat = np.arange(400).reshape(5, 5, 16).transpose(2, 0, 1).ravel()  # PyTorch has the channels before the extents
    weights = [layer.filter.transpose(3, 2, 0, 1) for layer in (first, second)]
    weights += [layer.weight.T for layer in dense]
    weights[2] = weights[2][:, flat]
    layers = [part for part in other if hasattr(part, "weight")]
    with torch.no_grad():
        for part, weight, layer in zip(layers, weights, (first, second, *dense), strict=True):
            part.weight.copy_(torch.tensor(weight.copy()))
            part.bias.copy_(torch.tensor(layer.bias))
    x, y = torch.tensor(images.transpose(0, 3, 1, 2).copy()), torch.tensor(labels)
    if channels_last:
        x, other = x.to(memory_format=torch.channels_last), other.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(other.parameters(), 0.05)

    def step() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(other(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def milliseconds(steps: list[Step], rounds: int) -> list[float]:
    """The median time of each, by turns, after a few that do not count."""
    times: list[list[float]] = [[] for _ in steps]
    for number in range(rounds + 3):
        for step, found in zip(steps, times, strict=True):
            start = time.thread_time()
            step()
            if number >= 3:
                found.append(time.thread_time() - start)
    return [1e3 * statistics.median(found) for found in times]


def main(rounds: int = 40) -> None:
    """Prints the times for several sizes of batches."""
    if {os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")} != {"1"}:
        sys.exit("set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1: the time of one thread is counted")
    import torch

    from benchmarks.timing import keep_freed_memory

    keep_freed_memory()
    print("batch   adjoint   PyTorch   PyTorch, channels last   ratio to the faster one")
    for samples in (32, 64, 128):
        rng = np.random.default_rng(0)
        model = lenet(rng)
        images = rng.normal(size=(samples, 28, 28, 1)).astype(np.float32)
        labels = rng.integers(0, 10, samples)
        others = [step_of_torch(torch, model, images, labels, channels_last) for channels_last in (False, True)]
        steps = [step_here(model, images, labels), *others]
        losses = np.array([[step() for step in steps] for _ in range(5)])
        np.testing.assert_allclose(losses[:, 1:], losses[:, :1].repeat(2, axis=1), rtol=1e-4)
        here, first, last = milliseconds(steps, rounds)
        print(f"{samples:5}{here:8.2f} ms{first:7.2f} ms{last:13.2f} ms{here / min(first, last):20.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
