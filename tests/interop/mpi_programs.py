"""Programs that exchange messages, and what has to hold of their derivatives; test_mpi.py starts the processes."""

import time

import numpy as np
from mpi4py import MPI

import adjoint as ad

WORLD = MPI.COMM_WORLD
RING = WORLD.Create_cart([WORLD.size], periods=[True])
PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


def neighbours(c):
    return (c.rank - 1) % c.size, (c.rank + 1) % c.size


# Among all processes


@program
def sums(x, c):
    y = np.empty_like(x)
    c.Allreduce(np.sin(x), y, op=MPI.SUM)
    c.Allreduce(MPI.IN_PLACE, y)
    return y * x[0]


@program
def numbers(x, c):
    a = c.bcast(x[0] ** 2, root=c.size - 1)
    s = x[1]
    c.Barrier()
    for _ in range(c.allreduce(int(x[0]) + 1, op=MPI.MAX)):
        s = 0.3 * c.allreduce(s * a) + x[2]
    return s * x / c.allreduce(len(x))


@program
def broadcast(x, c):
    y = x * (1.0 + c.rank)
    c.Bcast([y, MPI.DOUBLE], root=c.size - 1)
    return y * x + c.bcast(x, root=0)


@program
def to_one(x, c):
    y = np.zeros_like(x) if c.rank == 0 else None
    c.Reduce(x**2, y, op=MPI.SUM, root=0)
    z = np.zeros_like(x)
    if c.rank == 0:
        z += y * x
    return z + x


@program
def in_parts(x, c):
    whole = np.zeros((c.size, 3))
    c.Gather(x**2, whole, root=0)
    part = np.zeros(3)
    c.Scatter(np.sin(whole), part, root=0)
    every = np.empty((c.size, 3))
    c.Allgather(part * x, every)
    return every[0] * every[c.size - 1] * x


@program
def in_parts_of_one(x, c):
    part = np.zeros_like(x)
    if c.rank == 0:
        whole = np.zeros((c.size, 3))
        c.Gather(x**2, whole, root=0)
        c.Scatter(np.sin(whole), part, root=0)
    else:
        c.Gather(x**2, None, root=0)
        c.Scatter(None, part, root=0)
    return part * x


@program
def largest(x, c):
    y = np.zeros_like(x)
    c.Allreduce(x**2, y, op=MPI.MAX)
    return y * c.allreduce(np.sum(x), op=MPI.MIN)


@program
def until_small(x, c):
    """A loop that data end, of which all processes have the same."""
    norm = np.empty(1)
    c.Allreduce(np.array([np.sum(x * x)]), norm)
    while norm[0] > 0.05:
        x = 0.5 * x
        c.Allreduce(np.array([np.sum(x * x)]), norm)
    return x * norm[0]


# From one process to another


@program
def shifted(x, c):
    left, right = neighbours(c)
    y = np.zeros(3)
    c.Sendrecv(x**2, dest=right, recvbuf=y, source=left)
    z = y.copy()
    c.Sendrecv(z, left, 0, y, right, 0)
    y[0] = x[1]
    return y * x * z


@program
def one_by_one(x, c):
    """Blocking messages, in an order that depends on the process; nothing of it waits for itself."""
    y = x[0] * x
    if c.rank == 0:
        for i in range(1, c.size):
            t = np.empty(3)
            c.Recv(t, i, 11)
            y = y + t
        for i in range(1, c.size):
            c.Send(y * i, i, 12)
    else:
        c.Send(np.cos(x), dest=0, tag=11)
        t = np.empty(3)
        c.Recv(t, source=0)
        y = y * t
    return y


@program
def later(x, c):
    left, right = neighbours(c)
    a, b = np.zeros(1), np.zeros(1)
    requests = [
        c.Isend(x[:1] ** 2, dest=left, tag=1),
        c.Isend(x[-1:], dest=right, tag=2),
        c.Irecv(a, source=right, tag=1),
        c.Irecv(b, source=left),
    ]
    z = np.sin(x)
    MPI.Request.Waitall(requests)
    z[0] += a[0] * b[0]
    return z


@program
def listed(x, c):
    found = np.zeros((2, 3))
    partners = neighbours(c)
    requests = []
    for i in range(2):
        requests.append(c.Irecv(found[i], source=partners[i], tag=i))
    for i in range(2):
        requests.append(c.Isend(x * (i + 1.0) * x, dest=partners[1 - i], tag=i))
    for request in requests:
        request.Wait()
    return found[0] * found[1]


@program
def of_constants(x, c):
    """What does not vary is sent, and what comes is not read: the derivative sends and receives all the same."""
    y = np.zeros(3)
    if c.rank == 0:
        request = c.Isend(np.ones(3), dest=c.size - 1)
    if c.rank == c.size - 1:
        c.Recv(y, source=0)
    if c.rank == 0:
        request.Wait()
    unread = np.zeros(3)
    RING.Sendrecv(x, RING.Shift(0, 1)[1], 0, unread, RING.Shift(0, 1)[0], 0)
    c.allreduce(x[0])
    return x * x + y


