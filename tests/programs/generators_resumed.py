"""Generators that are gone on with: sent values, asked for an item here and gone through there, kept in containers."""

import itertools
import math
import types
from collections import deque

import numpy as np

from programs.registry import program

POINTS = np.array([0.7, -1.2, 2.1, 0.4])


def running_mean():
    total, count, mean = 0.0, 0, None
    while True:
        value = yield mean
        total += value
        count += 1
        mean = total / count


@program(0.7)
def mean_of_three(x):
    m = running_mean()
    next(m)
    out = 0.0
    for v in [x, x * x, 3.0]:
        out = m.send(v)
    return out


@program(0.7)
def running_mean_list(x):
    m = running_mean()
    next(m)
    return sum([m.send(v * x) for v in [1.0, 2.0, 5.0]])


def counter(start, step):
    while True:
        yield start
        start = start + step


@program(0.7)
def next_then_loop(x):
    it = counter(x, x * x)
    first = next(it)
    second = next(it)
    total = first * second
    for v in it:
        if v > 10:
            break
        total += v * v
    return total


@program(0.7)
def header_then_rows(x):
    def lines():
        yield 2.0 * x
        for i in range(4):
            yield x * i

    it = lines()
    scale = next(it)
    return sum(scale * v for v in it)


@program(0.7)
def handed_to_function(x):
    def take(it, n):
        return [next(it) for _ in range(n)]

    it = counter(x, 1.0)
    a = take(it, 2)
    b = take(it, 3)
    return a[0] * b[2] + sum(b)


@program(0.7)
def islice_twice(x):
    it = counter(x, 0.5)
    a = list(itertools.islice(it, 2))
    b = list(itertools.islice(it, 2))
    return a[1] * b[1]


@program(0.7)
def yield_from_value(x):
    def sub(a):
        yield a
        yield a * 2
        return a * a

    def top(a):
        r = yield from sub(a)
        s = yield from sub(r)
        yield r * s

    it = top(x)
    next(it)
    b = next(it)
    return b * sum(it)


@program(0.7)
def pipeline(x):
    def source(n):
        for i in range(n):
            yield x * i

    def squared(it):
        for v in it:
            yield v * v

    def smoothed(it):
        prev = next(it)
        for v in it:
            yield 0.5 * (prev + v)
            prev = v

    return sum(smoothed(squared(source(5))))


@program(0.7)
def round_robin(x):
    def c(a, n):
        for i in range(n):
            yield a * (i + 1)

    its = [c(x, 2), c(x * x, 3), c(2.0, 1)]
    total, k = 0.0, 1.0
    while its:
        for it in list(its):
            try:
                total += k * next(it)
                k += 1.0
            except StopIteration:
                its.remove(it)
    return total


@program(0.7)
def event_loop(x):
    def task(name, v, n):
        for i in range(n):
            v = v * 0.9 + 0.1 * x
            log.append(v)
            yield

    log = []
    queue = deque([task("a", x, 3), task("b", 2 * x, 2)])
    while queue:
        t = queue.popleft()
        try:
            next(t)
            queue.append(t)
        except StopIteration:
            pass
    return sum(i * v for i, v in enumerate(log))


@program(0.7)
def recursive_descent(x):
    def gen():
        yield from ["x", "*", "y", "+", "x", ""]

    it = gen()

    def atom():
        t = next(it)
        return x if t == "x" else 2.0

    v = atom()
    op = next(it)
    while op:
        w = atom()
        v = v * w if op == "*" else v + w
        op = next(it)
    return v


@program(POINTS)
def ema_filter(x):
    def ema(alpha):
        s = yield
        while True:
            v = yield s
            s = alpha * v + (1 - alpha) * s

    f = ema(0.3)
    next(f)
    out = []
    for v in x:
        out.append(f.send(v))
    return sum(o * o for o in out)


@program(0.7)
def pid(x):
    def pid(kp, ki):
        integral, output = 0.0, 0.0
        while True:
            error = yield output
            integral += error * 0.1
            output = kp * error + ki * integral

    c = pid(x, 0.5 * x)
    next(c)
    y = 0.0
    for _ in range(10):
        u = c.send(1.0 - y)
        y += 0.1 * (u - y)
    return y


@program(0.7)
def two_at_once(x):
    a, b = counter(x, 1.0), counter(1.0, x)
    total = 0.0
    for i in range(3):
        total += next(a) * next(b)
    return total


@program(0.7)
def zip_self(x):
    it = counter(x, x)
    total = 0.0
    for (a, b), _ in zip(zip(it, it), range(3)):
        total += a * b
    return total


