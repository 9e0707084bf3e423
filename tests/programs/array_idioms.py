"""Array code in the idioms that people use: buffers handed in, parameters updated, permutations, flags, recursion."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def squares(x, out=None):
    if out is None:
        out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] * x[i]
    return out


@program(normal(3))
def buffer_made_where_none_is_given(x):
    a = squares(x)
    b = np.zeros(3)
    c = squares(a, out=b)
    c[0] = x[1]
    return np.sum(a * b)


@program(normal(3))
def one_array_under_two_names_from_the_start(x):
    a = b = np.zeros(3)
    a[0] = x[0]
    b[1] = x[1] * a[0]
    a += x
    return np.sum(a * b)


@program(normal(2, 3))
def rows_unpacked(m):
    a = m.copy()
    u, v = a
    u *= v
    v[0] = u[1]
    return np.sum(a * m)


@program(normal(2, 3))
def row_that_accumulates_is_the_row_itself(m):
    a = m.copy()
    total = a[0]
    total += a[1]
    total = total + a[1]
    return np.sum(a * m) + np.sum(total * total)


@program(normal(3, 3))
def matrix_plus_its_own_transpose(m):
    a = m.copy()
    a += a.T
    a.T[0] *= a[:, 1]
    a.T[...] = a
    return np.sum(a * m)


@program(normal(5))
def running_sum_into_itself(x):
    a = x.copy()
    np.cumsum(a, out=a)
    a[:] = np.roll(a, 1)
    a[1:4] = a[1:4][::-1]
    return np.sum(a * x)


@program(normal(5))
def written_in_sorted_order(x):
    a = np.zeros(5)
    order = np.argsort(x)
    a[order] = np.arange(5.0) * x
    rank = np.empty(5, dtype=int)
    rank[order] = np.arange(5)
    a *= x[rank]
    return np.sum(a * x)


@program(normal(5))
def permutation_changed_in_place(x):
    order = np.arange(5)
    a = x.copy()
    for i in range(4):
        if a[order[i]] > a[order[i + 1]]:
            order[i], order[i + 1] = order[i + 1], order[i]
        a[order[i]] *= 0.5 + i
    return np.sum(a[order] * x)


@program(lambda rng: rng.uniform(0.1, 2.0, size=(4, 4)))
def shortest_paths_with_flags(w):
    distance = np.full(4, np.inf)
    done = np.zeros(4, dtype=bool)
    distance[0] = 0.0
    while not done.all():
        best = -1
        for i in range(4):
            if not done[i] and (best < 0 or distance[i] < distance[best]):
                best = i
        done[best] = True
        for i in range(4):
            if not done[i] and distance[best] + w[best, i] < distance[i]:
                distance[i] = distance[best] + w[best, i]
    return np.sum(distance)


@program(normal(8))
def complex_butterflies(x):
    a = x.astype(complex)
    n = len(a)
    size = 2
    while size <= n:
        w = np.exp(-2j * np.pi * np.arange(size // 2) / size)
        for start in range(0, n, size):
            for k in range(size // 2):
                u = a[start + k]
                t = w[k] * a[start + k + size // 2]
                a[start + k] = u + t
                a[start + k + size // 2] = u - t
        size *= 2
    return np.sum(np.abs(a) ** 2 * np.arange(n))


@program(normal(6))
def merge_sort_with_a_workspace(x):
    def sort(a, work, low, high):
        if high - low < 2:
            return
        middle = (low + high) // 2
        sort(a, work, low, middle)
        sort(a, work, middle, high)
        i, j = low, middle
        for k in range(low, high):
            if j >= high or (i < middle and a[i] <= a[j]):
                work[k] = a[i]
                i += 1
            else:
                work[k] = a[j]
                j += 1
        a[low:high] = work[low:high]

    a = x.copy()
    sort(a, np.empty(6), 0, 6)
    return np.sum(a * np.arange(6.0) * a)


@program(normal(6))
def merge_sort_between_two_buffers(x):
    def merge(source, target, low, high):
        if high - low < 2:
            return
        middle = (low + high) // 2
        merge(target, source, low, middle)
        merge(target, source, middle, high)
        i, j = low, middle
        for k in range(low, high):
            if j >= high or (i < middle and source[i] <= source[j]):
                target[k] = source[i]
                i += 1
            else:
                target[k] = source[j]
                j += 1

    a, b = x.copy(), x.copy()
    merge(a, b, 0, 6)
    return np.sum(b * np.arange(6.0) * b) + a[0]


@program(lambda rng: {"w": rng.normal(size=(2, 3)), "b": rng.normal(size=2)}, normal(3))
def parameters_updated_in_place(p, x):
    p = {name: value.copy() for name, value in p.items()}
    for _ in range(3):
        y = p["w"] @ x + p["b"]
        gradients = {"w": np.outer(y, x), "b": y}
        for name in p:
            p[name] -= 0.1 * gradients[name]
    return np.sum((p["w"] @ x + p["b"]) ** 2)


@program(lambda rng: [rng.normal(size=(3, 3)), rng.normal(size=(3, 3))], normal(3))
def layers_updated_in_place(weights, x):
    weights = [w.copy() for w in weights]
    for w in weights:
        w -= 0.1 * np.outer(x, w @ x)
        w[0] *= 2.0
    for w in weights:
        x = np.tanh(w @ x)
    return np.sum(x)


@program(normal(4))
def momentum_buffers(x):
    x = x.copy()
    velocity = np.zeros_like(x)
    for _ in range(4):
        gradient = x**3 - x
        velocity[:] = 0.9 * velocity - 0.1 * gradient
        x += velocity
    return np.sum(x * velocity)


@program(normal(3, 3), normal(3))
def power_iteration(m, v):
    a = m @ m.T
    v = v.copy()
    for _ in range(5):
        np.matmul(a, v, out=v)
        v /= np.sqrt(v @ v)
    return v @ a @ v


@program(normal(2, 3, 4))
def planes_of_a_block(t):
    a = t.copy()
    for i in range(2):
        for j in range(4):
            a[i, :, j] += a[i - 1, :, j - 1] * 0.5
            a[i, 1] *= t[i, 0]
    a[:, 0, :] -= a[:, 1, :]
    return np.sum(a * t)


@program(normal(4, 4), normal(2, 2))
def blocks_scattered(image, kernel):
    out = np.zeros((5, 5))
    for i in range(4):
        for j in range(4):
            out[i : i + 2, j : j + 2] += image[i, j] * kernel
    return np.sum(out * out)


@program(normal(3, 3), normal(3))
def rows_overwritten_while_iterated(m, v):
    a = m.copy()
    for i, row in enumerate(a):
        a[i] = row * v[i]
        a[i - 1] += row
    return np.sum(a * m)


@program(normal(4))
def rebinding_of_a_captured_array(x):
    a = x * 1.0

    def step():
        nonlocal a
        a[0] *= 2.0
        a = a * a
        a[1] = x[0]

    step()
    old = a
    step()
    old[2] = 1.0
    return np.sum(a * old)


class Integrator:
    def __init__(self, n):
        self.k = np.zeros((2, n))
        self.y = np.zeros(n)

    def rhs(self, y):
        self.k[1] = self.k[0]
        self.k[0, 0] = y[1]
        self.k[0, 1] = -y[0] * y[0]
        return self.k[0]

    def step(self, h):
        self.y += h * self.rhs(self.y)
        self.y += 0.5 * h * (self.k[0] - self.k[1])
        return self


@program(normal(2), 0.3)
def object_that_reuses_its_buffers(y, h):
    solver = Integrator(2)
    solver.y[:] = y
    for _ in range(3):
        solver.step(h)
    first = solver.step(h).y
    solver.y[0] *= 2.0
    return np.sum(first * first)


@program(normal(3), normal(3, 3))
def solved_into_slices(b, m):
    a = m @ m.T + 2.0 * np.eye(3)
    table = np.zeros((2, 3))
    table[0] = np.linalg.solve(a, b)
    table[1, :] = np.linalg.solve(a, table[0] * b)
    return np.sum(table[1] * table[0])


@program(normal(4))
def under_a_context_manager(x):
    a = x.copy()
    with np.errstate(divide="ignore"):
        a[0] = a[1] * a[2]
        a /= 2.0 + x
    try:
        a[3] *= a[0]
    finally:
        a[1] += 1.0
    return np.sum(a * x)


@program(normal(5), normal(3))
def kalman_like_rows(observations, parameters):
    states = np.zeros((6, 2))
    variance = np.ones(6)
    states[0, 0] = parameters[0]
    for t in range(5):
        gain = variance[t] / (variance[t] + parameters[1] ** 2 + 0.1)
        states[t + 1] = states[t]
        states[t + 1, 0] += gain * (observations[t] - states[t, 0])
        states[t + 1, 1] += states[t + 1, 0] * parameters[2]
        variance[t + 1] = (1.0 - gain) * variance[t] + 0.01
    return np.sum(states**2) + variance[-1]


@program(normal(6))
def list_of_buffers_by_index(x):
    buffers = [np.zeros(3) for _ in range(3)]
    for k in range(6):
        row = buffers[k % 3]
        row[k // 2] += x[k] * buffers[(k + 1) % 3][0] + x[k]
        row *= 0.9
    buffers[0], buffers[1] = buffers[1], buffers[0]
    buffers[0][0] = x[0]
    return sum(np.sum(b * b) * i for i, b in enumerate(buffers))


@program(normal(4), 2)
def which_array_is_written_depends_on_data(x, k):
    a, b, c = x.copy(), x * 2.0, np.ones(4)
    for i in range(4):
        target = (a, b, c)[(i + k) % 3]
        target[i] *= x[0]
        if target[i] > 0:
            target[:] = target[::-1] * 0.5
    return np.sum(a * b * c)


@program(normal(3))
def array_swapped_with_a_field(x):
    class_ = [x.copy(), x * x]
    spare = np.zeros(3)
    for _ in range(3):
        np.add(class_[0], class_[1], out=spare)
        class_[0], spare = spare, class_[0]
        class_[1][0] += spare[1]
    return np.sum(class_[0] * spare * class_[1])


@program(np.array([0.4, -0.7, 1.2]))
def masked_through_flat_of_what_may_have_no_axes(x):
    error, scale = np.asarray(x[0]) - np.asarray(x[1]), np.asarray(x[1])
    relative = np.full_like(error, np.nan)
    places = (scale != 0).ravel()
    relative.flat[places] = error.flat[places] / scale.flat[places]
    return np.nanmean(relative**2) * x[2].flat[0]
