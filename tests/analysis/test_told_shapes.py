"""Arrays whose makers are told their shape: cotangents of that shape are not fitted, in loops either."""

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.analysis.shapes.extents import Extents


def on_a_grid(speed, count):
    line = np.linspace(0.0, 1.0, 6)
    y, x = np.meshgrid(line, line)
    u = np.sin(speed * x) * np.cos(y)
    for _ in range(count):
        moved = np.roll(u, 1, axis=0) + np.flip(u, axis=1) + np.cumsum(u, axis=0)
        u = u - 0.1 * speed * (u - moved) * np.reshape(np.arange(36), (6, -1)) / 36.0
    return np.sum(u**2)


def in_waves(speed, count):
    points = np.arange(6)
    u = np.cos(speed * points)
    for _ in range(count):
        spectrum = np.fft.fft(u * speed)
        u = u + 0.1 * np.real(np.fft.ifft(spectrum * np.exp(-0.01 * points**2)))
    return np.sum(u**2) + np.sum(np.outer(u, points) * np.reshape(np.arange(36.0), (6, 6)) * speed)


def of_columns(x, speed):
    n = x.shape[0]
    column, row = x[:, 0].reshape((n, 1)), np.reshape(x[:, 1], (1, -1))
    apart = speed * column - row
    return np.sum(apart * (np.broadcast_to(row, (n, n)) * apart + np.outer(x[:, 0], x[:, 1])))


def of_draws(speed, count):
    np.random.seed(3)  # noqa: NPY002
    places = np.random.randn(count, 2)  # noqa: NPY002
    for _ in range(2):
        x, y = places[:, 0:1], places[:, 1:2]
        apart = np.triu((x.T - x) ** 2 + speed * (y.T - y) ** 2)
        places = places - 0.01 * np.hstack((apart @ x, apart @ y)) + np.vstack((speed * x[:1], x[1:]))
    return np.sum(places**2)


def counted_backwards(x, count):
    rest = np.reshape(x, (count, 2))
    return np.sum(rest * np.ones((3, 2)))


def in_other_orders(x):
    lengths = np.linalg.norm(x, axis=-1)
    scaled = np.swapaxes(x, 0, 1) * lengths
    behind = np.concatenate([x, 2.0 * x], axis=0) * np.concatenate([x, x**2])
    pairs = np.stack([x, np.sin(x)], axis=-1)
    turned = np.transpose(pairs, (2, 0, 1)) * np.moveaxis(pairs, -1, 0)
    grown = np.expand_dims(lengths, 1) * x + np.sort(x, axis=0)
    return np.sum(scaled**3) + np.sum(behind) + np.sum(turned) + np.sum(grown**2)


def on_each_path(x):
    """What one path alone computes, and pairs that have one shape on each path, whichever that is."""
    if x[0, 0] > 0.0:
        weights = np.tanh(x)
        total = np.sum(weights * x)
        here, there = x[1:] * x[1:], np.exp(x[1:])
    else:
        total = np.sum(x)
        here, there = x * x, np.cos(x)
    return total + np.sum(np.sin(here) * there)


GRID = np.arange(3.0)[:, None]


def constant_on_one_path(x):
    weights = GRID if x[0, 0] > 0.0 else x
    scaled = weights * x[:, :1]
    return np.sum(np.sin(scaled) * scaled) + np.sum(scaled * x)


def narrower_on_one_path(x):
    """What is cut down on one path fits nothing behind it, though it fits on the other."""
    weights = x[:, :1] if x[0, 0] > 0.0 else x
    other = np.exp(weights) if x[0, 1] < 5.0 else x
    if x[0, 0] > 0.0:
        return np.sum(weights * x) + np.sum(other * x)
    return np.sum(weights * other * x)


PLANE = np.array([[0.3, -0.2], [0.5, 0.9], [1.1, 0.4]])


@pytest.mark.parametrize(
    ("function", "args", "place"),
    [(on_a_grid, (0.7, 2), 0), (in_waves, (0.7, 2), 0), (of_draws, (0.7, 3), 0), (of_columns, (PLANE, 0.7), 1)],
)
def test_gradients_agree_with_differences(function, args, place):
    def shifted(step):
        return function(*(arg + step if i == place else arg for i, arg in enumerate(args)))

    slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6
    for native in (False, True):
        assert ad.grad(function, wrt=place, native=native)(*args) == pytest.approx(slope, rel=1e-6)
    assert ad.hessian(function, wrt=place)(*args) == pytest.approx(
        (
            ad.grad(function, wrt=place)(*[a + 1e-6 if i == place else a for i, a in enumerate(args)])
            - ad.grad(function, wrt=place)(*[a - 1e-6 if i == place else a for i, a in enumerate(args)])
        )
        / 2e-6,
        rel=1e-5,
    )