@program(0.7)
def next_default(x):
    def g():
        yield x
        yield 2 * x

    it = g()
    return next(it, 0.0) * 1 + next(it, 0.0) * 10 + next(it, 5.0) * x


@program(0.7)
def merge_sorted(x):
    def s(a, n):
        for i in range(n):
            yield a + i

    def merge(l, r):
        a, b = next(l, None), next(r, None)
        while a is not None and b is not None:
            if a <= b:
                yield a
                a = next(l, None)
            else:
                yield b
                b = next(r, None)
        while a is not None:
            yield a
            a = next(l, None)
        while b is not None:
            yield b
            b = next(r, None)

    return sum((i + 1) * v for i, v in enumerate(merge(s(x, 3), s(2 * x, 2))))


@program(POINTS)
def writes_array(x):
    def updates(a):
        for i in range(len(a)):
            a[i] *= 2.0
            yield a[i]

    a = x.copy()
    it = updates(a)
    first = next(it)
    a[1] = a[0] * a[1]
    rest = 0.0
    for v in it:
        rest += v * first
    return rest + np.sum(a)


@program(0.7)
def throw(x):
    def g():
        total = x
        while True:
            try:
                v = yield total
                total += v
            except ValueError:
                total = 0.5 * x

    it = g()
    next(it)
    it.send(x)
    a = it.throw(ValueError())
    return a * it.send(2 * x)


@program(0.7)
def rk_integrator(x):
    def integrate(f, y, dt):
        t = 0.0
        while True:
            k1 = f(t, y)
            k2 = f(t + dt, y + dt * k1)
            y = y + 0.5 * dt * (k1 + k2)
            t += dt
            yield t, y

    sim = integrate(lambda t, y: -x * y, np.array([1.0, 2.0]), 0.1)
    for _ in range(3):
        _, y = next(sim)
    t2, y2 = next(sim)
    return np.sum(y * y2) * t2


@program(0.7)
def minibatch(x):
    def batches(data, size):
        while True:
            for i in range(0, len(data), size):
                yield data[i : i + size]

    data = np.arange(6.0)
    it = batches(data, 2)
    w = x
    for _ in range(5):
        b = next(it)
        w = w - 0.01 * np.mean(b * (w * b - 1.0))
    return w


@program(0.7)
def while_true_try(x):
    def g():
        v = x
        while v < 10:
            yield v
            v = v * 2

    it = g()
    total = 0.0
    while True:
        try:
            total += next(it) ** 2
        except StopIteration:
            break
    return total


@program(0.7)
def peek(x):
    def g():
        yield from [x, 2 * x, x * x]

    class Peekable:
        def __init__(self, it):
            self.it = it
            self.head = next(it)

        def pop(self):
            v = self.head
            self.head = next(self.it, None)
            return v

    p = Peekable(g())
    a = p.pop()
    return a * p.head + p.pop() * p.pop()


@program(0.7)
def chained_coroutines(x):
    def printer(out):
        while True:
            v = yield
            out.append(v)

    def scaler(target, k):
        while True:
            v = yield
            target.send(v * k)

    out = []
    sink = printer(out)
    next(sink)
    s = scaler(sink, x)
    next(s)
    for v in (1.0, x, 2.0):
        s.send(v)
    return sum(v * (i + 1) for i, v in enumerate(out))


@program(0.7)
def genexpr_partial(x):
    g = (x * i for i in range(1, 6))
    a = next(g)
    b = next(g)
    return a * b + sum(g)


@program(0.7)
def fib_takewhile(x):
    def fib(a, b):
        while True:
            yield a
            a, b = b, a + b

    it = fib(x, x)
    for v in it:
        if v > 3:
            break
    return v * next(it) * next(it)


@program(0.7)
def send_condition(x):
    def controller():
        state, out = 0, 0.0
        while True:
            v = yield out
            if state == 0:
                out = v * x
                if out > 1:
                    state = 1
            else:
                out = v - x
                if out < 0.2:
                    state = 0

    c = controller()
    next(c)
    total = 0.0
    for i in range(8):
        total += c.send(0.5 * i) ** 2
    return total


@program(0.7, 6)
def runtime_count(x, n=6):
    c = counter(x, 0.5 * x)
    total = 0.0
    for i in range(n):
        total += next(c) * i
    return total + next(c)


