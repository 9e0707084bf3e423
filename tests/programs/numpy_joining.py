"""NumPy functions that make one array of parts."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(4), normal(2, 3))
@program(lambda rng: rng.normal(size=4).astype(np.float32), lambda rng: rng.normal(size=(2, 3)).astype(np.float32))
def appended(a, m):
    longer = np.append(a, m)
    return np.append(longer, [a[0], 2.0]) ** 2, np.append(m, m[:, :1], axis=-1), np.append(a[:0], a[1])


@program(normal(4), normal(3, 3))
def inserted(a, m):
    wider = np.insert(m, 1, a[:3], axis=1)
    longer = np.insert(np.insert(a, [0, 2], a[:2]), slice(1, 3), a[3])
    return wider**2, longer**2, np.insert([1.0, 2.0], 1, a[0])


@program(normal(5), normal(3, 3))
def deleted(a, m):
    return np.delete(a, 1) ** 2, np.delete(a, a < 0) ** 2, np.delete(m, -1, axis=1), np.delete(a, slice(1, 3))


@program(normal(2, 2), normal(2))
def blocks(m, a):
    nested = np.block([[m, a[:, None]], [a, 1.0]])
    return nested @ nested, np.block([a[0], a]), np.block([[m * k for k in (1.0, 2.0)] for _ in range(2)])


@program(normal(2, 3), normal(3))
def stacked_and_broadcast(m, a):
    wide, deep = np.broadcast_arrays(a, m)
    return np.dstack((wide, deep)) ** 2, np.broadcast_arrays(a, 2.0)[1] * a, np.dstack([a, a])


@program(normal(2, 3))
def moved_and_repeated(m):
    return np.rollaxis(m, 1) @ m, np.resize(m, (2, 2)) ** 2, np.resize(m, 8) ** 2, np.diagflat(m, 1) ** 2


@program(normal(5), normal(2))
def differences(a, b):
    return np.ediff1d(a) ** 2, np.ediff1d(a, to_begin=b, to_end=b[0] * a[0])


@program(normal(5), normal(2))
def differences_behind_others(a, b):
    return np.concatenate([b, a[1:] - a[:-1]]) ** 2, np.vstack([a[1:] - a[:-1], a[:-1]]) ** 2


@program(normal(5), 3)
def places_that_do_not_vary(a, n):
    places = np.delete(np.insert(np.arange(n), 1, 4), 0)
    return a[np.append(places, [0, 0])] ** 2 * len(np.append(["a"], "b"))
