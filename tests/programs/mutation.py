"""Lists, dicts and objects changed in place, with shared references."""

from dataclasses import dataclass, field

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@dataclass
class Particle:
    x: np.ndarray
    v: np.ndarray
    mass: float = 1.0

    def kick(self, force, dt):
        self.v += dt * force / self.mass

    def drift(self, dt):
        self.x += dt * self.v

    def merge(self, other):
        total = self.mass + other.mass
        self.v[:] = (self.mass * self.v + other.mass * other.v) / total
        self.mass = total


@dataclass
class Grid:
    cells: np.ndarray
    total: float = 0.0
    history: list = field(default_factory=list)

    def put(self, i, value):
        self.cells[i] = value
        self.total += value
        self.history.append(value * self.total)


class Accumulator:
    def __init__(self, n):
        self.sums = np.zeros(n)
        self.count = 0

    def add(self, row):
        self.sums += row
        self.count += 1
        return self

    def mean(self):
        return self.sums / self.count


@program(normal(2), normal(2), 0.1)
def object_with_arrays(x, v, dt):
    p = Particle(x.copy(), v.copy(), 2.0)
    for _ in range(3):
        p.kick(-p.x, dt)
        p.drift(dt)
    return np.sum(p.x * p.v)


@program(normal(2), normal(2), 0.1)
def two_objects_share_an_array(x, v, dt):
    shared = v.copy()
    p, q = Particle(x.copy(), shared, 2.0), Particle(x * 2.0, shared, 3.0)
    p.kick(x, dt)
    q.kick(p.x, dt)
    p.drift(1.0)
    q.merge(p)
    return np.sum(p.v * q.x) * q.mass + p.x[0]


@program(normal(4))
def methods_that_change_self(x):
    grid = Grid(np.zeros(4))
    for i in range(4):
        grid.put(i, x[i] * x[i])
        grid.put(3 - i, grid.cells[i] * grid.total)
    return np.sum(grid.cells * x) + grid.total * sum(grid.history)


@program(normal(3, 2))
def accumulator_object(m):
    acc = Accumulator(2)
    for row in m:
        acc.add(row * row)
    acc.add(acc.sums)
    return np.sum(acc.mean() * m[0])


@program(lambda rng: [Particle(rng.normal(size=2), rng.normal(size=2), 1.0 + i) for i in range(2)])
def list_of_objects_given(particles):
    for p in particles:
        for q in particles:
            if p is not q:
                p.kick(q.x - p.x, 0.1)
    for p in particles:
        p.drift(0.1)
    particles[0].mass *= particles[1].mass
    return sum(p.mass * np.sum(p.v * p.x) for p in particles)


@program(normal(3))
def objects_made_in_a_loop(x):
    particles = []
    for i in range(3):
        particles.append(Particle(np.array([x[i], 1.0]), np.zeros(2), 1.0 + i))
    for p in particles:
        p.kick(particles[0].x, 0.5)
        p.drift(1.0)
    particles[-1].x[0] *= 2.0
    return sum(np.sum(p.x * p.v) for p in particles)


@program(normal(3))
def field_replaced_while_shared(x):
    p = Particle(x * 1.0, x * 2.0)
    old = p.x
    p.x = x * x
    old[0] *= 3.0
    p.x[1] = old[0]
    return np.sum(p.x * old)


@program(1.5, 2.0)
def list_written_by_index(x, y):
    values = [x, y, x * y]
    alias = values
    alias[0] = values[1] * 2.0
    values[1] += alias[0]
    values[-1] *= values[0]
    values[0] **= 2
    return values[0] * alias[1] + alias[2]


@program(1.5)
def list_append_and_pop(x):
    stack = [x]
    for i in range(4):
        stack.append(stack[-1] * x + i)
        if i % 2:
            top = stack.pop()
            stack[-1] += top
    return sum(stack) * stack.pop(0)


@program(1.5, 0.5)
def list_insert_remove_and_reverse(x, y):
    values = [x, y]
    values.insert(1, x * y)
    values.extend([y * y, x])
    values.reverse()
    del values[0]
    values[1:3] = [x * 3.0, y * 2.0, x]
    return sum(v * i for i, v in enumerate(values))


@program(normal(4))
def list_sorted_in_place(x):
    values = [v * v for v in x]
    values.sort()
    values[0] *= 2.0
    values.sort(reverse=True)
    return sum(v * i for i, v in enumerate(values))