@program(0.7)
def names(x):
    def g(at, sent):
        generator = at * 2.0
        send = sent + 1.0
        left = yield generator
        _item = send * left
        _at = yield _item
        close = yield _at * _item
        yield close + left

    it = g(x, x * x)
    a = next(it)
    b = it.send(a)
    c = it.send(b * x)
    d = it.send(c)
    return a * b * c * d


@program(0.7)
def break_continue(x):
    def g(a):
        for i in range(10):
            if i % 2:
                continue
            for j in range(3):
                r = yield a * (i + j)
                if r is not None and r > 2.0:
                    break
                if r is None:
                    continue
                a = a + 0.1 * r
            else:
                yield a * 100.0
            if i > 5:
                break
        else:
            yield -a

    it = g(x)
    total = next(it)
    for k in range(6):
        total += it.send(x * k) * (k + 1)
    for v in it:
        total += v
    return total


@program(0.7)
def try_inside(x):
    def g():
        v = x
        for k in range(4):
            try:
                if k == 2:
                    raise ValueError
                yield v * k
            except ValueError:
                v = v * 3.0
            else:
                v = v + 1.0

    it = g()
    a = next(it)
    return a + sum(it) * next(it, 2.0)


@program(0.7)
def nonlocal_between(x):
    k = 1.0

    def g():
        while True:
            yield k * x

    it = g()
    a = next(it)
    k = 3.0
    b = next(it)
    return a * b


@program(0.7)
def method(x):
    class S:
        def __init__(self, v):
            self.v = v

        def run(self, n):
            for _ in range(n):
                self.v = self.v * 1.5
                yield self.v

    s = S(x)
    it = s.run(4)
    a = next(it)
    s.v = s.v + x
    b = next(it)
    return a * b + sum(it) + s.v


@program(0.7)
def yields_in_expressions(x):
    def g():
        v = (yield x) + (yield 2 * x) * (yield 3 * x)
        w = math.sin((yield v))
        total = 0.0
        while (r := (yield w)) is not None:
            total += r * v
        yield total

    it = g()
    next(it)
    it.send(x)
    it.send(2.0)
    v = it.send(x * x)
    w = it.send(v)
    it.send(x)
    it.send(w)
    return it.send(None) * v


@program(0.7)
def delegation_sends(x):
    def inner(a):
        got = []
        while True:
            v = yield a
            if v is None:
                return sum(got)
            got.append(v)
            a = a * v

    def outer():
        r = yield from inner(x)
        s = yield from inner(r)
        return r * s

    def top():
        v = yield from outer()
        yield v

    it = top()
    next(it)
    a = it.send(2.0)
    b = it.send(x)
    it.send(None)
    c = it.send(3.0)
    d = next(it)
    return a * b * c * d


@program(0.7)
def exhausted(x):
    def g():
        yield x
        yield x * x

    it = g()
    a = sum(it)
    b = sum(it)
    c = next(it, x)
    try:
        d = next(it)
    except StopIteration:
        d = 2.0 * x
    for v in it:
        d = 100.0
    return a + b + c * d


@program(0.7)
def raises_then_ended(x):
    def g():
        yield x
        if x > 0:
            raise ValueError
        yield x * 2

    it = g()
    a = next(it)
    b = 0.0
    try:
        b = next(it)
    except ValueError:
        b = 3.0 * x
    return a * b + next(it, x * x)


@program(0.7)
def aliases(x):
    def g():
        v = x
        while True:
            yield v
            v = v * 2

    a = b = g()
    c = {"one": a, "two": b}
    t = (a, c)
    return next(a) + 2 * next(b) + 3 * next(c["one"]) + 4 * next(t[1]["two"])


@program(0.7)
def consumer_function(x):
    def g():
        for i in range(6):
            yield x ** (i + 1)

    def take_two(it):
        return next(it) + next(it)

    it = g()
    return take_two(it) * take_two(it) + take_two(it)


@program(0.7)
def choice(x):
    def a():
        yield x
        yield x * 2

    def b():
        yield -x
        yield x * 5

    g = a() if x > 0 else b()
    h = a() if x < 0 else b()
    return next(g) * next(h) + next(g) * next(h)


@program(0.7)
def same_buffer(x):
    def g():
        buffer = np.zeros(2)
        for i in range(3):
            buffer[0] = x * i
            buffer[1] += x
            yield buffer

    it = g()
    a = next(it)
    s = a[1]
    b = next(it)
    b[1] = b[1] * 2.0
    c = next(it)
    return s + a[0] * b[1] + c[1]


