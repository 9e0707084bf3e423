"""Function values: known ones are differentiated like any function, others by what they carry."""

import contextvars
import functools
import math
import operator
import pickle
import types
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second

Scalar = ad.Fn[[float], float]
OfArray = ad.Fn[[np.ndarray, ad.NoDerivative[float]], np.ndarray]
Free = ad.Fn[[np.ndarray, float], np.ndarray]
FREE = Free(lambda v, k: np.sin(v) * k)
Two = ad.Fn[[float, float], tuple[float, float]]

KEPT = {
    "cube": Scalar(lambda x: x * x * x),
    "sine": Scalar(math.sin),
    "exp": Scalar(ad.differentiable_function(lambda x: (math.exp(x), lambda ct: ct * math.exp(x)))),
}
ARRAYS = {"sine": OfArray(lambda x, k: np.sin(x) * k), "itself": OfArray(lambda x, k: x)}
MANY = [Scalar(lambda x, i=i: x ** (i % 5)) for i in range(100)]
CURRENT = contextvars.ContextVar("current", default=KEPT["cube"])


@functools.lru_cache
def kept(name) -> Scalar:
    return KEPT[name]


@functools.lru_cache
def arrays(name) -> "ad.Fn[[np.ndarray, ad.NoDerivative[float]], np.ndarray]":
    return ARRAYS[name]


class Table:
    """Attributes that are known only when somebody asks for them."""

    def __getattr__(self, name):
        if name in KEPT:
            return KEPT[name]
        raise AttributeError(name)


TABLE = Table()


def by_result(x, name):
    f = kept(name)
    return f(x) * x


def by_annotation(x, name):
    f: Scalar = getattr(TABLE, name)
    return f(f(x))


def by_parameter(x):
    return applied(CURRENT.get(), x)


def applied(f: Scalar, x):
    return f(x) + f(0.5 * x)


def by_index(x, place):
    return MANY[place](x) * MANY[place + 1](x)


def by_container(x):
    table: dict[str, Scalar] = CONTAINER()
    return table["cube"](x) * table["sine"](x)


CONTAINER = functools.partial(operator.attrgetter("kept"), type("Holder", (), {"kept": KEPT}))


def in_a_loop(x):
    f: Scalar = getattr(TABLE, "sine")
    for i in range(4):
        if i % 2:
            x = f(x) + x
        else:
            x = f(x * 0.5)
    return x


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("program", [by_result, by_annotation])
def test_values_that_are_known_only_at_run_time(program, name):
    right(program, 0.7, name)
    second(lambda x: program(x, name), 0.7)


@pytest.mark.parametrize("program", [by_parameter, by_container, in_a_loop])
def test_other_places_they_come_from(program):
    right(program, 0.7)
    second(program, 0.7)


handed_back = contextvars.ContextVar("handed back").get  # its default, which is what it is given
nothing = functools.lru_cache(lambda: None)
listed = functools.lru_cache(lambda: [KEPT["sine"], KEPT["cube"]])


def on_one_path(x):
    f: Scalar = KEPT["cube"] if x > 1.0 else kept("sine")
    return f(x)


def bound_again(x):
    f: Scalar = kept("sine")
    for _ in range(3):
        x = f(x)
        f: Scalar = kept("cube")
    return x


def handled(x):
    f: Scalar = kept("sine")
    try:
        return f(x) * x
    except ValueError:
        return x


def until(x):
    f: Scalar = kept("sine")
    while x < 1.7:
        x = f(x) + 1.0
    return x


def among_others(x):
    f: Scalar = kept("sine")
    return sum([g(x) for g in [f, KEPT["cube"], math.cos]])


def collected(x):
    functions = []
    for name in ("sine", "cube"):
        f: Scalar = kept(name)
        functions.append(f)
    return sum([g(x) * x for g in functions])


def in_a_closure(x):
    f: Scalar = kept("cube")
    return (lambda t: f(f(t)))(x)


def given_or_not(x):
    f: Scalar | None = nothing()
    g: Scalar | None = handed_back(KEPT["sine"])
    return (x if f is None else f(x)) * (x if g is None else g(x))


def by_functools(x):
    table: list[Scalar] = listed()
    first = functools.partial(table[0])
    return functools.reduce(lambda a, f: f(a), table, x) + sum(map(lambda f: f(x), table)) * first(x)


def recursive(x, n=3):
    return x if n == 0 else recursive(applied(handed_back(KEPT["sine"]), x), n - 1)


def with_derivatives_inside(x):
    f: Scalar = kept("cube")
    return ad.grad(f)(x) + ad.grad(lambda t: f(t) * t)(x)


