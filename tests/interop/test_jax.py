"""Functions of arrays as operations of JAX, under its transformations."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

from adjoint.interop.jax import function  # noqa: E402


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def energy(x, k):
    return 0.5 * k * np.sum((x[1:] - x[:-1]) ** 3)


def energy_in_jax(x, k):
    return 0.5 * k * jnp.sum((x[1:] - x[:-1]) ** 3)


def loops(x, w):
    total = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total[i] += np.sin(x[i, j]) * w[j] ** 2
    return total


def loops_in_jax(x, w):
    return jnp.sum(jnp.sin(x) * w**2, axis=1)


X = np.linspace(0.3, 1.7, 6)
CASES = [
    (energy, energy_in_jax, (X, 2.0)),
    (lambda x, w: np.sum(loops(x, w) ** 2), lambda x, w: jnp.sum(loops_in_jax(x, w) ** 2), (X.reshape(3, 2), X[:2])),
    (lambda x: x[0] * x[1] ** 2, lambda x: x[0] * x[1] ** 2, (X,)),
]


def close(a, b):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-13), a, b)


@pytest.mark.parametrize("f, g, args", CASES)
def test_gradients_of_gradients(f, g, args):
    ours, places = function(f), tuple(range(len(args)))
    args = jax.tree.map(jnp.asarray, args)
    close(jax.value_and_grad(ours, places)(*args), jax.value_and_grad(g, places)(*args))
    close(jax.jit(jax.grad(ours, places))(*args), jax.grad(g, places)(*args))
    close(jax.jit(jax.jacrev(jax.grad(ours, places), places))(*args), jax.hessian(g, places)(*args))


def test_third_order():
    ours, theirs = function(lambda x: np.sin(x) * x), lambda x: jnp.sin(x) * x
    close(jax.grad(jax.grad(jax.grad(ours)))(0.7), jax.grad(jax.grad(jax.grad(theirs)))(0.7))


def test_vmap_in_and_out_of_gradients():
    batch, k = jnp.stack([jnp.asarray(X), 2.0 * X, X**2]), jnp.array([1.0, 2.0, 3.0])
    ours = function(energy)
    close(jax.vmap(ours)(batch, k), jax.vmap(energy_in_jax)(batch, k))
    close(jax.jit(jax.vmap(jax.grad(ours)))(batch, k), jax.vmap(jax.grad(energy_in_jax))(batch, k))
    total = lambda h: lambda b: jnp.sum(jax.vmap(h, (0, None))(b, 2.0))
    close(jax.grad(total(ours))(batch), jax.grad(total(energy_in_jax))(batch))
    close(jax.jacrev(ours)(X, 2.0), jax.grad(energy_in_jax)(X, 2.0))


def test_vectors_and_structures():
    def f(p, n):
        return {"y": p["w"] * p["b"][0] ** n, "z": (np.sum(p["b"][1] * p["w"]), n)}

    def g(p, n):
        return {"y": p["w"] * p["b"][0] ** n, "z": (jnp.sum(p["b"][1] * p["w"]), n)}

    loss = lambda h: lambda p: jnp.sum(h(p, 3)["y"] ** 2) + h(p, 3)["z"][0] ** 2
    p = {"w": jnp.asarray(X), "b": [jnp.array(1.5), 2.0]}
    close(jax.jit(jax.grad(loss(function(f))))(p), jax.grad(loss(g))(p))
    assert function(f)(p, 3)["z"][1] == 3


def test_native():
    ours = function(loops, native=True)
    args = jnp.asarray(X.reshape(3, 2)), jnp.asarray(X[:2])
    close(jax.jit(ours)(*args), loops_in_jax(*args))
    close(jax.jacrev(ours, (0, 1))(*args), jax.jacrev(loops_in_jax, (0, 1))(*args))


def test_single_precision():
    with jax.enable_x64(False):
        f = function(lambda x: np.sum(np.exp(x) * x))
        slope = jax.jit(jax.grad(f))(jnp.ones(3))
        assert slope.dtype == np.float32
        np.testing.assert_allclose(slope, 2.0 * np.exp(1.0), rtol=1e-6)


def test_inside_a_program_of_jax():
    ours = function(energy)

    @jax.jit
    def program(x):
        return jax.lax.fori_loop(0, 5, lambda _, x: x - 0.01 * jax.grad(ours)(x, 1.0), x)

    theirs = jax.lax.fori_loop(0, 5, lambda _, x: x - 0.01 * jax.grad(energy_in_jax)(x, 1.0), jnp.asarray(X))
    close(program(jnp.asarray(X)), theirs)


def test_what_the_result_is_said_to_be():
    f = lambda x: np.concatenate([x, 1.0 / (x - 1.0)])  # not to be run on ones
    shape = lambda x: jax.ShapeDtypeStruct((2 * x.shape[0],), x.dtype)
    x = jnp.asarray(X[:3])
    expected = 1.0 - 1.0 / (x - 1.0) ** 2
    close(jax.grad(lambda x: jnp.sum(function(f, result=shape)(x)))(x), expected)
    wrong = function(f, result=lambda x: x)
    with pytest.raises(Exception, match=r"shape \(6,\), where \(3,\) was expected"):
        wrong(x).block_until_ready()


def test_arguments_are_not_written():
    def writes(x):
        x[0] = 2.0
        return np.sum(x)

    with pytest.raises(Exception, match="read-only"):
        function(writes, result=jax.ShapeDtypeStruct((), np.float64))(jnp.asarray(X)).block_until_ready()