@program(0.7)
def list_changed(x):
    items = [x, 2 * x]

    def g():
        for v in items:
            yield v * 1.0

    it = g()
    a = next(it)
    items[1] = 5 * x
    items.append(x * x)
    return a + sum(it)


@program(0.7)
def lazy_chain(x):
    def g():
        v = x
        while True:
            yield v
            v += 1.0

    it = g()
    a = [v * k for k, v in zip(range(2), it)]
    b = list(itertools.takewhile(lambda v: v < 5, it))
    c = next(it)
    d = [next(e)[1] for e in [enumerate(it)]]
    m = map(lambda v: v * x, it)
    return sum(a) + sum(b) * c + d[0] + next(m) * next(m) + next(it)


@program(0.7)
def next_in_own_loop(x):
    def g():
        for i in range(7):
            yield x * i

    it = g()
    total = 0.0
    for v in it:
        w = next(it, 1.0)
        total += v * w
    return total


@program(0.7)
def statements(x):
    def g(kind):
        def scaled(v):
            return v * x

        acc = []
        while (n := len(acc)) < 4:
            match kind:
                case "a" if n % 2:
                    yield scaled(n)
                case _:
                    w = scaled(n + 1.0)
                    del n
                    yield w
            acc.append(x)
        yield sum(acc)

    it = g("a")
    a = next(it)
    b = next(it)
    return a * b + sum(it)


@program(0.7)
def parameters(x):
    def g(a, /, b=2.0, *more, c, d=4.0, **named):
        yield a * b
        for m in more:
            yield m * c
        yield sum(named.values()) * d

    it = g(x, 3.0, x, x * x, c=x, e=x, f=1.0)
    a = next(it)
    b = next(it)
    return a * b + sum(it)


@program(0.7)
def membership_any(x):
    def g():
        for i in range(6):
            yield x * i

    it = g()
    found = any(v > 1.0 for v in it)
    rest = next(it)
    return rest * (2.0 if found else 1.0) + sum(it)


@program(0.7)
def what_it_is(x):
    def g():
        yield x
        yield x

    it = g()
    next(it)
    k = 1.0 if isinstance(it, types.GeneratorType) else 2.0
    j = 3.0 if iter(it) is it else 4.0
    h = 5.0 if hasattr(it, "send") else 6.0
    return next(it) * k * j * h


@program(0.7)
def unpack(x):
    def g():
        for i in range(5):
            yield x * (i + 1)

    it = g()
    next(it)
    a, *rest = it
    return a * sum(rest)


@program(0.7)
def all_kinds(x):
    def g(n):
        for i in range(n):
            yield x * (i + 1)

    it = g(10)
    a = tuple(itertools.islice(it, 2))
    it2 = g(6)
    next(it2)
    it3 = g(6)
    next(it3)
    it4 = g(4)
    next(it4)
    return a[1] + max(it) * min(it2) + math.fsum(it3) + math.prod(it4)


@program(0.7, 4)
def in_loop(x, n=4):
    total = 0.0
    for i in range(n):
        def_it = steps(x, i)
        a = next(def_it)
        total += a * next(def_it)
    return total


def steps(x, k):
    v = x + k
    while True:
        yield v
        v = v * x


@program(0.7, 7)
def reassigned(x, n=7):
    g = steps(x, 1.0)
    total = 0.0
    for i in range(n):
        if i % 3 == 0:
            g = steps(x * x, 2.0)
        total += next(g) * (i + 1)
    return total


@program([0.7, 1.2, 2.1, 0.4])
def window(x):
    def window(it, size):
        q = deque(maxlen=size)
        for v in it:
            q.append(v)
            if len(q) == size:
                yield sum(q) / size

    it = window((v * v for v in x), 2)
    a = next(it)
    return a * sum(it)


@program([0.7, 1.2, 2.1, 0.4])
def batched(x):
    def batches(it, n):
        while True:
            b = list(itertools.islice(it, n))
            if not b:
                return
            yield b

    return sum(sum(b) ** 2 for b in batches(iter(x), 3))


@program(0.7)
def two_gens_same_function_state(x):
    def lcg(seed):
        while True:
            seed = (seed * 7 + 3) % 11
            yield seed / 11.0

    r1, r2 = lcg(1), lcg(5)
    total = 0.0
    for _ in range(4):
        total += next(r1) * x + next(r2) * x * x
    return total


@program(0.7)
def state_machine(x):
    def fsm():
        pos = x
        while True:
            cmd = yield pos
            while cmd == "up":
                pos = pos * 1.5
                cmd = yield pos
            while cmd == "down":
                pos = pos - 0.5 * x * x
                cmd = yield pos
            if cmd == "reset":
                pos = x

    m = fsm()
    next(m)
    out = 1.0
    for c in ["up", "up", "down", "reset", "up", "down", "down"]:
        out = out * m.send(c) + 0.1
    return out