@pytest.mark.parametrize(
    "program",
    [
        on_one_path,
        bound_again,
        handled,
        until,
        among_others,
        collected,
        in_a_closure,
        given_or_not,
        by_functools,
        recursive,
        with_derivatives_inside,
    ],
)
def test_ways_through_a_program(program):
    right(program, 0.7)
    second(program, 0.7)


def test_handed_to_opaque_places_and_back():
    def there_and_back(f: Scalar, x):
        g: Scalar = handed_back(f)
        return g(x) * f(x)

    def down(f: Scalar, x, n):
        g: Scalar = handed_back(f)
        return x if n == 0 else down(f, g(x), n - 1)

    for f in (KEPT["cube"], KEPT["exp"], math.sin):
        right(there_and_back, f, 0.7, wrt=1)
        second(lambda x, f=f: there_and_back(f, x), 0.7)
    right(down, KEPT["sine"], 0.7, 3, wrt=1)
    second(lambda x: down(KEPT["sine"], x, 3), 0.7)


def test_jacobians():
    square = ad.Fn[[np.ndarray], np.ndarray](lambda v: v * v)

    def values(x):
        f: ad.Fn[[np.ndarray], np.ndarray] = handed_back(square)
        return f(x)

    np.testing.assert_array_equal(ad.jacobian(values)(np.array([1.0, 2.0])), np.diag([2.0, 4.0]))
    np.testing.assert_array_equal(
        ad.hessian(lambda x: np.sum(values(x) * x))(np.array([1.0, 2.0])), np.diag([6.0, 12.0])
    )


def test_items_of_long_lists():
    right(by_index, 0.7, 3)
    second(lambda x: by_index(x, 3), 0.7)
    gradient = ad.grad(by_index)
    assert [gradient(2.0, place) for place in (1, 2, 52)] == [12.0, 80.0, 80.0]


def test_third_derivatives():
    third = ad.grad(ad.grad(ad.grad(by_parameter)))
    assert third(0.7) == pytest.approx(6.0 * (1 + 0.125))


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_are_written_afterwards(name):
    def loss(x):
        f = arrays(name)
        x = x.copy()
        for _ in range(3):
            x = f(x, 0.9)
            if x[0] > -5.0:
                x[0] *= 2.0
        return np.sum(x * x)

    if name == "itself":  # what is written is the argument, too
        (problem,) = refused(lambda: ad.grad(loss)(np.array([0.3, 0.7, -0.2]))).diagnostics
        assert problem.code == "AD0303"
        assert problem.labels[0].text == "'<lambda>' returns memory that it is given, and one of both is written"
        return
    right(loss, np.array([0.3, 0.7, -0.2]))
    second(loss, np.array([0.3, 0.7, -0.2]))


