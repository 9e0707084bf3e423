"""Fields on grids: stencils and time steppers, written with slices, rolls and gathers."""

import numpy as np


def heat_in_place(u, rate):
    u = u.copy()
    for _ in range(20):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += rate * (around - 4.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


def wave_step(u, before, speed):
    around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
    return 2.0 * u - before + speed * (around - 4.0 * u), u, speed


def wave(u, before, speed):
    for _ in range(20):
        u, before, speed = wave_step(u, before, speed)
    return np.sum(u * u)


def minmod(a, b):
    return np.where(a * b > 0.0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)


def limited_step(q, speed):
    ahead = np.roll(q, -1) - q
    slope = minmod(ahead, np.roll(ahead, 1))
    flux = speed * (q + 0.5 * (1.0 - speed) * slope)
    return q - (flux - np.roll(flux, 1)), speed


def limited_advection(q, speed):
    for _ in range(40):
        q, speed = limited_step(q, speed)
    return np.sum(q * q)


def brusselator_step(u, v):
    around_u = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u
    around_v = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4.0 * v
    cubic = u * u * v
    return u + 0.002 * (1.0 + cubic - 4.4 * u + 10.0 * around_u), v + 0.002 * (3.4 * u - cubic + 10.0 * around_v)


def brusselator(u, v):
    for _ in range(20):
        u, v = brusselator_step(u, v)
    return np.sum(u * v)


def shallow_step(h, u, v):
    new_u = u - 0.05 * (np.roll(h, -1, 0) - h) - 0.01 * u * (np.roll(u, -1, 0) - u)
    new_v = v - 0.05 * (np.roll(h, -1, 1) - h) - 0.01 * v * (np.roll(v, -1, 1) - v)
    across, along = h * new_u, h * new_v
    return h - 0.05 * (across - np.roll(across, 1, 0) + along - np.roll(along, 1, 1)), new_u, new_v


def shallow_water(h, u, v):
    for _ in range(20):
        h, u, v = shallow_step(h, u, v)
    return np.sum(h * h)


def poisson(p, source):
    p = p.copy()
    for _ in range(30):
        old = p.copy()
        p[1:-1, 1:-1] = 0.25 * (old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1] - source[1:-1, 1:-1])
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
    return np.sum(p * p)


def edge_preserving(image, contrast):
    for _ in range(10):
        n, s = np.roll(image, 1, 0) - image, np.roll(image, -1, 0) - image
        w, e = np.roll(image, 1, 1) - image, np.roll(image, -1, 1) - image
        flow = n * np.exp(-((n / contrast) ** 2)) + s * np.exp(-((s / contrast) ** 2))
        flow = flow + w * np.exp(-((w / contrast) ** 2)) + e * np.exp(-((e / contrast) ** 2))
        image = image + 0.2 * flow
    return np.sum(image * image)


def convolution(image, weights):
    rows, columns = image.shape[0] - 4, image.shape[1] - 4
    out = np.zeros((rows, columns))
    for i in range(5):
        for j in range(5):
            out = out + weights[i, j] * image[i : i + rows, j : j + columns]
    return np.sum(np.tanh(out))


def variation(image, noisy):
    across, along = image[1:, :-1] - image[:-1, :-1], image[:-1, 1:] - image[:-1, :-1]
    return np.sum(np.sqrt(across**2 + along**2 + 1e-3)) + 5.0 * np.sum((image - noisy) ** 2)


def warped(image, shift_x, shift_y):
    n, m = image.shape
    y, x = np.arange(n - 2)[:, None] + shift_y, np.arange(m - 2)[None, :] + shift_x
    i, j = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    s, t = y - i, x - j
    above = (1.0 - t) * image[i, j] + t * image[i, j + 1]
    below = (1.0 - t) * image[i + 1, j] + t * image[i + 1, j + 1]
    return np.sum(((1.0 - s) * above + s * below) ** 2)


def state_of_sea_water(t, s, p):
    dense = 999.8 + t * (6.8e-2 + t * (-9.1e-3 + t * (1.0e-4 + t * (-1.1e-6 + t * 6.5e-9))))
    dense = dense + s * (0.82 + t * (-4.1e-3 + t * (7.6e-5 + t * (-8.2e-7 + t * 5.4e-9))))
    dense = dense + s * np.sqrt(s) * (-5.7e-3 + t * (1.0e-4 - t * 1.6e-6)) + 4.8e-4 * s * s
    stiff = 19652.2 + t * (148.4 + t * (-2.3 + t * (1.4e-2 - t * 5.2e-5)))
    stiff = stiff + p * (3.2 + t * (1.4e-3 + t * (1.2e-4 - t * 5.8e-7)))
    stiff = stiff + p * p * (8.5e-5 + t * (-6.1e-6 + t * 5.3e-8))
    stiff = stiff + s * (54.7 + t * (-0.6 + t * (1.1e-2 - t * 6.2e-5))) + s * np.sqrt(s) * (7.9e-2 + t * 1.6e-2)
    return np.sum(dense / (1.0 - p / stiff))
