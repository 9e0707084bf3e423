"""Arrays that are stepped in time: what an iteration keeps for its reverse is made of less."""

import numpy as np

from programs.registry import program


def positive(*shape):
    return lambda rng: rng.uniform(0.3, 1.2, shape)


@program(positive(6), positive(6), 0.3)
def predator_and_prey(u, v, rate):
    for _ in range(4):
        eaten = u * v / (1.0 + u)
        growth = u * (1.0 - u) - eaten
        decay = rate * v - eaten * eaten
        u = u + 0.1 * growth * (1.0 + growth)
        v = v - 0.1 * decay * growth
    return np.sum(u * v)


@program(positive(4, 5), 0.2)
def diffused_with_a_limiter(u, rate):
    for _ in range(3):
        ahead = np.roll(u, -1, axis=1) - u
        behind = u - np.roll(u, 1, axis=1)
        ratio = behind / (np.abs(ahead) + 0.1)
        limited = np.maximum(0.0, np.minimum(1.0, ratio)) * ahead
        u = u + rate * (limited - np.roll(limited, 1, axis=1)) * u
    return np.sum(u**2)


@program(positive(5), positive(5), 0.4)
def damped_where_it_lies(x, v, rate):
    x, v = x.copy(), v.copy()
    t = 0.0
    while t < 1.0:
        force = -x * np.exp(-rate * x)
        work = force * v
        force *= 1.0 - 0.1 * work
        v += 0.2 * force * (1.0 + work * force)
        x += 0.2 * v
        t += 0.25
    return np.sum(x * x + v * work)


@program(positive(7), 0.5)
def written_in_its_middle(u, rate):
    u = u.copy()
    for _ in range(3):
        slope = 0.5 * (u[2:] - u[:-2])
        bend = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u[1:-1] += 0.1 * (rate * bend - slope * slope * bend)
    return np.sum(u * u)


@program(positive(6), 0.7)
def steps_of_its_own_length(u, rate):
    for _ in range(3):
        change = rate * u * (1.0 - u)
        size = np.max(np.abs(change))
        part = change / (1.0 + size)
        if size > 0.05:
            u = u + 0.5 * part * u
        else:
            part = part * part
            u = u + part * change
    return np.sum(np.sin(u))


@program(positive(3, 4), positive(4), 0.3)
def rows_with_one_weight(u, weights, rate):
    total = 0.0
    for _ in range(2):
        scaled = u * weights
        for _ in range(2):
            mixed = scaled + rate * u
            u = u + 0.1 * mixed * np.tanh(scaled * mixed)
        total += np.sum(scaled * u)
    return total
