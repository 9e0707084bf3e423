"""A derivative is declared of a method or a function that writes attributes of what it is given."""

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.6, -0.4])


class Layer:
    scale = 2.0

    def __init__(self, w):
        self.w, self.calls, self.last, self.parts, self.table = w, 0, 0.0, [1.0], {}
        self.name = None

    def doubled(self, x):
        self.w *= 2.0
        return np.sum(x)

    def through_a_variable(self, x):
        w = self.w
        w[0] = 7.0
        return np.sum(x)

    def through_a_helper(self, x):
        _scale(self.w, 2.0)
        return np.sum(x)

    def through_a_method(self, x):
        self.remember(x)
        return np.sum(x)

    def remember(self, x):
        self.last = np.sum(x) * 2.0

    def through_a_name(self, x):
        setattr(self, "last", np.sum(x))
        return np.sum(x)

    def into_a_dict(self, x):
        self.table["k"] = np.sum(x)
        return np.sum(x)

    def into_a_list(self, x):
        self.parts.append(np.sum(x))
        return np.sum(x)

    def into_the_class(self, x):
        self.scale = np.sum(x)
        return np.sum(x)

    def counting(self, x) -> float:
        self.calls += 1
        return np.sum(x)

    def where_it_is_large(self, x):
        while np.sum(x) > 0.0:
            for parts in (self.w, x):
                parts *= 0.5
            x = x - 10.0
        return np.sum(x)

    def by_keyword(self, x):
        np.exp(x, out=self.w)
        return np.sum(x)

    def by_position(self, x):
        np.exp(x, self.w)
        return np.sum(x)

    def its_own(self, x):
        w = self.w * 1.0
        w *= 2.0
        parts = list(self.parts)
        parts.append(1.0)
        other = Layer(w)
        other.last = 3.0
        return np.sum(x)


def _scale(values, factor):
    values *= factor


WRITING = [
    *("doubled", "through_a_variable", "through_a_helper", "through_a_method", "through_a_name", "into_a_dict"),
    *("into_a_list", "into_the_class", "counting", "where_it_is_large", "by_keyword", "by_position"),
]
READ = {
    "through_a_method": "last",
    "through_a_name": "last",
    "into_a_dict": "table",
    "into_a_list": "parts",
    "into_the_class": "scale",
    "counting": "calls",
}


def _plain(name):
    """Declares the derivative of a method, which calls it as it stands."""
    method = getattr(Layer, name)

    @ad.derivative_of(method, wrt="x", replace=True)
    def _(self, x):
        return method(self, x), lambda ct: ct * np.ones(2)

    return method


def _number(value):
    value = value[-1] if isinstance(value, list) else value.get("k", 1.0) if isinstance(value, dict) else value
    return np.sum(value)


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("way", ["made", "given", "captured"])
def test_refused(name, way) -> None:
    method, attribute = _plain(name), READ.get(name, "w")
    captured = Layer(np.ones(2))

    def program(x, layer=None):
        layer = Layer(x * 1.0) if way == "made" else layer if way == "given" else captured
        return method(layer, x) * _number(getattr(layer, attribute))

    args = (X, Layer(np.ones(2))) if way == "given" else (X,)
    for derivative in (ad.grad(program), lambda *args: ad.jvp(program, args, (X, None)[: len(args)])):
        with pytest.raises(ad.DifferentiationError) as caught:
            derivative(*args)
        assert "AD0303" in str(caught.value) or (way == "made" and "AD0204" in str(caught.value))


def test_what_writes_its_own() -> None:
    method = _plain("its_own")
    layer = Layer(np.ones(2))
    assert np.allclose(ad.grad(lambda x: method(layer, x) * np.sum(layer.w * x))(X), np.sum(X) * 1.0 + np.sum(X))


@pytest.mark.parametrize("native", [False, True])
def test_counters_that_nobody_reads(native) -> None:
    method = _plain("counting")
    captured, given = Layer(np.ones(2)), Layer(np.ones(2))

    def program(x, layer):
        total = method(layer, x)
        for k in range(3):
            if k > 0:
                total = total + method(layer, x) * np.sum(captured.w * x)
            total = total + captured.counting(x)
        return total

    expected = 4.0 + 4.0 * np.sum(X) * np.ones(2)
    assert np.allclose(ad.grad(program, native=native)(X, given), expected)
    assert (given.calls, captured.calls) == (3, 3)


def test_what_nobody_reads_may_be_anything() -> None:
    method, layer = _plain("through_a_method"), Layer(np.ones(2))
    assert np.allclose(ad.grad(lambda x: method(layer, x) * np.sum(layer.w * x))(X), 2.0 * np.sum(X))
    assert layer.last == np.sum(X) * 2.0
    with pytest.raises(ad.DifferentiationError, match="AD0303"):  # the object of the second call varies
        ad.grad(lambda x: method(layer, x) + method(layer, x))(X)