def test_values_are_told_from_tangents_where_zeros_are():
    """The values of a call are not taken for tangents where it is asked which zeros of those were left out."""

    def written(x, v, f):
        turned = np.diag(v) + x
        turned = turned @ turned.T + np.eye(3)
        w = np.ones(3) + 0.1 * v
        for _ in range(3):
            w = turned @ w
            w /= np.linalg.norm(w)
        held = f(v, x) + f(v, 0.5)
        v[0] = held[1]
        return v * (np.sum(np.sin(w)) + w @ turned @ w)

    def carried(x, v):
        f: Free = handed_back(FREE)
        return written(x, v, f)

    def known(x, v):
        return written(x, v, lambda v, k: np.sin(v) * k)

    def along(f):
        return ad.jvp(f, (0.35, np.array([-0.9, -0.8, -0.7])), (1.0, np.ones(3)))

    for found, expected in zip(along(carried), along(known), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_memory_that_nobody_writes_may_be_shared():
    def loss(x):
        f = arrays("itself")
        return np.sum(f(x, 0.9) * x)

    right(loss, np.array([0.3, 0.7, -0.2]))
    second(loss, np.array([0.3, 0.7, -0.2]))


def test_results_that_are_tuples():
    pair = Two(lambda x, y: (x * y, x + y * y))
    held = functools.lru_cache(lambda: pair)

    def loss(x):
        f: Two = held()
        a, b = f(x, 2.0 * x)
        return a * b

    right(loss, 0.7)
    second(loss, 0.7)


def test_the_derivative_reads_well():
    text = ad.source(ad.grad(by_index), 0.7, 3)
    assert text == (
        "def by_index_grad(x, place, MANY):\n"
        "    y, pullback = rt.with_pullback(MANY[place], x)\n"
        "    y_1, pullback_1 = rt.with_pullback(MANY[place + 1], x)\n"
        "    return pullback_1(y) + pullback(y_1)\n"
    )


def test_a_function_runs_once_in_a_gradient():
    calls = []

    def counted(x):
        calls.append(1)
        return x * x

    value = functools.lru_cache(lambda: Scalar(counted))

    def loss(x):
        f: Scalar = value()
        return f(x) * f(2.0 * x)

    assert ad.value_and_grad(loss)(3.0) == (324.0, 432.0)
    assert len(calls) == 2
    assert ad.jvp(loss, (3.0,), (1.0,)) == (324.0, 432.0)
    assert len(calls) == 4


# Known functions


def scaled(k):
    return ad.differentiable_function(lambda x: (k * x * x, lambda ct: 2.0 * k * x * ct))


def call(f, x):
    return f(x) * x


@pytest.mark.parametrize("f", [scaled(3.0), scaled(2.0), Scalar(lambda x: x * x), Scalar(scaled(0.5))])
def test_known_values_as_arguments(f):
    right(call, f, 0.7, wrt=1)
    second(lambda x: call(f, x), 0.7)
    right(f, 0.7)


def test_what_it_captures_is_read_at_each_call():
    gradient = ad.grad(call, wrt=1)
    assert [gradient(scaled(k), 2.0) for k in (1.0, 2.0)] == [12.0, 24.0]
    assert len({ad.source(gradient, scaled(k), 2.0) for k in (1.0, 2.0)}) == 1


@dataclass
class Layer:
    weight: float
    activation: Scalar

    def __call__(self, x):
        return self.activation(self.weight * x)


def network(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def test_fields_carry_no_derivative():
    gradient = ad.grad(network)([Layer(0.5, scaled(2.0)), Layer(0.7, Scalar(math.tanh))], 0.3)
    assert [vars(part).keys() for part in gradient] == [{"weight"}, {"weight"}]
    layer = Layer(0.5, Scalar(math.tanh))
    assert ad.grad(lambda layer: layer(2.0))(layer).weight == pytest.approx(2.0 / math.cosh(1.0) ** 2)


def test_fields_of_many_objects():
    layers = [Layer(0.9 + 0.001 * i, KEPT["sine"] if i % 2 else Scalar(math.tanh)) for i in range(80)]
    right(network, layers, 0.7, wrt=1)
    known = ad.grad(network)(layers[:3], 0.7)
    assert [part.weight for part in ad.grad(lambda layers, x: network(layers[:3], x))(layers, 0.7)[:3]] == [
        pytest.approx(part.weight) for part in known
    ]


def test_machine_code_for_known_ones():
    assert ad.grad(call, wrt=1, native="strict")(scaled(3.0), 2.0) == 36.0


def test_machine_code_calls_others_by_python():
    assert ad.grad(by_index, native="strict")(0.7, 3) == pytest.approx(ad.grad(by_index)(0.7, 3), rel=1e-14)
    assert ad.grad(by_index, native="strict")(2.0, 1) == 12.0


def test_values_are_pickled_and_shown():
    value = pickle.loads(pickle.dumps(Scalar(math.sin)))
    assert value(0.5) == math.sin(0.5) and isinstance(value, ad.Fn)
    assert repr(value) == "<Fn[[float], float]: sin>"
    assert repr(OfArray) == "Fn[[np.ndarray, NoDerivative[float]], np.ndarray]"
    assert ad.Fn[[float], float] == Scalar


# Refusals

make_pair = functools.lru_cache(lambda k: types.SimpleNamespace(first=Scalar(lambda x: k * x)))


def message(run):
    refusal = refused(run)
    (problem,) = refusal.diagnostics
    return problem.code, " ".join([*(label.text for label in problem.labels), *problem.notes[:1]])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ad.Fn[[str], float], "its parameter of type 'str' cannot vary"),
        (lambda: ad.Fn[[float, int], float], "its parameter of type 'int' cannot vary"),
        (lambda: ad.Fn[[float], int], "its result of type 'int' cannot vary"),
        (lambda: ad.Fn[[float], ad.NoDerivative[float]], "its result is marked NoDerivative"),
        (lambda: ad.Fn[float], "Fn[float] does not list the types of the parameters"),
        (lambda: ad.Fn[..., float], "Fn[..., float] does not list the types of the parameters"),
        (lambda: ad.Fn[[ad.NoDerivative[float]], float], "it has no parameter that varies"),
        (lambda: ad.Fn[[], float], "it has no parameter that varies"),
    ],
)
def test_types_that_no_differentiable_function_has(make, said):
    assert message(make) == ("AD0220", said)


def test_functions_that_cannot_be_converted():
    assert message(lambda: Scalar(operator.attrgetter("x"))) == (
        "AD0221",
        "the body of 'attrgetter' is not visible here",
    )
    assert message(lambda: Scalar(3.0)) == ("AD0221", "Fn[[float], float] was given a value of type 'float'")
    code, said = message(lambda: Scalar(lambda x, y: x))
    assert code == "AD0221" and "missing a required argument: 'y'" in said
    assert message(lambda: ad.differentiable_function(3.0))[0] == "AD0221"
    assert message(lambda: ad.differentiable_function(len))[0] == "AD0221"


