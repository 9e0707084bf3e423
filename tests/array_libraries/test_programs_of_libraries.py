"""Functions written for a library itself, and what is refused: by its code, before anything is computed."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from tests.array_libraries.family import PROGRAMS
from tests.array_libraries.libraries import INSTALLED, called, each_library

pytestmark = pytest.mark.skipif(not INSTALLED, reason="no other library of arrays is installed")
POINT = np.linspace(0.3, 1.4, 6)
MATRIX = POINT.reshape(2, 3)


def refused(call):
    with pytest.raises(ad.DifferentiationError) as found:
        call()
    return [problem.code for problem in found.value.diagnostics]


# Names


def of_namespace(x):
    from_compat = compat.array_namespace(x)
    return from_compat.sum(from_compat.sin(x) ** 2) / from_compat.mean(x) + from_compat.std(x, correction=1)


compat = None


def of_standard(x):
    return xp.sum(xp.concat([x, xp.pow(x, 2.0)])) + xp.sum(xp.cumulative_sum(x)) + xp.linalg.vector_norm(x)


xp = None


def for_numpy(x):
    z = np.concatenate([x, x**2.0])
    return np.sum(z) + np.sum(np.cumsum(x)) + np.linalg.norm(x)


@each_library
def test_names_of_the_standard_mean_what_numpys_do(library, monkeypatch):
    namespaces = pytest.importorskip("array_api_compat")
    monkeypatch.setitem(globals(), "compat", namespaces)
    x = library.make(POINT)
    monkeypatch.setitem(globals(), "xp", namespaces.array_namespace(x))
    np.testing.assert_allclose(library.back(ad.grad(of_standard)(x)), ad.grad(for_numpy)(POINT), rtol=1e-12)
    there = ad.value_and_grad(of_namespace)(x)
    here = ad.value_and_grad(of_namespace)(POINT)
    np.testing.assert_allclose(library.back(there[0]), here[0], rtol=1e-12)
    np.testing.assert_allclose(library.back(there[1]), here[1], rtol=1e-12)


def test_functions_and_methods_of_torch():
    called("torch")
    torch = pytest.importorskip("torch")

    def methods(x):
        y = (x.sin() * x.exp()).sum() + x.pow(2).mean() + x.max() + x.t()[0].sum() ** 2
        return y + x.std(dim=1).sum() + (x.permute(1, 0) @ x).sum() + x.unsqueeze(0).clone().sum(dim=0)[0, 1]

    def functions(x):
        parts = torch.cat([x, 2 * x], dim=1).sum(dim=0, keepdim=True).std()
        kept = torch.clamp(x, min=0.4, max=1.2) + torch.where(x > 0.5, x, torch.zeros_like(x))
        return (
            parts + torch.amax(x, dim=1).sum() + torch.linalg.norm(x) + torch.sum(kept) + torch.transpose(x, 0, 1)[2, 1]
        )

    for f in (methods, functions):
        x = torch.tensor(MATRIX, requires_grad=True)
        f(x).backward()
        value, gradient = ad.value_and_grad(f)(x.detach())
        torch.testing.assert_close(gradient, x.grad, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(value, f(x).detach(), rtol=1e-12, atol=1e-12)


def test_what_means_something_else_to_torch_is_refused():
    called("torch")
    torch = pytest.importorskip("torch")
    x = torch.tensor(MATRIX)
    assert refused(lambda: ad.grad(lambda x: x.transpose(0, 1)[0].sum())(x)) == ["AD0603"]
    assert refused(lambda: ad.grad(lambda x: x.repeat(2, 1).sum())(x)) == ["AD0603"]
    assert refused(lambda: ad.grad(lambda x: torch.max(x, 1)[0].sum())(x)) == ["AD0603"]
    assert refused(lambda: ad.grad(lambda x: torch.softmax(x, 1).sum())(x)) == ["AD0603"]


def test_jax_rebinds_and_is_traced():
    called("jax")
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def rebinds(x):
        y = x
        y += 1.0
        y *= x
        return jnp.sum(jnp.logaddexp(y, x)) + jnp.linalg.norm(x) + jnp.zeros(3).sum()

    x = jnp.asarray(POINT)
    wanted = jax.grad(rebinds)(x)
    np.testing.assert_allclose(ad.grad(rebinds)(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(jax.jit(ad.grad(rebinds))(x), wanted, rtol=1e-12)
    np.testing.assert_array_equal(x, POINT)


def test_a_store_into_an_array_of_jax_is_refused_at_its_line():
    called("jax")
    jnp = pytest.importorskip("jax.numpy")

    def stores(x):
        y = np.zeros(6)
        y[0] = x[0]
        return np.sum(y)

    with pytest.raises(ad.DifferentiationError, match=r"y\[0\] = x\[0\]"):
        ad.grad(stores)(jnp.asarray(POINT))


# Elements are numbers


@each_library
def test_elements_do_not_change_with_their_array(library):
    if not library.writes:
        pytest.skip("its arrays are not written")

    def f(x):
        y = x * 1.0
        first = y[0]
        y[0] = y[1] * first
        total = y[1]
        total += y[0]
        return first * total + y[1]

    x = library.make(POINT)
    value, gradient = ad.value_and_grad(f)(x)
    here = ad.value_and_grad(f)(POINT)
    np.testing.assert_allclose(library.back(value), here[0], rtol=1e-13)
    np.testing.assert_allclose(library.back(gradient), here[1], rtol=1e-13)
    np.testing.assert_array_equal(library.back(x), POINT)


@each_library
def test_results_share_memory_with_nothing(library):
    c = library.make(POINT)
    gradient = ad.grad(lambda x: np.sum(x * c))(library.make(POINT))
    value, pullback = ad.vjp(lambda x: x * 1.0, c)
    seed = library.make(POINT)
    (back,) = pullback(seed)
    if library.writes:
        gradient[...] = gradient * 0.0
        value[...] = value * 0.0
        back[...] = back * 0.0
    for kept in (c, seed):
        np.testing.assert_array_equal(library.back(kept), POINT)


# Structures


@dataclass
class Model:
    weight: object
    bias: object
    name: str = "model"


def loss(model, x, scale):
    return np.sum(np.tanh(model.weight @ x + model.bias["b"]) ** 2) * scale


@each_library
def test_gradients_have_the_structure_of_their_arguments(library):
    bias = np.array([0.1, 0.2])
    there = Model(library.make(MATRIX), {"b": library.make(bias), "label": "b"})
    here = Model(MATRIX, {"b": bias, "label": "b"})
    found, slope = ad.grad(loss, (0, 2))(there, library.make(POINT[:3]), 2.0)
    wanted, wanted_slope = ad.grad(loss, (0, 2))(here, POINT[:3], 2.0)
    np.testing.assert_allclose(library.back(found.weight), wanted.weight, rtol=1e-12)
    np.testing.assert_allclose(library.back(found.bias["b"]), wanted.bias["b"], rtol=1e-12)
    assert found.bias["label"] is None
    assert isinstance(slope, float)
    assert slope == pytest.approx(wanted_slope)


@each_library
def test_derivatives_inside_of_functions(library):
    def outer(x):
        return np.sum(ad.grad(lambda y: np.sum(np.sin(y) * y))(x) ** 2) + np.sum(ad.stop_gradient(x) * x)

    found = ad.grad(outer)(library.make(POINT))
    np.testing.assert_allclose(library.back(found), ad.grad(outer)(POINT), rtol=1e-11)


@each_library
def test_pullbacks_of_several_results(library):
    value, pullback = ad.vjp(lambda x: (x * x, np.sum(x)), library.make(POINT))
    np.testing.assert_allclose(library.back(value[0]), POINT**2)
    np.testing.assert_allclose(library.back(pullback((library.make(POINT), 1.0))[0]), 2 * POINT**2 + 1.0)
    np.testing.assert_allclose(library.back(pullback((None, 2.0))[0]), np.full(6, 2.0))
    assert refused(lambda: pullback((library.make(POINT[:2]), 1.0))) == ["AD0409"]
    assert refused(lambda: pullback((POINT, 1.0))) == ["AD0409"]


# Nothing goes through NumPy


@each_library
def test_nothing_is_copied_to_numpy(library, monkeypatch):
    def poisoned(*_, **__):
        raise AssertionError("an array was converted")

    cls = type(library.make(POINT))
    x, way = library.make(MATRIX), library.make(MATRIX)

    def f(x):
        total = x[0, 1] * 0.0
        for i in range(2):
            total = total + np.sum(np.exp(x[i]) * x[1]) * x[i, 2]
        return total + np.linalg.norm(x @ np.transpose(x)) + np.max(x) + np.sum(np.where(x > 0.5, x, 0.0))

    derivatives = ad.value_and_grad(f), ad.grad(f)
    with monkeypatch.context() as poison:
        for name in ("__array__", "numpy", "tolist", "get"):
            if hasattr(cls, name):
                try:
                    poison.setattr(cls, name, poisoned)
                except TypeError:  # a class of C
                    pytest.skip("the class cannot be poisoned")
        found = derivatives[0](x), ad.jvp(f, (x,), (way,)), ad.hvp(f, (x,), (way,)), ad.vjp(f, x)[1](1.0)
    np.testing.assert_allclose(library.back(found[0][1]), ad.grad(f)(MATRIX), rtol=1e-11)


@pytest.mark.parametrize("name", ["softmax", "sorted_elements", "factors", "stores", "norms"])
def test_new_arrays_lie_on_the_device_of_the_arguments(name):
    called("array_api_strict")
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("device1")
    f, shapes = PROGRAMS[name]
    points = [np.random.default_rng(3).uniform(0.4, 1.6, shape) for shape in shapes]
    there = [strict.asarray(point, device=device) for point in points]
    for found in (*ad.value_and_grad(f)(*there), *ad.jvp(f, there, there), *ad.vjp(f, *there)[1](1.0)):
        assert found.device == device
    if len(there) == 1:
        other = strict.asarray(points[0])
        assert refused(lambda: ad.grad(lambda x, y: f(x) + np.sum(y))(there[0], other)) == ["AD0605"]


# Refusals


@each_library
def test_names_that_a_library_lacks_are_refused_at_their_lines(library):
    def partitioned(x):
        return np.sum(np.partition(x, 2)[:2])

    if library.name in ("jax", "cupy"):
        pytest.skip("it has a partition")
    with pytest.raises(ad.DifferentiationError, match=r"np\.partition\(x, 2\)") as found:
        ad.grad(partitioned)(library.make(POINT))
    assert {problem.code for problem in found.value.diagnostics} == {"AD0603"}


@each_library
def test_arrays_of_numpy_do_not_meet_others(library):
    weights = np.ones(6)
    x = library.make(POINT)
    assert refused(lambda: ad.grad(lambda x: np.sum(weights * x))(x)) == ["AD0605"]
    assert refused(lambda: ad.grad(lambda x, y: np.sum(x * y))(x, POINT)) == ["AD0605"]
    assert refused(lambda: ad.grad(lambda y, x: np.sum(x * y))(POINT, x)) == ["AD0605"]
    assert refused(lambda: ad.grad(lambda x, y: np.sum(x) * y)(x, np.float64(2.0))) == ["AD0605"]


def test_libraries_do_not_meet():
    if len(INSTALLED) < 2:
        pytest.skip("one library is installed")
    x, y = (library.make(POINT) for library in INSTALLED[:2])
    assert refused(lambda: ad.grad(lambda x, y: np.sum(x * y))(x, y)) == ["AD0605"]


def test_tensors_of_autograd_are_refused():
    called("torch")
    torch = pytest.importorskip("torch")
    x = torch.tensor(POINT, requires_grad=True)
    assert refused(lambda: ad.grad(lambda x: np.sum(x))(x)) == ["AD0606"]


@each_library
def test_what_needs_numpy_says_so(library, tmp_path):
    x = library.make(POINT)
    f = lambda x: np.sum(np.sin(x) * x)
    assert refused(lambda: ad.grad(f, native=True)(x)) == ["AD0601"]
    assert refused(lambda: ad.grad(f, debug=True)(x)) == ["AD0603"]
    assert refused(lambda: ad.export(tmp_path / "derivative.py", ad.grad(f), x)) == ["AD0603"]
    assert refused(lambda: ad.tape_report(ad.grad(f), x)) == ["AD0603"]
    assert refused(lambda: ad.jacobian(f)(x)) == ["AD0404"]


def test_one_function_serves_numpy_and_the_others():
    df = ad.grad(lambda x: np.sum(np.sin(x) * x))
    wanted = df(POINT)
    for library in INSTALLED:
        np.testing.assert_allclose(library.back(df(library.make(POINT))), wanted, rtol=1e-13)
        np.testing.assert_array_equal(df(POINT), wanted)