@program(normal(3))
def list_of_arrays_with_shared_row(x):
    row = x * x
    rows = [row, x.copy(), row]
    rows[0][0] = x[1]
    rows[2] *= 2.0
    rows[1] += rows[0]
    rows[1] = rows[2]
    rows[1][2] = 0.5
    return sum(np.sum(r * x) for r in rows)


@program(1.5)
def list_of_lists(x):
    table = [[x, 1.0], [2.0, x * x]]
    first = table[0]
    first[1] = table[1][1] * 2.0
    table[1] = first
    table[1][0] *= 3.0
    return table[0][0] * table[1][1] + first[0]


@program(1.5)
def nested_list_by_repetition(x):
    table = [[x] * 3 for _ in range(3)]
    shared = [[x] * 2] * 2
    for i in range(3):
        table[i][i] *= x
        table[i][(i + 1) % 3] += table[i - 1][0]
    shared[0][0] = x * x
    return sum(sum(row) for row in table) * shared[1][0]


@program(1.5, 0.5)
def dict_written(x, y):
    table = {"a": x, "b": y}
    table["a"] += y
    table["c"] = table["a"] * table["b"]
    table["b"] *= table["c"]
    other = table
    other["a"] = table["b"] * 2.0
    table.update(d=x * y)
    return sum(table.values()) * table.pop("d")


@program(normal(6))
def dict_of_sums(x):
    sums = {}
    for i in range(6):
        key = "even" if i % 2 == 0 else "odd"
        sums[key] = sums.get(key, 0.0) + x[i] * x[i]
        sums.setdefault("all", x[0])
        sums["all"] += x[i]
    return sums["even"] * sums["odd"] * sums["all"]


@program(normal(3))
def dict_of_arrays(x):
    state = {"position": x.copy(), "velocity": np.zeros(3)}
    for _ in range(3):
        state["velocity"] -= 0.1 * state["position"]
        state["position"] += 0.1 * state["velocity"]
        state["position"][0] *= 0.9
    return np.sum(state["position"] * state["velocity"])


@program(normal(3))
def dict_of_lists(x):
    groups = {}
    for i, v in enumerate(x):
        groups.setdefault(i % 2, []).append(v * v)
    groups[0][1] *= groups[1][0]
    return sum(groups[0]) * sum(groups[1])


@dataclass
class Node:
    value: float
    next: "Node | None" = None


@program(1.5, 0.5)
def linked_list(x, y):
    tail = Node(y)
    head = Node(x, Node(x * y, tail))
    head.next.value *= tail.value
    tail.value = head.value * 2.0
    head.next.next.value += 1.0
    total, node = 0.0, head
    while node is not None:
        total += node.value * node.value
        node = node.next
    return total


@program(normal(3))
def two_names_of_one_object(x):
    p = Particle(x.copy(), x * 0.5)
    q = p
    q.x[0] = x[1] * x[2]
    p.mass = x[0] * x[0]
    q.mass *= q.x[0]
    q.x *= p.mass
    return np.sum(p.x * q.v) * q.mass


@program(normal(3), 2)
def object_changed_in_a_loop_and_branch(x, n):
    p = Particle(x.copy(), np.ones(3))
    for i in range(n + 1):
        if x[i] > 0:
            p.x = p.x * x[i]
        else:
            p.x[i] *= 2.0
        p.v += p.x
        p.mass += p.v[i]
    return np.sum(p.v * p.x) * p.mass


@program(normal(3))
def matrix_as_list_of_rows(x):
    n = 3
    a = [[x[i] * x[j] + (2.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
    for k in range(n - 1):
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= f * a[k][j]
    return a[0][0] * a[1][1] * a[2][2] + a[1][2]


@program(normal(4))
def queue_of_arrays(x):
    queue = [x.copy(), x * 2.0]
    for i in range(4):
        first = queue.pop(0)
        first[i] *= queue[0][i - 1]
        queue.append(first)
    return np.sum(queue[0] * queue[1])


@program(normal(3))
def tuple_of_arrays(x):
    state = (x.copy(), np.zeros(3))
    for i in range(3):
        state[1][i] = state[0][i] * state[0][i - 1]
        state[0][:] += state[1]
    u, v = state
    u[0] = v[1]
    return np.sum(state[0] * v)


@dataclass
class Body:
    particle: Particle
    label: str


@program(normal(3))
def attribute_of_an_object_in_an_object(x):
    b = Body(Particle(x.copy(), x * x), "a")
    inner = b.particle
    b.particle = Particle(inner.v, inner.x)
    inner.x[0] = x[1] * 3.0
    b.particle.x += inner.x
    return np.sum(b.particle.x * b.particle.v * inner.x)
