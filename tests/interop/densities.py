"""Log densities as plain loops: eight schools, a hierarchical regression, a differential equation."""

import math

import numpy as np

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def eight_schools(mean, log_width, z, effects, errors):
    width = math.exp(log_width)
    total = -0.5 * (mean / 5.0) ** 2 - math.log(1.0 + (width / 5.0) ** 2) + log_width
    for j in range(len(effects)):
        total -= 0.5 * z[j] ** 2 + 0.5 * ((effects[j] - mean - width * z[j]) / errors[j]) ** 2
    return total


def schools(mean, log_width, z, effects, errors):
    width = math.exp(log_width)
    return width, mean + width * z


GROUPS = 5
GROUP = np.repeat(np.arange(GROUPS), 8)
PLACES = np.tile(np.linspace(-1.0, 1.0, 8), GROUPS)
SEEN = (1.0 + 0.3 * GROUP) + (2.0 - 0.4 * GROUP) * PLACES + 0.3 * np.sin(37.0 * np.arange(len(GROUP)))


def regression(means, log_widths, z, log_noise, group, places, seen):
    """Intercepts and slopes of groups, each normal around a mean."""
    noise = math.exp(log_noise)
    total = -0.5 * noise**2 + log_noise
    for k in range(2):
        width = math.exp(log_widths[k])
        total += -0.5 * (means[k] / 5.0) ** 2 - 0.5 * width**2 + log_widths[k]
        for j in range(z.shape[1]):
            total -= 0.5 * z[k, j] ** 2
    for i in range(len(seen)):
        j = group[i]
        intercept = means[0] + math.exp(log_widths[0]) * z[0, j]
        slope = means[1] + math.exp(log_widths[1]) * z[1, j]
        total -= 0.5 * ((seen[i] - intercept - slope * places[i]) / noise) ** 2 + log_noise
    return total


DAYS = 12
STEPS = 4
COUNTS = 100.0 / (1.0 + 9.0 * np.exp(-0.7 * np.arange(1, DAYS + 1))) * np.exp(0.1 * np.cos(5.0 * np.arange(DAYS)))


def growth(log_rate, log_capacity, log_noise, counts, steps):
    """Logistic growth from ten on, by Runge and Kutta's method, seen with errors of a constant ratio."""
    rate, capacity, noise = math.exp(log_rate), math.exp(log_capacity), math.exp(log_noise)
    total = -0.5 * log_rate**2 - 0.5 * (log_capacity - 4.0) ** 2 - 0.5 * (log_noise + 2.0) ** 2
    n, h = 10.0, 1.0 / steps
    for i in range(len(counts)):
        for _ in range(steps):
            a = rate * n * (1.0 - n / capacity)
            m = n + 0.5 * h * a
            b = rate * m * (1.0 - m / capacity)
            m = n + 0.5 * h * b
            c = rate * m * (1.0 - m / capacity)
            m = n + h * c
            d = rate * m * (1.0 - m / capacity)
            n = n + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        total -= 0.5 * ((math.log(counts[i]) - math.log(n)) / noise) ** 2 + log_noise
    return total
