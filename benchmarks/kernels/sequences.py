"""Filters, recurrences and particles: programs of loops over numbers, and of small arrays."""

import numpy as np


def biquad(x, b0, b1, a1, a2):
    y = np.zeros(len(x))
    for i in range(2, len(x)):
        y[i] = b0 * x[i] + b1 * x[i - 1] - a1 * y[i - 1] - a2 * y[i - 2]
    return np.sum(y * y)


def smoothed(x, alpha, beta):
    level, trend, error = x[0], 0.0, 0.0
    for i in range(1, len(x)):
        guess = level + trend
        error += (x[i] - guess) ** 2
        new = alpha * x[i] + (1.0 - alpha) * guess
        trend = beta * (new - level) + (1.0 - beta) * trend
        level = new
    return error


def thomas(lower, diagonal, upper, right):
    n = len(right)
    c, d = np.zeros(n), np.zeros(n)
    c[0], d[0] = upper[0] / diagonal[0], right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return np.sum(d * d)


def warping(x, y):
    n, m = len(x), len(y)
    d = np.zeros((n + 1, m + 1))
    d[0, 1:] = 1e3
    d[1:, 0] = 1e3
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = d[i - 1, j], d[i, j - 1], d[i - 1, j - 1]
            least = min(a, b, c)
            soft = least - np.log(np.exp(least - a) + np.exp(least - b) + np.exp(least - c))
            d[i, j] = (x[i - 1] - y[j - 1]) ** 2 + soft
    return d[n, m]


def pairs(x, y, z):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            r2 = (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2 + (z[i] - z[j]) ** 2
            s = 1.0 / (r2 * r2 * r2 + 0.1)
            energy += 4.0 * (s * s - s)
    return energy


def lorenz_rate(x):
    return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8.0


def lorenz_step(x):
    k1 = lorenz_rate(x)
    k2 = lorenz_rate(x + 0.005 * k1)
    k3 = lorenz_rate(x + 0.005 * k2)
    k4 = lorenz_rate(x + 0.01 * k3)
    return (x + (0.01 / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4),)


def lorenz(x):
    for _ in range(50):
        (x,) = lorenz_step(x)
    return np.sum(x * x)


def chain(x, v, stiff):
    x, v = x.copy(), v.copy()
    for _ in range(30):
        force = stiff * (x[1:] - x[:-1]) + 0.1 * (x[1:] - x[:-1]) ** 3
        v[:-1] += 0.01 * force
        v[1:] -= 0.01 * force
        x += 0.01 * v
    return np.sum(v * v)


def bodies_step(x, v, mass):
    apart = x[None, :, :] - x[:, None, :]
    inverse = (np.sum(apart**2, axis=2) + 0.1) ** -1.5
    force = np.sum(apart * (inverse * mass[None, :])[:, :, None], axis=1)
    v = v + 0.01 * force
    return x + 0.01 * v, v, mass


def bodies(x, v, mass):
    for _ in range(5):
        x, v, mass = bodies_step(x, v, mass)
    return np.sum(x * x)


def asian_option(start, volatility, draws):
    moves = 0.0002 - 0.5 * volatility**2 / 50.0 + volatility * np.sqrt(1.0 / 50.0) * draws
    prices = start * np.exp(np.cumsum(moves, axis=1))
    return np.mean(np.maximum(np.mean(prices, axis=1) - 100.0, 0.0))
