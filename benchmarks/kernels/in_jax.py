"""The programs in JAX: the same text where JAX takes it, and its own loops and stores where not."""

from __future__ import annotations

import importlib.util
import types
from collections.abc import Callable
from typing import Any


def translated(module: types.ModuleType) -> types.SimpleNamespace:
    """The functions of a module, over ``jax.numpy``."""
    import jax.numpy  # lazy

    spec = importlib.util.find_spec(module.__name__)
    assert spec is not None and spec.origin is not None
    with open(spec.origin, encoding="utf-8") as file:
        text = file.read()
    names: dict[str, Any] = {"__name__": f"{module.__name__}_in_jax"}
    exec(compile(text, spec.origin, "exec"), names)
    names["np"] = jax.numpy
    return types.SimpleNamespace(**names)


def repeated(step: str, count: int, end: Callable[..., Any]) -> Callable[[types.SimpleNamespace], Callable[..., Any]]:
    """A program that makes steps, by JAX's own loop."""

    def made(module: types.SimpleNamespace) -> Callable[..., Any]:
        from jax import lax  # lazy

        body = getattr(module, step)

        def program(*state: Any) -> Any:
            last, _ = lax.scan(lambda carry, _: (body(*carry), None), state, None, length=count)
            return end(module.np, *last)

        return program

    return made


def heat_in_place(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    def step(u: Any, rate: Any) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].add(rate * (around - 4.0 * u[1:-1, 1:-1]))

    def program(u: Any, rate: Any) -> Any:
        last, _ = lax.scan(lambda u, _: (step(u, rate), None), u, None, length=20)
        return module.np.sum(last**2)

    return program


def poisson(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    def program(p: Any, source: Any) -> Any:
        def step(p: Any, _: Any) -> Any:
            around = p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]
            p = p.at[1:-1, 1:-1].set(0.25 * (around - source[1:-1, 1:-1]))
            p = p.at[0, :].set(p[1, :])
            return p.at[:, 0].set(p[:, 1]), None

        last, _ = lax.scan(step, p, None, length=30)
        return module.np.sum(last**2)

    return program


def chain(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    def program(x: Any, v: Any, stiff: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            x, v = state
            apart = x[1:] - x[:-1]
            force = stiff * apart + 0.1 * apart**3
            v = v.at[:-1].add(0.01 * force).at[1:].add(-0.01 * force)
            return (x + 0.01 * v, v), None

        (_, v), _ = lax.scan(step, (x, v), None, length=30)
        return module.np.sum(v**2)

    return program


def eliminated(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    jnp = module.np

    def program(a: Any, b: Any) -> Any:
        n = len(b)
        rows = jnp.arange(n)

        def down(state: Any, i: Any) -> Any:
            a, b = state
            factors = jnp.where(rows > i, a[:, i] / a[i, i], 0.0)
            return (a - jnp.outer(factors, a[i]), b - factors * b[i]), None

        def up(x: Any, i: Any) -> Any:
            return x.at[i].set((b[i] - jnp.where(rows > i, a[i], 0.0) @ x) / a[i, i]), None

        (a, b), _ = lax.scan(down, (a, b), jnp.arange(n - 1))
        x, _ = lax.scan(up, jnp.zeros(n), jnp.arange(n - 1, -1, -1))
        return jnp.sum(x * x)

    return program


def reflected(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    jnp = module.np

    def program(a: Any) -> Any:
        rows = jnp.arange(a.shape[0])

        def step(a: Any, k: Any) -> Any:
            v = jnp.where(rows >= k, a[:, k], 0.0)
            v = v.at[k].add(jnp.sqrt(v @ v))
            v = v / jnp.sqrt(v @ v)
            return a - 2.0 * jnp.outer(v, v @ a), None

        a, _ = lax.scan(step, a, jnp.arange(a.shape[1]))
        return jnp.sum(jnp.log(jnp.abs(jnp.diag(a))))

    return program


def factored(module: types.SimpleNamespace) -> Callable[..., Any]:
    jnp = module.np

    def program(a: Any) -> Any:
        lower = jnp.tril(a)  # as the program reads it
        return jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(lower + jnp.tril(a, -1).T))))

    return program


def triangle_by_columns(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    jnp = module.np

    def program(l: Any, b: Any) -> Any:
        rows = jnp.arange(len(b))

        def step(x: Any, j: Any) -> Any:
            x = x.at[j].divide(l[j, j])
            return x - jnp.where(rows > j, x[j] * l[:, j], 0.0), None

        x, _ = lax.scan(step, b, jnp.arange(len(b)))
        return jnp.sum(x * x)

    return program


def biquad(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    jnp = module.np

    def program(x: Any, b0: Any, b1: Any, a1: Any, a2: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            last, before = state
            y = b0 * now[0] + b1 * now[1] - a1 * last - a2 * before
            return (y, last), y

        _, y = lax.scan(step, (0.0, 0.0), (x[2:], x[1:-1]))
        return jnp.sum(y * y)

    return program


def smoothed(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    def program(x: Any, alpha: Any, beta: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            level, trend, error = state
            guess = level + trend
            new = alpha * now + (1.0 - alpha) * guess
            return (new, beta * (new - level) + (1.0 - beta) * trend, error + (now - guess) ** 2), None

        (_, _, error), _ = lax.scan(step, (x[0], 0.0, 0.0), x[1:])
        return error

    return program


def thomas(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    jnp = module.np

    def program(lower: Any, diagonal: Any, upper: Any, right: Any) -> Any:
        def down(state: Any, row: Any) -> Any:
            below, main, above, given = row
            pivot = main - below * state[0]
            new = above / pivot, (given - below * state[1]) / pivot
            return new, new

        def up(x: Any, row: Any) -> Any:
            x = row[1] - row[0] * x
            return x, x

        _, (c, d) = lax.scan(down, (0.0, 0.0), (lower.at[0].set(0.0), diagonal, upper, right))
        _, x = lax.scan(up, 0.0, (c.at[-1].set(0.0), d), reverse=True)
        return jnp.sum(x * x)

    return program


def warping(module: types.SimpleNamespace) -> Callable[..., Any]:
    from jax import lax  # lazy

    jnp = module.np

    def program(x: Any, y: Any) -> Any:
        def row(above: Any, now: Any) -> Any:
            def cell(left: Any, given: Any) -> Any:
                a, c, y = given
                least = jnp.minimum(jnp.minimum(a, left), c)
                new = (now - y) ** 2 + least
                new = new - jnp.log(jnp.exp(least - a) + jnp.exp(least - left) + jnp.exp(least - c))
                return new, new

            _, cells = lax.scan(cell, 1e3, (above[1:], above[:-1], y))
            return jnp.concatenate([jnp.array([1e3]), cells]), None

        last, _ = lax.scan(row, jnp.concatenate([jnp.zeros(1), jnp.full(len(y), 1e3)]), x)
        return last[-1]

    return program


def pairs(module: types.SimpleNamespace) -> Callable[..., Any]:
    jnp = module.np

    def program(x: Any, y: Any, z: Any) -> Any:
        r2 = sum((a[:, None] - a[None, :]) ** 2 for a in (x, y, z))
        s = 1.0 / (r2 * r2 * r2 + 0.1)
        return jnp.sum(jnp.tril(4.0 * (s * s - s), -1))

    return program