def test_results_of_another_type():
    held = functools.lru_cache(lambda: Scalar(lambda x: np.ones(3) * x))

    def loss(x):
        f: Scalar = held()
        return f(x)

    code, said = message(lambda: ad.grad(loss)(1.0))
    assert (code, said) == (
        "AD0221",
        "it returns an array of float64, and its type says a float: Fn[[float], float]",
    )


def test_parameters_without_derivative():
    def dynamic(x, k):
        f = arrays("sine")
        return np.sum(f(x, k))

    code, said = message(lambda: ad.grad(dynamic, wrt=1)(np.ones(2), 2.0))
    assert code == "AD0204" and said.startswith("'k' varies, and the parameter is marked NoDerivative")
    power = ad.Fn[[float, ad.NoDerivative[float]], float](lambda x, k: x**k)
    known = lambda x, k: power(x, k)
    assert ad.grad(known)(2.0, 3.0) == 12.0
    code, said = message(lambda: ad.grad(known, wrt=1)(2.0, 3.0))
    assert code == "AD0204" and said.startswith("'k' varies, and the parameter is marked NoDerivative")
    assert ad.grad(lambda x: power(x, ad.stop_gradient(x)))(2.0) == 4.0


def test_captures_that_vary():
    def loss(w, x):
        f = ad.differentiable_function(lambda t: (w * t, lambda ct: ct * w))
        return f(x) * w

    assert ad.grad(loss, wrt=1)(2.0, 3.0) == 4.0
    code, said = message(lambda: ad.grad(loss)(2.0, 3.0))
    assert code == "AD0204" and said.startswith("'w' varies, and is captured by the function value")


def test_functions_made_of_what_varies():
    make = functools.lru_cache(lambda k: Scalar(lambda x: k * x))

    def loss(x):
        f: Scalar = make(x)
        return f(2.0)

    code, said = message(lambda: ad.grad(loss)(3.0))
    assert code == "AD0303" and said.startswith("what this returned before it returns again")
    assert refused(lambda: ad.jvp(loss, (3.0,), (1.0,)))

    def in_part(x):
        f: Scalar = make_pair(x).first
        return f(x)

    assert refused(lambda: ad.grad(in_part)(3.0)).diagnostics[0].code == "AD0303"


def test_opaque_functions_without_a_type():
    def through(f, x):
        return f(x)

    opaque = operator.methodcaller("dot", np.ones(2))
    problem = refused(lambda: ad.grad(through, wrt=1)(opaque, 1.0)).diagnostics[-1]
    assert problem.code == "AD0201"
    assert [label.text for label in problem.labels] == [
        "the body of 'f' is not visible here",
        "the function is defined here",
    ]
    assert problem.helps[0] == "let its type say that it carries its derivatives: f: ad.Fn[[float], float]"


def test_functions_that_are_looked_up_by_name():
    def loss(x, name):
        f = TABLE.__getattribute__(name)
        return f(x)

    assert ad.grad(loss)(1.0, "cube") == 3.0


def test_functions_that_are_made_inside_are_not_handed_out():
    def loss(x):
        f: Scalar = handed_back(lambda t: t * x)
        return f(x)

    (problem, *_) = refused(lambda: ad.grad(loss)(1.0)).diagnostics
    assert problem.code == "AD0202"
    assert problem.helps == ("make it outside, and hand it to the function",)


def test_calls_that_do_not_fit():
    assert refused(lambda: ad.grad(lambda x: kept("cube")(x, x))(1.0)).diagnostics
    assert refused(lambda: ad.grad(lambda x: kept("cube")(x=x))(1.0)).diagnostics[0].code == "AD0203"


GENERATOR = np.random.default_rng(0)


def drawn_until(x):
    f: Scalar = kept("sine")
    x = x + 0.0 * GENERATOR.normal()
    while x < 1.7:
        x = f(x) + 1.0
    return x


@pytest.mark.parametrize(
    "taken",
    [
        lambda x: ad.grad(ad.grad(drawn_until))(x),
        lambda x: ad.grad(lambda y: ad.grad(drawn_until)(y) * y)(x),
        lambda x: ad.jvp(lambda y: ad.grad(drawn_until)(y), (x,), (1.0,)),
    ],
)
def test_pullbacks_that_lie_in_a_list_are_not_looked_into(taken):
    (problem,) = refused(lambda: taken(0.7)).diagnostics
    assert problem.code == "AD0201"
    assert "pullback of a function that is known only at run time" in problem.labels[0].text