class Domain:
    def __init__(self, comm):
        self.comm = comm
        self.left = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
        self.right = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL

    def exchange(self, u):
        self.comm.Sendrecv(u[1:2], dest=self.left, recvbuf=u[-1:], source=self.right)
        self.comm.Sendrecv(u[-2:-1], dest=self.right, recvbuf=u[:1], source=self.left)


DOMAIN = Domain(WORLD)


@program
def steps(x, c):
    u = np.zeros(5)
    u[1:-1] = x
    for _ in range(3):
        DOMAIN.exchange(u)
        u[1:-1] = np.sin(u[2:]) * u[:-2] + u[1:-1]
    return u


@program
def inside(x, c):
    """The derivative of what exchanges messages is differentiated."""

    def f(y):
        z = np.empty(3)
        c.Allreduce(np.sin(y), z)
        return np.sum(z * y)

    return ad.grad(f)(x) * x


# What has to hold


def world(value):
    return WORLD.allreduce(float(value))


def check(f):
    """Forward against reverse across processes, against differences, to second order; nothing is written."""
    rng = np.random.default_rng(7 + WORLD.rank)
    x, v, u = rng.uniform(0.5, 1.5, 3), rng.normal(size=3), rng.normal(size=3)
    before, h = x.copy(), 1e-6
    y, y_dot = ad.jvp(f, (x, WORLD), (v, None))
    np.testing.assert_allclose(y, f(x.copy(), WORLD), rtol=1e-14)
    w = rng.normal(size=np.shape(y))
    _, pullback = ad.vjp(f, x, WORLD)
    x_bar = pullback(w)[0]
    assert np.array_equal(x_bar, pullback(w)[0]) and np.array_equal(x, before)
    slope = (f(x + h * v, WORLD) - f(x - h * v, WORLD)) / (2 * h)
    np.testing.assert_allclose(y_dot, slope, rtol=1e-6, atol=1e-6)
    assert abs(world(np.sum(y_dot * w)) - world(np.sum(x_bar * v))) <= 1e-12 * (1 + world(np.sum(abs(x_bar * v))))

    def total(x, c):
        return np.sum(f(x, c) * w)

    product = ad.hvp(total, (x, WORLD), (v, None))[0]
    other = ad.hvp(total, (x, WORLD), (u, None))[0]
    gradient = ad.grad(total)
    slope = (gradient(x + h * v, WORLD) - gradient(x - h * v, WORLD)) / (2 * h)
    np.testing.assert_allclose(product, slope, rtol=1e-5, atol=1e-5)
    assert abs(world(np.sum(product * u)) - world(np.sum(v * other))) <= 1e-11 * (1 + world(np.sum(abs(product * u))))


# The equation of heat


def heat(u0, k, comm, count):
    u = np.zeros(u0.shape[0] + 2)
    u[1:-1] = u0
    left = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    right = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
    for _ in range(count):
        comm.Sendrecv(u[1:2], dest=left, recvbuf=u[-1:], source=right)
        comm.Sendrecv(u[-2:-1], dest=right, recvbuf=u[:1], source=left)
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u[1:-1] ** 2)


def heat_meanwhile(u0, k, comm, count):
    """The inner points while the messages are under way; states are kept at checkpoints."""
    u = np.zeros(u0.shape[0] + 2)
    u[1:-1] = u0
    left = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    right = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
    for _ in ad.checkpointed(range(count), snapshots=3):
        first, last = comm.Irecv(u[:1], source=left, tag=1), comm.Irecv(u[-1:], source=right, tag=0)
        to_left, to_right = comm.Isend(u[1:2], dest=left, tag=0), comm.Isend(u[-2:-1], dest=right, tag=1)
        inner = u[2:-2] + k * (u[3:-1] - 2.0 * u[2:-2] + u[1:-3])
        MPI.Request.Waitall([first, last, to_left, to_right])
        one = u[1] + k * (u[2] - 2.0 * u[1] + u[0])
        other = u[-2] + k * (u[-1] - 2.0 * u[-2] + u[-3])
        u[2:-2] = inner
        u[1] = one
        u[-2] = other
    return np.sum(u[1:-1] ** 2)


def serial_heat(u0, k, count):
    u = np.zeros(u0.shape[0] + 2)
    u[1:-1] = u0
    for _ in range(count):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u[1:-1] ** 2)


