"""Stencils, small Jacobians by hand, products read row by row: what loops of numerical programs look like."""

import numpy as np

import adjoint as ad
from programs.registry import program


def vector(n):
    return lambda rng: rng.uniform(0.5, 1.5, n)


def matrix(n, m):
    return lambda rng: rng.uniform(0.5, 1.5, (n, m))


@program(matrix(4, 5), 2, 0.1)
def heat_in_the_plane(u, steps, rate):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                new[i, j] = u[i, j] + rate * (around - 4.0 * u[i, j])
        u = new
    return np.sum(u * u)


@program(vector(7), vector(7), 2)
def waves_by_leaps(u, speed, steps):
    v = np.zeros(len(u))
    u = u.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            v[i] += 0.1 * speed[i] * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        for i in range(len(u)):
            u[i] += 0.1 * v[i]
    return np.sum(u * v)


@program(vector(6), vector(6))
def second_differences(x, w):
    total = 0.0
    for i in range(1, len(x) - 1):
        total += w[i] * (x[i - 1] - 2.0 * x[i] + x[i + 1]) ** 2
    return total


@program(vector(8))
def smoothed_by_five(x):
    total = 0.0
    for i in range(2, len(x) - 2):
        total += (x[i - 2] + 2.0 * x[i - 1] + 3.0 * x[i] + 2.0 * x[i + 1] + x[i + 2]) ** 2
    return total


def fitted(camera, at):
    return camera[0] * at + camera[1] * at * at, camera[2] - at


@program(matrix(3, 3), vector(3))
def rows_of_a_jacobian(cameras, places):
    total = 0.0
    for i in range(len(places)):
        _, pullback = ad.vjp(fitted, cameras[i], places[i])
        of_camera, of_place = pullback((1.0, 0.5))
        total += of_place * of_camera[0] + of_camera[1] * of_camera[2]
    return total


@program(matrix(3, 2), vector(3))
def slopes_of_short_rows(rows, w):
    def cost(row):
        return row[0] * row[0] * row[1] + row[1]

    total = 0.0
    for i in range(len(rows)):
        slope = ad.grad(cost)(rows[i])
        total += w[i] * slope[0] * slope[1]
    return total


WEIGHTS = np.cos(np.arange(15.0)).reshape(5, 3)


def frames_of(angles):
    frames = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            frames[i, j] = np.sin(angles[i] * j)
    return frames


@program(vector(3))
def blended_rows(angles):
    blended = WEIGHTS @ frames_of(angles)
    found = np.empty(len(WEIGHTS))
    for v in range(len(WEIGHTS)):
        found[v] = blended[v, 0] * blended[v, 2] + blended[v, 1]
    return found


@program(vector(3), vector(5))
def heights_of_rows(angles, scale):
    blended = WEIGHTS @ frames_of(angles)
    total = 0.0
    for v in range(len(WEIGHTS)):
        row = blended[v]
        total += scale[v] * row[1] * row[1]
    return total


@program(vector(3), matrix(4, 3), vector(4))
def distances_to_points(angles, weights, points):
    blended = weights @ frames_of(angles)
    total = 0.0
    for v in range(len(weights)):
        row = blended[v]
        total += (row[0] - points[v]) ** 2 + row[1]
    return total


@program(matrix(3, 4), matrix(3, 4))
def substances_on_a_torus(u, v):
    for _ in range(2):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u
        u, v = u + 0.1 * (around - u * v * v), v + 0.1 * (u * v * v - v)
    return np.sum(u * v)


@program(vector(5), vector(5))
def slopes_that_are_limited(q, speed):
    ahead = np.roll(q, -1) - q
    slope = np.where(ahead * np.roll(ahead, 1) > 0.0, ahead, 0.0)
    flux = speed * (q + 0.5 * slope)
    return np.sum((q - (flux - np.roll(flux, 1))) ** 2)


@program(matrix(4, 5), matrix(2, 3))
def convolved_by_windows(image, weights):
    rows, columns = image.shape[0] - 1, image.shape[1] - 2
    out = np.zeros((rows, columns))
    for i in range(2):
        for j in range(3):
            out = out + weights[i, j] * image[i : i + rows, j : j + columns]
    return np.sum(np.tanh(out))
