"""Hares and lynxes: a differential equation fitted to counts of 1900 to 1920.

The equation is solved with steps that adapt to its error, in a `while` loop, and the fit follows the derivative of that
program: python examples/lotka_volterra.py (needs scipy and matplotlib).
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from display import picture, progress

import adjoint as ad

DATA = Path(__file__).with_name("data") / "hudson_bay.csv"


@dataclass(frozen=True)
class Species:
    """How fast a population changes by itself and by meeting the other one, and its size at the start."""

    growth: float
    meeting: float
    start: float


@dataclass(frozen=True)
class Logarithms:
    """The unknowns, as logarithms: what they stand for is positive."""

    hare: Species
    lynx: Species


def rates(model, hare, lynx):
    born = np.exp(model.hare.growth) * hare - np.exp(model.hare.meeting) * hare * lynx
    fed = np.exp(model.lynx.meeting) * hare * lynx - np.exp(model.lynx.growth) * lynx
    return born, fed


def solve(model, hare, lynx, duration, tolerance):
    """Both populations after some time, by the method of Bogacki and Shampine."""
    time = 0.0
    step = 0.1
    while time < duration:
        h = min(step, duration - time)
        a1, b1 = rates(model, hare, lynx)
        a2, b2 = rates(model, hare + h / 2 * a1, lynx + h / 2 * b1)
        a3, b3 = rates(model, hare + 3 * h / 4 * a2, lynx + 3 * h / 4 * b2)
        new_hare = hare + h / 9 * (2 * a1 + 3 * a2 + 4 * a3)
        new_lynx = lynx + h / 9 * (2 * b1 + 3 * b2 + 4 * b3)
        a4, b4 = rates(model, new_hare, new_lynx)
        hare_error = h * (-5 / 72 * a1 + 1 / 12 * a2 + 1 / 9 * a3 - 1 / 8 * a4)
        lynx_error = h * (-5 / 72 * b1 + 1 / 12 * b2 + 1 / 9 * b3 - 1 / 8 * b4)
        error = ad.stop_gradient(max(abs(hare_error), abs(lynx_error))) / tolerance
        if error <= 1.0:
            time = time + h
            hare, lynx = new_hare, new_lynx
        step = h * min(5.0, max(0.2, 0.9 / max(error, 1e-10) ** (1 / 3)))
    return hare, lynx


def trajectory(model, years, tolerance):
    """Both populations in some years, the first of which is the start."""
    hare, lynx = np.exp(model.hare.start), np.exp(model.lynx.start)
    points = [(hare, lynx)]
    for i in range(1, len(years)):
        hare, lynx = solve(model, hare, lynx, years[i] - years[i - 1], tolerance)
        points.append((hare, lynx))
    return points


def misfit(model, years, hares, lynxes, tolerance):
    """The mean square of the differences, as logarithms."""
    total = 0.0
    points = trajectory(model, years, tolerance)
    for i in range(len(points)):
        hare, lynx = points[i]
        total += np.log(hare / hares[i]) ** 2 + np.log(lynx / lynxes[i]) ** 2
    return total / (2 * len(points))


def main(iterations=60, path="lotka_volterra.png", tolerance=1e-3):
    years, lynxes, hares = np.loadtxt(DATA, delimiter=",", skiprows=4, unpack=True)
    guess = Logarithms(
        hare=Species(growth=np.log(0.5), meeting=np.log(0.02), start=np.log(30.0)),
        lynx=Species(growth=np.log(0.9), meeting=np.log(0.03), start=np.log(5.0)),
    )
    seen = []

    def shown(model):
        seen.append(misfit(model, years, hares, lynxes, tolerance))
        progress(len(seen), iterations, f"iteration {len(seen)}  misfit {seen[-1]:.4f}")

    found = ad.optim.minimize(
        misfit, guess, (years, hares, lynxes, tolerance), callback=shown, options={"maxiter": iterations}
    )
    model = found.x
    print(f"\nmisfit {misfit(guess, years, hares, lynxes, tolerance):.4f} -> {found.fun:.4f}")
    print(f"hares: +{np.exp(model.hare.growth):.3f} a year, -{np.exp(model.hare.meeting):.4f} for each 1000 lynxes")
    print(f"lynxes: -{np.exp(model.lynx.growth):.3f} a year, +{np.exp(model.lynx.meeting):.4f} for each 1000 hares")

    def draw(figure):
        fine = np.linspace(years[0], years[-1], 10 * len(years))
        curves = np.array(trajectory(model, fine, tolerance))
        axes = figure.subplots()
        for name, counts, curve in zip(("hares", "lynxes"), (hares, lynxes), curves.T, strict=True):
            (line,) = axes.plot(fine, curve, label=name)
            axes.plot(years, counts, "o", color=line.get_color())
        axes.set(xlabel="year", ylabel="pelts, in thousands", title="Hudson Bay: counts and fitted model")
        axes.set_xticks(years[::4])
        axes.legend()

    picture(path, draw, figsize=(8, 4.5))
    return found


if __name__ == "__main__":
    main(path=sys.argv[1] if len(sys.argv) > 1 else "lotka_volterra.png")