@program(0.7)
def simulation(x):
    def body(pos, vel, k):
        while True:
            force = yield pos
            vel = vel + 0.1 * (force - k * pos)
            pos = pos + 0.1 * vel

    bodies = [body(x, 0.0, 1.0), body(0.0, 1.0, x)]
    p = [next(b) for b in bodies]
    for _ in range(5):
        f = (p[1] - p[0]) * 0.5
        p = [bodies[0].send(f), bodies[1].send(-f)]
    return p[0] * p[1]


@program(0.7)
def prime_decorator(x):

    def primed(f):
        def start(*args):
            g = f(*args)
            next(g)
            return g

        return start

    @primed
    def acc(total):
        while True:
            total += yield total

    a = acc(x)
    return a.send(x) * a.send(2.0)


@program(0.7)
def interleave(x):
    def interleave(*its):
        its = [iter(i) for i in its]
        while True:
            for it in its:
                try:
                    yield next(it)
                except StopIteration:
                    return

    def c(a):
        for i in range(3):
            yield a + i

    return sum(k * v for k, v in enumerate(interleave(c(x), c(x * x))))


@program(0.7)
def genexpr_filters(x):
    it = (a * b for a in (x, 2.0, x * x) if a > 0.5 for b in (1.0, x))
    a = next(it)
    b = next(it)
    c = next(it)
    return a * b * c + sum(it)


@program(0.7)
def gen_of_gens(x):
    def inner(k):
        yield k * x
        yield k + x

    def outer():
        for k in range(1, 4):
            yield inner(k)

    total = 0.0
    for g in outer():
        total += next(g) * next(g)
    return total


@program(0.7)
def yield_from_list(x):
    def g():
        r = yield from [x, 2 * x]
        yield 5.0 * x if r is None else 0.0
        yield from (x * i for i in range(3))

    it = g()
    return next(it) * next(it) + next(it) * sum(it)


@program(0.7)
def send_returns_during_for(x):
    def g():
        k = 1.0
        for i in range(8):
            r = yield k * x * i
            if r is not None:
                k = r
                yield 0.0

    it = g()
    total = 0.0
    for v in it:
        total += v
        if v > 1.0 and total < 4.0:
            it.send(x * 0.5)
    return total


@program(0.7)
def close_then(x):
    def g():
        yield x
        yield 2 * x

    it = g()
    a = next(it)
    it.close()
    return a + next(it, 3 * x) + sum(it)


@program(0.7)
def sum_genexp_reassigned(x):
    def g():
        w = [x, 1.0]
        while True:
            yield sum(v * v for v in w)
            w = [w[1], w[0] * w[1]]

    it = g()
    return next(it) + next(it) * next(it)


def always_raises(x):
    raise ValueError(x)


@program(0.7)
def yield_in_a_sum_that_is_left(x):
    def items(total):
        while True:
            total += yield total

    for v in items(x):
        return v * x


@program(0.7)
def yields_on_both_sides_that_are_left(x):
    def items(total):
        while True:
            total = (yield total) + (yield 2.0)

    for v in items(x):
        return v * x


@program(0.7)
def loop_left_before_what_always_raises(x):
    for i in (1, 2):
        if x > 0:
            break
        x = always_raises(x) + 1.0
    for j in zip((1, 2), (x, x)):
        if x > 0:
            return x * x * i
        x = x + always_raises(x) * j[0]
    return x


def three_and_the_square(x):
    yield x
    yield 2 * x
    yield 3 * x
    return x * x


@program(0.7)
def result_of_a_generator_that_was_asked_before(x):
    def outer(items):
        result = yield from items
        yield result * 2.0

    items = three_and_the_square(x)
    first = next(items)
    return first * sum(outer(items))


@program(0.7)
def closed_with_the_one_that_delegates(x):
    def head(items):
        yield from items

    items = three_and_the_square(x)
    total = next(items)
    for v in head(items):
        total = total * v
        break
    return total + sum(items) + next(items, x)


@program(0.7)
def delegated_to_until_it_ends(x):
    def outer(items):
        result = yield from items
        yield result

    items = three_and_the_square(x)
    next(items)
    rest = outer(items)
    product = next(rest) * next(rest) * next(rest)
    return product + next(items, x) + next(rest, 5 * x)