def test_a_pullback_that_reads_what_the_method_wrote() -> None:
    class Square:
        def __init__(self):
            self.x = np.zeros(2)

        def forward(self, x):
            self.x = x
            type(self).calls = self.__class__.calls = 1
            return np.sum(x * x)

    square = Square()

    @ad.derivative_of(Square.forward, wrt="x")
    def _(self, x):
        return self.forward(x), lambda ct: 2.0 * ct * self.x

    with pytest.raises(ad.DifferentiationError, match="the attribute 'x' of its argument 'self'"):
        ad.grad(lambda x: square.forward(x))(X)

    @ad.derivative_of(Square.forward, wrt="x", replace=True)
    def _(self, x):
        return self.forward(x), lambda ct: 2.0 * ct * x

    assert np.allclose(ad.grad(lambda x: square.forward(x))(X), 2.0 * X)


def test_read_in_the_next_round_or_on_one_path() -> None:
    method = _plain("counting")
    layer = Layer(np.ones(2))

    def rounds(x):
        total = 0.0
        for _ in range(3):
            total += layer.calls * np.sum(x)
            total += method(layer, x)
        return total

    def paths(x):
        total = method(layer, x) if x[0] > 0.0 else 1.0
        return total * layer.calls

    for program in (rounds, paths):
        with pytest.raises(ad.DifferentiationError, match="the attribute 'calls' of its argument 'self'"):
            ad.grad(program)(X)


def test_one_of_several_objects() -> None:
    method = _plain("counting")
    first, second = Layer(np.ones(2)), Layer(np.ones(2))

    def chosen(x):
        return method(first if x[0] > 0.0 else second, x)

    with pytest.raises(ad.DifferentiationError, match="the attribute 'calls' of its argument 'self'"):
        ad.grad(chosen)(X)
    gradient = ad.grad(lambda x, layers: sum(method(layer, x) for layer in layers))(X, [first, second])
    assert np.allclose(gradient, 2.0)
    assert (first.calls, second.calls) == (1, 1)


def test_told_with_the_call() -> None:
    method = _plain("doubled")

    def program(x):
        layer = Layer(x * 1.0)
        return method(layer, x) + np.sum(layer.w)

    with pytest.raises(ad.DifferentiationError) as caught:
        ad.grad(program)(X)
    text = str(caught.value)
    assert "return method(layer, x) + np.sum(layer.w)" in text
    assert "writes the attribute 'w' of its argument 'self'" in text
    assert "let it return the new 'w', and assign that where it is called" in text


TOTAL, BUFFER = 0.0, np.zeros(2)


def into_a_global_variable(x):
    global TOTAL
    TOTAL = np.sum(x) * 3.0
    return np.sum(x)


def into_a_global_array(x):
    BUFFER[:] = x * 2.0
    return np.sum(x)


@pytest.mark.parametrize("function", [into_a_global_variable, into_a_global_array])
def test_variables_outside(function) -> None:
    @ad.derivative_of(function, replace=True)
    def _(x):
        return function(x), lambda ct: ct * np.ones(2)

    assert np.allclose(ad.grad(lambda x: function(x) * np.sum(x))(X), 2.0 * np.sum(X))
    with pytest.raises(ad.DifferentiationError, match="which this program reads"):
        ad.grad(lambda x: function(x) * (TOTAL + np.sum(BUFFER)))(X)


def test_captured_variables() -> None:
    total = 0.0

    def last(x):
        nonlocal total
        total = np.sum(x)
        return np.sum(x)

    @ad.derivative_of(last)
    def _(x):
        return last(x), lambda ct: ct * np.ones(2)

    assert np.allclose(ad.grad(lambda x: last(x) * np.sum(x))(X), 2.0 * np.sum(X))
    with pytest.raises(ad.DifferentiationError, match="which this program reads"):
        ad.grad(lambda x: last(x) * total)(X)


def test_captured_variables_of_several_functions() -> None:
    def made():
        buffer = np.zeros(2)

        def keeping(x):
            buffer[:] = 2.0 * x
            return np.sum(x)

        ad.derivative_of(keeping)(lambda x: (keeping(x), lambda ct: ct * np.ones(2)))
        return keeping, lambda x: keeping(x) * np.sum(buffer), lambda x: keeping(x) * np.sum(x)

    for _ in range(2):
        _, reading, other = made()
        assert np.allclose(ad.grad(other)(X), 2.0 * np.sum(X))
        with pytest.raises(ad.DifferentiationError, match="which this program reads"):
            ad.grad(reading)(X)


def test_objects_that_are_called() -> None:
    class Model:
        def __init__(self):
            self.n = 1.0

        def __call__(self, x):
            self.n += np.sum(x)
            return np.sum(x)

    model = Model()

    @ad.derivative_of(model)
    def _(x):
        return model(x), lambda ct: ct * np.ones(2)

    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(lambda x: model(x) * model.n)(X)
