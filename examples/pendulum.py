"""A pendulum, swung up by a network trained through its simulation: python examples/pendulum.py (needs matplotlib)."""

import sys

import numpy as np
from display import picture, progress

import adjoint as ad
from adjoint import nn

STEP, STEPS = 0.05, 60


def motion(controller, angle, speed, steps=STEPS):
    """The angles from below, the torques, about half of the weight at most, and the last speed."""
    angles, torques = [], []
    for _ in range(steps):
        state = np.array([[np.sin(angle), np.cos(angle), speed]])
        torque = 5.0 * controller(state)[0, 0]
        speed = speed + STEP * (torque - 9.81 * np.sin(angle) - 0.1 * speed)
        angle = angle + STEP * speed
        angles.append(angle)
        torques.append(torque)
    return np.stack(angles), np.stack(torques), speed


def cost(controller):
    angles, torques, speed = motion(controller, 0.1, 0.0)
    ending = 1.0 + np.cos(angles[-15:])
    return np.mean(ending) + 0.1 * np.mean(1.0 + np.cos(angles)) + 0.02 * speed**2 + 1e-4 * np.mean(torques**2)


def main(rounds=400, path="pendulum.png"):
    rng = np.random.default_rng(0)
    layers = [nn.Dense.init(n, m, activation=np.tanh, rng=rng) for n, m in ((3, 16), (16, 1))]
    controller, optimizer = nn.Sequential(layers), ad.optim.Adam(0.02, clip_norm=1.0)
    step = ad.value_and_grad(cost)
    costs = []
    for done in range(1, rounds + 1):
        value, gradient = step(controller)
        optimizer.update(controller, along=gradient)
        costs.append(float(value))
        if done % 20 == 0 or done == rounds:
            progress(done, rounds, f"round {done}  cost {value:.3f}")
    angles, torques, _ = motion(controller, 0.1, 0.0)

    def draw(figure):
        left, right = figure.subplots(1, 2)
        left.plot(costs)
        left.set(xlabel="round", ylabel="cost")
        times = STEP * np.arange(1, len(angles) + 1)
        right.plot(times, -np.cos(angles), label="height")
        right.plot(times, torques / 5.0, label="torque")
        right.set(xlabel="seconds")
        right.legend()

    picture(path, draw, figsize=(9, 4))
    return costs, -np.cos(angles)


if __name__ == "__main__":
    main(path=sys.argv[1] if len(sys.argv) > 1 else "pendulum.png")
