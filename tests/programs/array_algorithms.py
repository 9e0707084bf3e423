"""Numerical methods with arrays that are written in place, as people write them."""

import math

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def well_conditioned(n):
    return lambda rng: rng.normal(size=(n, n)) * 0.3 + np.eye(n) * 2.0


@program(normal(5), 0.1)
def double_buffer_by_swapping(x, k):
    u, v = x.copy(), np.zeros(5)
    for _ in range(4):
        for i in range(1, 4):
            v[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        v[0], v[-1] = u[0], u[-1]
        u, v = v, u
    return np.sum(u * u) + v[1]


@program(normal(5), 3)
def three_buffers_rotated(x, steps):
    old, now, new = x.copy(), x * 0.9, np.empty(5)
    for _ in range(steps):
        new[0] = new[-1] = 0.0
        new[1:-1] = 2.0 * now[1:-1] - old[1:-1] + 0.1 * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        old, now, new = now, new, old
    return np.sum(now * old)


@program(normal(4, 5), 0.1)
def heat_in_two_dimensions(u, k):
    u = u.copy()
    for _ in range(3):
        new = u.copy()
        new[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
        u[:] = new
    return np.sum(u * u)


@program(normal(6), 0.3)
def upwind_advection(u, c):
    u = u.copy()
    for _ in range(4):
        u[1:] -= c * (u[1:] - u[:-1])
        u[0] = u[-1]
    return np.sum(u * u)


@program(normal(6), 0.05)
def burgers_by_elements(u, nu):
    u = u.copy()
    n = len(u)
    un = np.zeros(n)
    for _ in range(3):
        for i in range(n):
            un[i] = u[i]
        for i in range(1, n - 1):
            u[i] = un[i] - un[i] * 0.1 * (un[i] - un[i - 1]) + nu * (un[i + 1] - 2.0 * un[i] + un[i - 1])
    return np.sum(u * u)


@program(normal(6))
def leapfrog_history(x):
    steps = 5
    u = np.zeros((steps, 6))
    u[0] = x
    u[1] = x * 0.9
    for t in range(1, steps - 1):
        for i in range(6):
            u[t + 1, i] = 2.0 * u[t, i] - u[t - 1, i] + 0.1 * (u[t, (i + 1) % 6] - u[t, i - 1])
    return np.sum(u[-1] * u[2])


@program(normal(6))
def prefix_sum(x):
    a = x.copy()
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return np.sum(a * a * x)


@program(normal(8))
def prefix_sum_by_doubling(x):
    a = x * x
    shift = 1
    while shift < len(a):
        a[shift:] += a[:-shift].copy()
        shift *= 2
    return np.sum(a * x)


@program(normal(8))
def prefix_sum_up_and_down(x):
    a = x.copy()
    n = len(a)
    step = 1
    while step < n:
        for i in range(2 * step - 1, n, 2 * step):
            a[i] += a[i - step]
        step *= 2
    a[n - 1] = 0.0
    step = n // 2
    while step >= 1:
        for i in range(2 * step - 1, n, 2 * step):
            t = a[i - step]
            a[i - step] = a[i]
            a[i] += t
        step //= 2
    return np.sum(a * x)


@program(well_conditioned(4))
def cholesky_in_place(m):
    a = m @ m.T
    n = len(a)
    for k in range(n):
        a[k, k] = math.sqrt(a[k, k])
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
        for j in range(k + 1, n):
            for i in range(j, n):
                a[i, j] -= a[i, k] * a[j, k]
    for i in range(n):
        for j in range(i + 1, n):
            a[i, j] = 0.0
    return a


@program(well_conditioned(4))
def cholesky_by_columns(m):
    a = m @ m.T
    n = a.shape[0]
    l = np.zeros_like(a)
    for j in range(n):
        l[j, j] = np.sqrt(a[j, j] - l[j, :j] @ l[j, :j])
        l[j + 1 :, j] = (a[j + 1 :, j] - l[j + 1 :, :j] @ l[j, :j]) / l[j, j]
    return np.sum(np.log(np.diag(l))) + np.sum(l * m)


@program(well_conditioned(3))
def lu_in_place(m):
    a = m.copy()
    n = len(a)
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


@program(well_conditioned(4))
def lu_by_outer_products(m):
    a = m.copy()
    for k in range(3):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.prod(np.diag(a)) + np.sum(a * m)


@program(normal(4, 4), normal(4))
def gauss_with_pivoting(m, b):
    a, x = m.copy(), b.copy()
    n = len(x)
    for k in range(n):
        p = k + int(np.argmax(np.abs(a[k:, k])))
        if p != k:
            a[[k, p]] = a[[p, k]]
            x[k], x[p] = x[p], x[k]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            x[i] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - a[k, k + 1 :] @ x[k + 1 :]) / a[k, k]
    return x


@program(well_conditioned(3))
def gauss_jordan_inverse(m):
    a = np.concatenate([m, np.eye(3)], axis=1)
    for k in range(3):
        a[k] /= a[k, k]
        for i in range(3):
            if i != k:
                a[i] -= a[i, k] * a[k]
    return a[:, 3:]


@program(normal(4), normal(4), normal(4), normal(4))
def thomas(lower, diagonal, upper, d):
    n = len(d)
    b = diagonal * diagonal + 4.0
    c = np.zeros(n)
    x = d.copy()
    c[0] = upper[0] / b[0]
    x[0] /= b[0]
    for i in range(1, n):
        w = b[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / w
        x[i] = (x[i] - lower[i] * x[i - 1]) / w
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


@program(well_conditioned(4), normal(4))
def forward_substitution_in_place(l, b):
    x = b.copy()
    for i in range(4):
        for j in range(i):
            x[i] -= l[i, j] * x[j]
        x[i] /= l[i, i]
    return x


@program(well_conditioned(4), normal(4))
def back_substitution_by_rows(u, b):
    x = np.zeros(4)
    for i in reversed(range(4)):
        x[i] = (b[i] - u[i, i + 1 :] @ x[i + 1 :]) / u[i, i]
    return x


@program(well_conditioned(4), normal(4))
def gauss_seidel(a, b):
    x = np.zeros(4)
    for _ in range(3):
        for i in range(4):
            s = b[i]
            for j in range(4):
                if j != i:
                    s -= a[i, j] * x[j]
            x[i] = s / a[i, i]
    return x


@program(well_conditioned(3), normal(3), 1.2)
def successive_over_relaxation(a, b, omega):
    x = np.zeros(3)
    for _ in range(3):
        for i in range(3):
            residual = b[i] - np.dot(a[i], x)
            x[i] += omega * residual / a[i, i]
    return x


@program(well_conditioned(3), normal(3))
def gauss_seidel_until_converged(a, b):
    x = np.zeros(3)
    change = 1.0
    while change > 1e-13:
        change = 0.0
        for i in range(3):
            new = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
            change = max(change, abs(new - x[i]))
            x[i] = new
    return x


@program(well_conditioned(3), normal(3))
def jacobi_with_two_arrays(a, b):
    x, new = np.zeros(3), np.zeros(3)
    for _ in range(4):
        for i in range(3):
            new[i] = b[i]
            for j in range(3):
                if i != j:
                    new[i] -= a[i, j] * x[j]
            new[i] /= a[i, i]
        x[:] = new
    return x


@program(well_conditioned(3), normal(3))
def conjugate_gradients_in_place(m, b):
    a = m @ m.T
    x = np.zeros(3)
    r = b.copy()
    p = r.copy()
    rr = r @ r
    for _ in range(2):
        ap = a @ p
        alpha = rr / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p *= new / rr
        p += r
        rr = new
    return x


@program(normal(4, 5))
def cheapest_path_table(cost):
    n, m = cost.shape
    best = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                best[i, j] = cost[i, j]
            elif i == 0:
                best[i, j] = best[i, j - 1] + cost[i, j]
            elif j == 0:
                best[i, j] = best[i - 1, j] + cost[i, j]
            else:
                best[i, j] = min(best[i - 1, j], best[i, j - 1]) + cost[i, j]
    return best[-1, -1]


@program(normal(4), normal(5))
def warping_distance_table(a, b):
    d = np.full((len(a) + 1, len(b) + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = (a[i - 1] - b[j - 1]) ** 2 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[-1, -1]


@program(normal(4), normal(3))
def alignment_score_table(a, b):
    h = np.zeros((5, 4))
    for i in range(1, 5):
        for j in range(1, 4):
            match = h[i - 1, j - 1] + a[i - 1] * b[j - 1]
            h[i, j] = np.logaddexp(match, np.logaddexp(h[i - 1, j] - 1.0, h[i, j - 1] - 1.0))
    return h[4, 3]


@program(normal(5), normal(5))
def knapsack_by_soft_maximum(values, sizes):
    table = np.zeros(6)
    for i in range(5):
        for w in range(5, 0, -1):
            table[w] = math.log(math.exp(table[w]) + math.exp(table[w - 1] + values[i] - sizes[i]))
    return table[5]


@program(lambda rng: rng.uniform(0.1, 1.0, size=(3, 3)), lambda rng: rng.uniform(0.1, 1.0, size=(3, 2)))
def viterbi(transition, emission):
    observed = [0, 1, 1, 0]
    score = np.zeros((4, 3))
    score[0] = np.log(emission[:, 0])
    for t in range(1, 4):
        for j in range(3):
            best = -np.inf
            for i in range(3):
                best = max(best, score[t - 1, i] + math.log(transition[i, j]))
            score[t, j] = best + math.log(emission[j, observed[t]])
    return np.max(score[3])


@program(lambda rng: rng.uniform(0.1, 2.0, size=(4, 4)))
def all_pairs_shortest_paths(w):
    d = w.copy()
    for i in range(4):
        d[i, i] = 0.0
    for k in range(4):
        for i in range(4):
            for j in range(4):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return np.sum(d * w)


@program(normal(2, 3), normal(3, 4))
def matrix_product_by_three_loops(a, b):
    c = np.zeros((2, 4))
    for i in range(2):
        for j in range(4):
            for k in range(3):
                c[i, j] += a[i, k] * b[k, j]
    return c


@program(normal(2, 3), normal(3, 4), normal(2, 4))
def matrix_product_and_scale(a, b, c):
    c = c.copy()
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] *= 0.5
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c)


@program(normal(8), normal(8))
def weighted_histogram(x, w):
    counts = np.zeros(4)
    for i in range(len(x)):
        k = min(max(int((x[i] + 2.0) // 1.0), 0), 3)
        counts[k] += w[i] * x[i]
    return np.sum(counts * counts)


@program(normal(8))
def histogram_with_soft_edges(x):
    counts = np.zeros(6)
    for value in x:
        position = 2.5 + 2.0 * math.tanh(value)
        k = int(position)
        t = position - k
        counts[k] += 1.0 - t
        counts[k + 1] += t
    return np.sum(counts**2)


@program(normal(6), np.array([0, 2, 1, 2, 0, 0]))
def group_means(x, group):
    totals = np.zeros(3)
    counts = np.zeros(3, dtype=int)
    for value, g in zip(x, group):
        totals[g] += value
        counts[g] += 1
    totals /= counts
    spread = np.zeros(3)
    for i in range(len(x)):
        spread[group[i]] += (x[i] - totals[group[i]]) ** 2
    return spread * totals


@program(normal(3, 2), np.array([[0, 1], [1, 2], [0, 2]]))
def forces_on_edges(positions, edges):
    force = np.zeros_like(positions)
    for i, j in edges:
        d = positions[i] - positions[j]
        r = np.sqrt(d @ d)
        f = (r - 1.0) * d / r
        force[i] -= f
        force[j] += f
    return force


@program(normal(4, 2), normal(4, 2), 0.05)
def velocity_verlet(x, v, dt):
    def force(q):
        f = np.zeros_like(q)
        n = len(q)
        for i in range(n):
            for j in range(i + 1, n):
                d = q[i] - q[j]
                s = d / (1.0 + d @ d)
                f[i] -= s
                f[j] += s
        return f

    x, v = x.copy(), v.copy()
    f = force(x)
    for _ in range(2):
        v += 0.5 * dt * f
        x += dt * v
        f[:] = force(x)
        v += 0.5 * dt * f
    return np.sum(x * v)


@program(normal(8), normal(8))
def fft_butterflies(real, imag):
    n = len(real)
    re, im = real.copy(), imag.copy()
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    size = 2
    while size <= n:
        half = size // 2
        for start in range(0, n, size):
            for k in range(half):
                c = math.cos(-2.0 * math.pi * k / size)
                s = math.sin(-2.0 * math.pi * k / size)
                a, b = start + k, start + k + half
                tr = c * re[b] - s * im[b]
                ti = s * re[b] + c * im[b]
                re[b] = re[a] - tr
                im[b] = im[a] - ti
                re[a] += tr
                im[a] += ti
        size *= 2
    return np.sum(re**2 * np.arange(n)) + np.sum(im * re)


@program(normal(8))
def haar_wavelet_in_place(x):
    a = x.copy()
    n = len(a)
    while n > 1:
        half = n // 2
        sums = (a[0:n:2] + a[1:n:2]) / 2.0
        differences = (a[0:n:2] - a[1:n:2]) / 2.0
        a[:half] = sums
        a[half:n] = differences
        n = half
    return np.sum(a * a * x)


@program(normal(8))
def walsh_hadamard(x):
    a = x.copy()
    h = 1
    while h < len(a):
        for i in range(0, len(a), h * 2):
            for j in range(i, i + h):
                u, v = a[j], a[j + h]
                a[j], a[j + h] = u + v, u - v
        h *= 2
    return np.sum(a**2 * x)


@program(normal(5))
def bubble_sort(x):
    a = x.copy()
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return np.sum(a * np.arange(1.0, 6.0) * x)


@program(normal(5))
def insertion_sort(x):
    a = x.copy()
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return np.sum(a * a * np.arange(5.0))


@program(normal(4))
def sorting_network(x):
    a = x * x
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        if a[i] > a[j]:
            a[i], a[j] = a[j], a[i]
    return a[0] * 1.0 + a[1] * 2.0 + a[2] * a[3]


@program(normal(4))
def sorting_network_by_minimum_and_maximum(x):
    a = x.copy()
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        a[i], a[j] = min(a[i], a[j]), max(a[i], a[j])
    return np.sum(a * np.arange(1.0, 5.0) ** 2)


@program(normal(5))
def quick_sort(x):
    a = x.copy()

    def sort(low, high):
        if low >= high:
            return
        pivot = a[high]
        i = low
        for j in range(low, high):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        sort(low, i - 1)
        sort(i + 1, high)

    sort(0, len(a) - 1)
    return np.sum(a * a * np.arange(5.0))


@program(normal(4, 3))
def householder_in_place(m):
    a = m.copy()
    for k in range(a.shape[1]):
        v = a[k:, k].copy()
        v[0] += math.copysign(1.0, v[0]) * np.sqrt(v @ v)
        v /= np.sqrt(v @ v)
        a[k:, k:] -= 2.0 * np.outer(v, v @ a[k:, k:])
    return np.sum(np.abs(np.diag(a))) + np.sum(np.triu(a) * m)


@program(normal(4, 3))
def householder_by_elements(m):
    a = m.copy()
    rows, columns = a.shape
    for k in range(columns):
        norm = 0.0
        for i in range(k, rows):
            norm += a[i, k] ** 2
        norm = math.sqrt(norm)
        if a[k, k] > 0:
            norm = -norm
        u = a[k, k] - norm
        a[k, k] = norm
        tau = -u / norm
        for i in range(k + 1, rows):
            a[i, k] /= u
        for j in range(k + 1, columns):
            s = a[k, j]
            for i in range(k + 1, rows):
                s += a[i, k] * a[i, j]
            a[k, j] -= tau * s
            for i in range(k + 1, rows):
                a[i, j] -= tau * s * a[i, k]
    return a


@program(normal(3, 3))
def gram_schmidt_in_place(m):
    q = m.copy()
    r = np.zeros((3, 3))
    for j in range(3):
        for i in range(j):
            r[i, j] = q[:, i] @ q[:, j]
            q[:, j] -= r[i, j] * q[:, i]
        r[j, j] = np.linalg.norm(q[:, j])
        q[:, j] /= r[j, j]
    return np.sum(q * m) + np.sum(r)


@program(normal(3, 3))
def givens_rotations(m):
    a = m.copy()
    for j in range(3):
        for i in range(2, j, -1):
            r = math.hypot(a[i - 1, j], a[i, j])
            c, s = a[i - 1, j] / r, a[i, j] / r
            upper = a[i - 1].copy()
            a[i - 1] = c * upper + s * a[i]
            a[i] = -s * upper + c * a[i]
    return np.sum(np.triu(a) * m)


@program(normal(5), 0.7)
def horner_in_place(c, x):
    a = c.copy()
    for i in range(len(a) - 2, -1, -1):
        a[i] += x * a[i + 1]
    return a


@program(normal(5), normal(5))
def divided_differences(x, y):
    nodes = x + 3.0 * np.arange(5)
    a = y.copy()
    for j in range(1, 5):
        for i in range(4, j - 1, -1):
            a[i] = (a[i] - a[i - 1]) / (nodes[i] - nodes[i - j])
    return a


@program(normal(4), 0.3)
def de_casteljau(points, t):
    b = points.copy()
    for r in range(1, 4):
        for i in range(4 - r):
            b[i] = (1.0 - t) * b[i] + t * b[i + 1]
    return b[0]


@program(normal(6), normal(3))
def convolution_by_loops(signal, kernel):
    out = np.zeros(8)
    for i in range(6):
        for j in range(3):
            out[i + j] += signal[i] * kernel[j]
    return out


@program(normal(5), 0.9)
def exponential_filter_both_ways(x, k):
    a = x.copy()
    for i in range(1, 5):
        a[i] = k * a[i - 1] + (1.0 - k) * a[i]
    for i in range(3, -1, -1):
        a[i] = k * a[i + 1] + (1.0 - k) * a[i]
    return np.sum(a * x)


@program(normal(4, 3), normal(3, 2), normal(2))
def layers_with_buffers(x, w, b):
    hidden = np.zeros((4, 2))
    for n in range(4):
        for j in range(2):
            s = b[j]
            for i in range(3):
                s += x[n, i] * w[i, j]
            hidden[n, j] = s
    hidden[hidden < 0] *= 0.1
    mean = hidden.mean(axis=0)
    hidden -= mean
    hidden /= np.sqrt((hidden**2).mean(axis=0) + 0.1)
    return np.sum(hidden**3)


@program(normal(3))
def runge_kutta_with_workspace(y):
    k = np.zeros((4, 3))

    def rhs(state, out):
        out[0] = state[1] * state[2]
        out[1] = -state[0] * state[2]
        out[2] = -0.5 * state[0] * state[1]

    y = y.copy()
    h = 0.1
    for _ in range(2):
        rhs(y, k[0])
        rhs(y + 0.5 * h * k[0], k[1])
        rhs(y + 0.5 * h * k[1], k[2])
        rhs(y + h * k[2], k[3])
        y += h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3])
    return y