def check_heat(f):
    u0 = np.random.default_rng(1).normal(size=24)
    part = np.split(u0, WORLD.size)[WORLD.rank]
    u0_bar, k_bar = ad.grad(serial_heat, wrt=(0, 1))(u0, 0.2, 20)
    mine, of_k = ad.grad(f, wrt=(0, 1))(part, 0.2, WORLD, 20)
    np.testing.assert_allclose(mine, np.split(u0_bar, WORLD.size)[WORLD.rank], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(world(of_k), k_bar, rtol=1e-13)


# What is refused, or raises


def of_data(x, c):
    if np.sum(x) > 0.0:
        c.Allreduce(MPI.IN_PLACE, x)
    return np.sum(x)


def ended_by_data(x, c):
    for _ in range(10):
        if x[0] > 5.0:
            break
        x = x * c.allreduce(np.sum(x))
    return np.sum(x)


def counted_by_data(x, c):
    for _ in range(int(x[0])):
        x = x * c.allreduce(np.sum(x))
    return np.sum(x)


def handled(x, c):
    try:
        y = c.allreduce(np.sum(x)) / x[0]
    except ZeroDivisionError:
        y = 0.0
    return y


def recursive(x, c):
    def go(n, y):
        return y if n == 0 else go(n - 1, c.allreduce(y))

    return go(3 + int(x[0]), np.sum(x))


def of_an_object(x, c):
    return np.sum(x) * c.recv(source=0)


def with_status(x, c):
    y = np.zeros(3)
    c.Recv(y, source=0, status=MPI.Status())
    return np.sum(x * y)


def not_of_a_kind(x, c):
    return np.sum(c.bcast(None)) * x[0]


def barred(x, c):
    if x[0] > 0.0:
        c.Barrier()
    return np.sum(x)


def not_declared(x, c):
    c.Ssend(x, 0)
    return np.sum(x)


def not_declared_of_the_class(x, c):
    MPI.Comm.Ssend(c, x, 0)
    return np.sum(x)


def any_of_them(x, c):
    MPI.Request.Waitany([c.Isend(x, 0)])
    return np.sum(x)


def from_anywhere(x, c):
    y = np.zeros(3)
    c.Recv(y)
    return np.sum(x * y)


def product(x, c):
    y = np.zeros(3)
    c.Allreduce(x, y, op=MPI.PROD)
    return np.sum(y)


def squares(x, c):
    return c.allreduce(np.sum(x * x))


REFUSED = {
    of_data: "AD0312",
    ended_by_data: "AD0312",
    counted_by_data: "AD0312",
    handled: "AD0312",
    recursive: "AD0312",
    of_an_object: "AD0201",
    barred: "AD0312",
    with_status: "AD0204",
    not_of_a_kind: "AD0204",
    not_declared: "AD0201",
    not_declared_of_the_class: "AD0201",
    any_of_them: "AD0201",
}


def check_refused():
    x = np.array([1.2, 0.8, 0.9])
    forward = lambda f: lambda x, c: ad.jvp(f, (x, c), (x, None))
    for f, code in REFUSED.items():
        for operator in (ad.grad, forward):
            codes = raised(ad.DifferentiationError, operator(f), x, WORLD).diagnostics
            assert {found.code for found in codes} == {code}, (f, codes)
    for operator in (ad.jacobian, ad.hessian):
        assert "AD0313" in str(raised(ad.DifferentiationError, operator(squares), x, WORLD))
    assert "AD0313" in str(raised(ad.DifferentiationError, ad.hessian(squares, sparsity="auto"), x, WORLD))
    for operator in (ad.grad, forward):
        assert "any source" in str(raised(ValueError, operator(from_anywhere), x, WORLD))
        assert "SUM" in str(raised(NotImplementedError, operator(product), x, WORLD))


def raised(kind, call, *args):
    try:
        call(*args)
    except kind as error:
        return error
    raise AssertionError(f"{call} does not raise {kind.__name__}")


def first_and_others(x, c):
    y = x * x
    if c.rank == 0:
        c.Allreduce(MPI.IN_PLACE, y)
    return np.sum(y)


def crossed(x, c):
    y = x * x
    c.Recv(y, source=1 - c.rank, tag=21)
    return np.sum(y)


def too_long(x, c):
    y = x * x
    if c.rank == 0:
        c.Send(y[:1], 1, 22)
    else:
        c.Recv(y, 0, 22)
    return np.sum(y)


def check_mismatches():
    """Two processes that do not fit together: the one that waits raises after a while."""
    ad.interop.mpi.set_timeout(0.5)
    start = time.monotonic()
    assert "tag 21" in str(raised(TimeoutError, ad.grad(crossed), np.ones(3), WORLD))
    if WORLD.rank == 1:
        assert "one size" in str(raised(ValueError, ad.grad(too_long), np.ones(3), WORLD))
    else:
        raised(TimeoutError, ad.grad(too_long), np.ones(3), WORLD)
    WORLD.Barrier()
    other = WORLD.Dup()
    if WORLD.rank == 0:
        assert "Allreduce" in str(raised(TimeoutError, ad.grad(first_and_others), np.ones(3), other))
    else:
        assert np.array_equal(ad.grad(first_and_others)(np.ones(3), other), np.full(3, 2.0))
    assert time.monotonic() - start < 20.0


if __name__ == "__main__":
    ad.interop.mpi.set_timeout(60.0)
    for f in (heat, heat_meanwhile):
        check_heat(f)
    for f in PROGRAMS if WORLD.size < 4 else (sums, in_parts, one_by_one, later):
        check(f)
    if WORLD.size == 1:
        check_refused()
    print("all of it holds", flush=True)
    if WORLD.size == 2:
        check_mismatches()
        print("what does not fit raises", flush=True)
        WORLD.Barrier()
        time.sleep(0.3)
        WORLD.Abort(7)  # messages that nobody took are still under way
