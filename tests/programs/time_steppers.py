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


def burgers(left, u, right, viscosity):
    steepness = 0.5 * (right - left)
    bend = left - 2.0 * u + right
    artificial = 0.2 * steepness * steepness
    return (viscosity + artificial) * bend - u * steepness + 0.01 * u * (1.0 - u * u)


@program(positive(6), 0.3)
def a_function_of_slices_in_four_stages(u, viscosity):
    u = u.copy()
    for _ in range(2):
        first = burgers(u[:-2], u[1:-1], u[2:], viscosity)
        half = u.copy()
        half[1:-1] += 0.05 * first
        second = burgers(half[:-2], half[1:-1], half[2:], viscosity)
        half = u.copy()
        half[1:-1] += 0.05 * second
        third = burgers(half[:-2], half[1:-1], half[2:], viscosity)
        whole = u.copy()
        whole[1:-1] += 0.1 * third
        fourth = burgers(whole[:-2], whole[1:-1], whole[2:], viscosity)
        u[1:-1] += 0.1 / 6.0 * (first + 2.0 * (second + third) + fourth)
    return u @ u


def upwind(north, west, centre, wind):
    down = centre - north
    across = centre - west
    size = np.sqrt(down * down + across * across + 0.1)
    flow = wind * (down + 0.5 * across) / size
    return flow * (1.0 - 0.1 * centre * centre) + 0.02 * down * across - 0.01 * centre


@program(positive(4, 5), positive(3, 4))
def a_function_of_slices_of_matrices(u, wind):
    u = u.copy()
    for _ in range(2):
        first = u.copy()
        first[1:, 1:] -= 0.1 * upwind(u[:-1, 1:], u[1:, :-1], u[1:, 1:], wind)
        second = 0.75 * u + 0.25 * first
        second[1:, 1:] -= 0.025 * upwind(first[:-1, 1:], first[1:, :-1], first[1:, 1:], wind)
        change = upwind(second[:-1, 1:], second[1:, :-1], second[1:, 1:], wind)
        u = u / 3.0 + 2.0 / 3.0 * second
        u[1:, 1:] -= 0.06 * change
    return np.sum(u * u)