@pytest.mark.parametrize("place", [PLANE, -PLANE])
@pytest.mark.parametrize(
    ("function", "fits"),
    [(in_other_orders, True), (on_each_path, True), (constant_on_one_path, False), (narrower_on_one_path, False)],
)
def test_gradients_of_arrays_agree_with_differences_and_fit_nothing(function, fits, place):
    slopes = np.array(
        [
            [(function(place + e * step) - function(place - e * step)) / (2 * step) for e in row]
            for step in (1e-6,)
            for row in np.eye(6).reshape(3, 2, 3, 2)
        ]
    )
    for native in (False, True):
        np.testing.assert_allclose(ad.grad(function, native=native)(place), slopes, rtol=1e-6, atol=1e-8)
    assert not fits or "unbroadcast" not in ad.source(ad.grad(function), place)


@pytest.mark.parametrize("function", [on_a_grid, in_waves])
def test_nothing_is_kept_for_its_shape_alone(function):
    assert "shape_only" not in ad.source(ad.grad(function), 0.7, 2)


def test_a_number_that_may_be_negative_is_no_extent():
    assert np.array_equal(ad.grad(counted_backwards)(PLANE, -1), np.ones((3, 2)))
    with pytest.raises(ValueError, match="could not be broadcast"):
        ad.grad(counted_backwards)(PLANE[:2], -1)


def test_what_each_iteration_hands_to_the_next() -> None:
    """A loop before which there is nothing to hand on: the result has the shape of what each iteration makes."""
    vector = ir.Array(np.dtype(float), ("many",))
    a, before, made, shorter, last = (ir.Var(name, vector) for name in ("a", "before", "made", "shorter", "last"))
    for value, shape in ((made, "that of a"), (shorter, "another one")):
        part = ir.Subscript((ir.Slice(ir.Const(None), ir.Var("i", ir.INT), ir.Const(None)),))
        body = ir.Block(
            (ir.Call((made,), np.sin, (a,)), ir.Load(shorter, a, part)),
            ir.Continue((value,)),
        )
        over = ir.Range(ir.Const(0), ir.Const(3), ir.Const(1))
        index = part.items[0].upper  # type: ignore[union-attr]
        loop = ir.Loop(over, index, (before,), (ir.UNDEFINED,), body, (last,))
        extents = Extents(ir.Function("f", (a,), ir.Block((loop,), ir.Return((last,)))))
        assert (extents.of(last) == extents.of(a)) == (shape == "that of a")


def test_arrays_of_places_select_in_their_own_shape():
    whole, many = np.dtype(np.int64), ("many", "many")
    field = ir.Var("field", ir.Array(np.dtype(float), many))
    places = ir.Var("places", ir.Array(whole, many))
    row = ir.Var("row", ir.Array(whole, ("many",)))
    unsure = ir.Var("unsure", ir.Array(None, many))
    made = [ir.Var(name, ir.Array(np.dtype(float), None)) for name in ("element", "rows", "broadcast", "perhaps")]
    keys = [(places, places), (row,), (places, row), (unsure,)]
    loads = [ir.Load(target, field, ir.Subscript(key)) for target, key in zip(made, keys, strict=True)]
    params = (field, places, row, unsure)
    extents = Extents(ir.Function("f", params, ir.Block(tuple(loads), ir.Return((made[0],)))))
    elements, rows, broadcast, perhaps = map(extents.of, made)
    assert elements == extents.of(places)
    assert rows == (*extents.of(row), extents.of(field)[1])
    assert broadcast is not None and len(broadcast) == 2 and broadcast[0] == extents.of(places)[0]
    assert perhaps is None  # it may be a mask


def test_indices_have_the_shape_that_they_are_told():
    shape = ir.Const((3, 4))
    made = ir.Var("made", ir.Array(np.dtype(np.int64), ("many", "many", "many")))
    body = ir.Block((ir.Call((made,), np.indices, (shape,)),), ir.Return((made,)))
    assert Extents(ir.Function("f", (), body)).of(made) == (2, 3, 4) == np.indices((3, 4)).shape


@pytest.mark.parametrize(("sizes", "shape"), [((3,), (3, 3)), ((3, 4), (3, 4)), ((3, None), (3, 3))])
def test_the_identity(sizes: tuple[int | None, ...], shape: tuple[int, int]) -> None:
    made = ir.Var("made", ir.Array(np.dtype(float), ("many", "many")))
    body = ir.Block((ir.Call((made,), np.eye, tuple(map(ir.Const, sizes))),), ir.Return((made,)))
    assert Extents(ir.Function("f", (), body)).of(made) == shape == np.eye(*sizes).shape
