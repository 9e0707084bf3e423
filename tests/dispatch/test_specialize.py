"""When a derivative is compiled: once for each kind of call, and anew where something it relied on has changed."""

import functools
import gc
import itertools
import math
import timeit
import types
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
import pytest

import adjoint as ad
from adjoint.api import jvp_vjp
from adjoint.dispatch import compiling, specialize


class Counter:
    """Counts compilations since it was asked last."""

    def __init__(self) -> None:
        self.count = 0

    def taken(self) -> int:
        count, self.count = self.count, 0
        return count


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Counter:
    counter, compile_entry = Counter(), compiling.compile_entry

    def counting(*args: Any, **options: Any) -> Any:
        counter.count += 1
        return compile_entry(*args, **options)

    monkeypatch.setattr(compiling, "compile_entry", counting)
    return counter


# -- no endless misses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (lambda x: np.sum(x * x), [(np.ones(n),) for n in (2, 3, 4, 100)]),
        (lambda x: np.sum(x @ x.T), [(np.ones((n, n + 1)),) for n in (2, 3, 4)]),
        (lambda xs: sum(xs), [([1.0] * n,) for n in (1, 2, 3, 10)]),
        (lambda xs: xs[0] * xs[-1], [([1.0] * n,) for n in (2, 3, 10)]),
        (lambda xs: sum([np.sum(x) for x in xs]), [([np.ones(2)] * n,) for n in (1, 2, 10)]),
        (lambda x, n: x * n, [(2.0, n) for n in range(5)]),
        (lambda x, n: x**n, [(2.0, n) for n in range(5)]),
        (lambda x, n: sum([x * i for i in range(n)]), [(2.0, n) for n in range(5)]),
    ],
)
def test_sizes_and_whole_numbers_are_not_in_the_key(function: Any, calls: Any, compiled: Counter) -> None:
    derivative = ad.grad(function)
    for args in calls:
        derivative(*args)
    assert compiled.taken() == 1


FRESH: list[Callable[[float], Any]] = [
    lambda k: ad.grad(lambda x: k * x * x),
    lambda k: ad.grad(lambda x, k=k: k * x * x),
    lambda k: ad.grad(lambda x, *, k=k: k * x * x),
    lambda k: ad.grad(functools.partial(scaled_square, k)),
    lambda k: ad.grad(Scale(k).square),
    lambda k: ad.grad(Scale(k)),
    lambda k: ad.grad(functools.partial(Scale.square, Scale(k))),
]


def scaled_square(k, x):
    return k * x * x


class Scale:
    def __init__(self, k):
        self.k = k

    def square(self, x):
        return self.k * x * x

    def __call__(self, x):
        return self.k * x * x


@pytest.mark.parametrize("make", FRESH)
def test_functions_made_anew_for_each_call(make: Callable[[float], Any], compiled: Counter) -> None:
    assert [make(k)(3.0) for k in (1.0, 2.0, 5.0)] == [6.0, 12.0, 30.0]
    assert compiled.taken() <= 1


def apply(x, function):
    return function(x)


def make_recursive(k):
    def countdown(x, n):
        return k * x if n == 0 else x * countdown(x, n - 1)

    return lambda x: countdown(x, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda k: lambda x: k * x * x,
        lambda k: functools.partial(lambda a, x: a * k * x * x / k, k),
        lambda k: Scale(k).square,
        lambda k: Scale(k),
        lambda k: make_recursive(k),
    ],
)
def test_functions_that_are_handed_in_anew(make: Callable[[float], Any], compiled: Counter) -> None:
    derivative = ad.grad(apply)
    assert [derivative(3.0, make(k)) for k in (1.0, 2.0, 5.0)] == pytest.approx([6.0, 12.0, 30.0])
    assert compiled.taken() <= 1


def test_functions_that_are_handed_in_are_told_apart() -> None:
    derivative = ad.grad(apply)
    k: Any = 2.0
    kinds = [lambda x: k * x, lambda x: x * x, math.exp, np.sin, Scale(3.0), lambda x: k[1] * x]
    for _ in range(2):
        k = 2.0
        assert [derivative(0.0, f) for f in kinds[:5]] == [2.0, 0.0, 1.0, 1.0, 0.0]
        k = [1.0, 7.0]
        assert derivative(0.0, kinds[5]) == 7.0


def test_helpers_made_anew(compiled: Counter) -> None:
    def run():
        helper = lambda t: t * t
        return ad.grad(lambda x: helper(x) * x)(2.0)

    assert [run() for _ in range(3)] == [12.0] * 3
    assert compiled.taken() == 1


def test_methods_of_one_text_and_different_captures() -> None:
    def bound(k):
        return types.MethodType(lambda self, x: k * x, Scale(1.0))

    assert [ad.grad(apply)(1.0, bound(k)) for k in (2.0, 3.0)] == [2.0, 3.0]
    assert [ad.grad(bound(k))(1.0) for k in (2.0, 3.0)] == [2.0, 3.0]


def cube(x):
    return x * x * x


@pytest.mark.parametrize(
    ("run", "most"),
    [
        (lambda k: ad.grad(ad.grad(cube))(2.0), 1),
        (lambda k: ad.hvp(cube, (2.0,), (1.0,)), 1),
        (lambda k: ad.hessian(cube)(2.0), 2),
        (lambda k: ad.jacobian(cube)(2.0), 2),
        (lambda k: ad.vjp(cube, 2.0)[1](1.0), 1),
        (lambda k: ad.jvp(cube, (2.0,), (1.0,)), 1),
        (lambda k: ad.hvp(lambda x: k * x * x, (2.0,), (1.0,)), 1),
        (lambda k: ad.hessian(lambda x: k * x * x)(2.0), 2),
    ],
)
def test_second_order_is_compiled_once(run: Callable[[float], Any], most: int, compiled: Counter) -> None:
    for k in (1.0, 2.0, 3.0):
        run(k)
    assert compiled.taken() <= most


def test_derivatives_of_fresh_closures_read_their_own_data() -> None:
    assert [ad.grad(ad.grad(lambda x: k * x**3))(2.0) for k in (1.0, 2.0)] == [12.0, 24.0]
    assert [ad.hvp(lambda x: k * x**3, (2.0,), (1.0,)) for k in (1.0, 2.0)] == [(12.0,), (24.0,)]
    assert [ad.hessian(lambda x: k * x**3)(2.0) for k in (1.0, 2.0)] == [12.0, 24.0]


def test_two_kinds_in_turn(compiled: Counter) -> None:
    derivative = ad.grad(lambda x: x * x)
    for _ in range(3):
        assert derivative(2.0) == 4.0
        assert derivative(np.float32(2.0)) == 4.0
    assert compiled.taken() == 2


def test_strings_do_not_fill_memory() -> None:
    def f(x, name):
        return x * x

    derivative = ad.grad(f)
    for i in range(30):
        derivative(1.0, f"name {i}")
    assert len(specialize._tables[f.__code__]) <= specialize.MOST_KEYS


def test_functions_are_not_kept_alive() -> None:
    def make(k):
        def local(x):
            return k * x

        return local

    function = make(2.0)
    watched = ref(function)
    assert ad.grad(function)(1.0) == 2.0
    del function
    gc.collect()
    assert watched() is None


# -- no wrong hits ----------------------------------------------------------------------------------------------------


def test_whole_numbers_are_not_floats(compiled: Counter) -> None:
    derivative = ad.grad(lambda x, n: x / n if isinstance(n, int) else x * n)
    assert [derivative(3.0, n) for n in (2, 2.0, True, np.float64(2.0))] == [0.5, 2.0, 1.0, 2.0]
    assert compiled.taken() == 4


def test_one_text_and_different_globals() -> None:
    code = (lambda x: K * x).__code__  # type: ignore[name-defined]  # noqa: F821
    functions = [types.FunctionType(code, {"K": k}) for k in (2.0, 5.0)]
    assert [ad.grad(function)(1.0) for function in functions] == [2.0, 5.0]


@pytest.mark.parametrize("kinds", [(2.0, 3), (2.0, np.ones(2)), (2, 3.0), (np.ones(2), np.ones((2, 1)))])
def test_captured_data_that_changes(kinds: tuple[Any, Any], compiled: Counter) -> None:
    k: Any = None

    def f(x):
        return np.sum(k * x) if isinstance(k, np.ndarray) else k * x

    derivative = ad.grad(f)
    for k in (*kinds, *kinds):
        assert derivative(1.0) == np.sum(k)
    assert compiled.taken() <= 2  # other parameters of this test may have compiled the same


def test_global_function_that_is_replaced(compiled: Counter) -> None:
    namespace: dict[str, Any] = {}
    f = types.FunctionType((lambda x: helper(x)).__code__, namespace)  # type: ignore[name-defined]  # noqa: F821
    derivative = ad.grad(f)
    for _ in range(2):
        namespace["helper"] = math.sin
        assert derivative(0.0) == 1.0
        namespace["helper"] = math.cos
        assert derivative(0.0) == 0.0
    assert compiled.taken() == 2
    del namespace["helper"]
    with pytest.raises(ad.DifferentiationError, match="'helper' is not defined"):
        derivative(0.0)


def test_method_that_is_replaced(compiled: Counter) -> None:
    class Model:
        def act(self, x):
            return x * x

        @staticmethod
        def plain(x):
            return x

        @classmethod
        def of_class(cls, x):
            return x

        @property
        def factor(self):
            return 2.0

        def __mul__(self, x):
            return x

    model = Model()

    def f(x):
        return model.act(x) + Model.of_class(x) + model.plain(x) + model.factor * x + (model * x)

    derivative = ad.grad(f)
    assert derivative(2.0) == 9.0
    Model.act = lambda self, x: x * x * x  # type: ignore[method-assign]
    assert derivative(2.0) == 17.0
    Model.of_class = classmethod(lambda cls, x: 2.0 * x)  # type: ignore[assignment]
    assert derivative(2.0) == 18.0
    Model.plain = staticmethod(lambda x: 2.0 * x)  # type: ignore[assignment]
    assert derivative(2.0) == 19.0
    Model.factor = property(lambda self: 3.0)  # type: ignore[assignment,method-assign]
    assert derivative(2.0) == 20.0
    Model.__mul__ = lambda self, x: 2.0 * x  # type: ignore[method-assign]
    assert derivative(2.0) == 21.0
    assert compiled.taken() == 6
    assert derivative(3.0) == 36.0
    assert compiled.taken() == 0


def test_class_data_that_is_replaced(compiled: Counter) -> None:
    class Model:
        scale = 2.0

        def run(self, x):
            return self.scale * x

    derivative = ad.grad(Model().run)
    assert derivative(1.0) == 2.0
    Model.scale = 5.0
    assert derivative(1.0) == 5.0
    assert compiled.taken() == 1


def test_code_that_is_replaced() -> None:
    def f(x):
        return x * x

    derivative = ad.grad(f)
    assert derivative(2.0) == 4.0
    f.__code__ = (lambda x: x * x * x).__code__
    assert derivative(2.0) == 12.0


def test_defaults_that_are_replaced() -> None:
    def f(x, k=2.0):
        return k * x

    derivative = ad.grad(f)
    assert derivative(1.0) == 2.0
    f.__defaults__ = (7.0,)
    assert derivative(1.0) == 7.0


def test_one_object_twice_is_not_two_objects(compiled: Counter) -> None:
    def f(x, a, b):
        return x * a.k * b.k if a is b else x * (a.k + b.k)

    model = Scale(3.0)
    derivative = ad.grad(f)
    assert derivative(1.0, model, model) == 9.0
    assert derivative(1.0, model, Scale(3.0)) == 6.0
    assert derivative(1.0, Scale(3.0), Scale(4.0)) == 7.0
    assert compiled.taken() == 2


def test_written_arguments_must_not_be_shared() -> None:
    def f(a, b):
        a[0] = 2.0 * b[1]
        return a[0] * b[0]

    derivative = ad.grad(f, wrt=(0, 1))
    for make in (list, np.array):
        derivative(make([1.0, 2.0]), make([1.0, 2.0]))
        shared = make([1.0, 2.0])
        for _ in range(2):
            with pytest.raises(ad.DifferentiationError, match="arguments 0 and 1 share memory"):
                derivative(shared, shared)


def test_written_objects_must_not_be_shared() -> None:
    def f(a, b):
        a.k = 2.0 * b.k
        return a.k * b.k

    derivative = ad.grad(f, wrt=1)
    assert derivative(Scale(1.0), Scale(3.0)).k == 12.0
    model = Scale(3.0)
    with pytest.raises(ad.DifferentiationError, match="is reached in another way, too, and written"):
        derivative(model, model)


def test_memory_shared_inside_of_objects_and_with_captured_data() -> None:
    table = np.ones(3)

    def f(model, x):
        model.k[0] = 2.0 * x[1]
        return np.sum(model.k * x * table)

    derivative = ad.grad(f, wrt=1)
    x = np.ones(3)
    for _ in range(2):
        np.testing.assert_array_equal(derivative(Scale(x.copy()), x), [2.0, 3.0, 1.0])
        with pytest.raises(ad.DifferentiationError, match="arguments 0 and 1 share memory"):
            derivative(Scale(x), x)
        with pytest.raises(ad.DifferentiationError, match="argument 0 and the captured 'table' share memory"):
            derivative(Scale(table), x)


def test_name_of_a_builtin_that_the_module_defines_later() -> None:
    namespace: dict[str, Any] = {"__builtins__": __builtins__}
    f = types.FunctionType((lambda x: abs(x) * x).__code__, namespace)
    derivative = ad.grad(f)
    assert derivative(2.0) == derivative(2.0) == 4.0
    namespace["abs"] = lambda x: x * x * x
    assert derivative(2.0) == 32.0
    del namespace["abs"]
    assert derivative(2.0) == 4.0


def test_cycles_have_keys() -> None:
    from adjoint.dispatch.keys import keys_of

    model = Scale(1.0)
    model.k = model
    assert keys_of((model,)) == keys_of((model,))


# -- the fast path ----------------------------------------------------------------------------------------------------


def test_errors_of_the_program_come_through() -> None:
    def f(x, n):
        return x * x / n

    derivative = ad.grad(f)
    assert derivative(1.0, 2) == 1.0
    with pytest.raises(ZeroDivisionError):
        derivative(1.0, 0)


def test_fast_path_counts_arguments() -> None:
    def f(x, k=2.0):
        return k * x

    derivative = ad.grad(f)
    assert [derivative(1.0), derivative(1.0, 3.0), derivative(1.0), derivative(1.0, k=4.0)] == [2.0, 3.0, 2.0, 4.0]


def _called_by_door(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> bool:
    """Whether a call that was made twice already does not look for its specialisation."""
    run()
    run()
    with monkeypatch.context() as patched:
        patched.setattr(specialize, "specialization", lambda *_: pytest.fail("looked for"))
        try:
            run()
        except pytest.fail.Exception:
            return False
    return True


def test_operators_that_take_a_function_at_each_call_have_a_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x, y):
        return np.sum(x * x) * y

    x, one = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    slope = ad.grad(f)
    assert _called_by_door(monkeypatch, lambda: ad.jvp(f, (x, 2.0), (one, None)))
    assert _called_by_door(monkeypatch, lambda: ad.jvp(slope, (x, 2.0), (one, None)))
    assert _called_by_door(monkeypatch, lambda: ad.hvp(f, (x, 2.0), (one, None)))
    assert _called_by_door(monkeypatch, lambda: ad.vjp(f, x, 2.0))
    assert ad.jvp(f, (x, 3.0), (one, 1.0)) == (15.0, 11.0)
    assert ad.jvp(f, (x, 3.0), (None, 1.0)) == (15.0, 5.0)
    np.testing.assert_array_equal(ad.hvp(f, (x, 3.0), (one, None))[0], [6.0, 0.0])
    assert ad.hvp(f, (x, 3.0), (None, 1.0)) == (None, 0.0)
    for y in (2.0, np.float32(2.0), 2):
        assert ad.jvp(f, (x, y), (one, None)) == (10.0, 4.0)
    value, pullback = ad.vjp(f, x, 3.0)
    assert value == 15.0 and pullback(1.0)[1] == 5.0


def test_the_fast_path_sees_what_a_function_captures() -> None:
    factor = 2.0

    def f(x):
        return factor * x

    assert [ad.jvp(f, (1.0,), (1.0,)) for _ in range(3)] == [(2.0, 2.0)] * 3
    factor = 3.0
    assert ad.jvp(f, (1.0,), (1.0,)) == (3.0, 3.0)
    assert ad.vjp(f, 1.0)[1](1.0) == (3.0,)
    factor = np.float32(4.0)
    assert ad.jvp(f, (1.0,), (1.0,)) == (4.0, 4.0)


def test_the_fast_path_keeps_no_function_alive() -> None:
    def make(k):
        return lambda x: k * x * x

    function = make(2.0)
    slope = ad.grad(function)
    watched = ref(function)
    for _ in range(3):
        assert ad.jvp(function, (1.0,), (1.0,)) == (2.0, 4.0)
        assert ad.jvp(slope, (1.0,), (1.0,)) == (4.0, 4.0)
        assert ad.vjp(function, 1.0)[0] == 2.0
    del function, slope
    gc.collect()
    assert watched() is None


def test_a_tangent_of_another_shape_or_kind_is_refused_on_the_fast_path() -> None:
    def f(x):
        return x * x

    x = np.array([1.0, 2.0])
    for _ in range(3):
        ad.jvp(f, (x,), (x,))
    for tangent in (np.ones(3), np.ones((1, 2)), np.ones(2, complex), 1.0):
        with pytest.raises(ad.DifferentiationError, match="tangent 0: expected an array"):
            ad.jvp(f, (x,), (tangent,))
    assert ad.jvp(f, (x,), (np.array([1, 0]),))[1].tolist() == [2.0, 0.0]
    assert ad.jvp(f, (x,), (np.ones(2, np.float32),))[1].dtype == np.float64
    with pytest.raises(ad.DifferentiationError, match="1 primals, but 2 tangents"):
        ad.jvp(f, (x,), (x, x))


def test_tangents_with_parts_are_looked_at_on_the_fast_path() -> None:
    def f(point, scale):
        return point["x"] * scale + np.sum(point["y"])

    point, direction = {"x": 2.0, "y": np.ones(2)}, {"x": 1.0, "y": np.ones(2)}
    for _ in range(3):
        assert ad.jvp(f, (point, 3.0), (direction, None)) == (8.0, 5.0)
        assert ad.hvp(f, (point, 3.0), (direction, 1.0))[1] == 1.0
        assert ad.jvp(f, (point, 3.0), (ad.tangents.ZERO, 1.0)) == (8.0, 2.0)
        assert ad.hvp(f, (point, 3.0), (ad.tangents.ZERO, 1.0)) == (None, 0.0)
    for wrong in ({"x": 1.0, "z": None}, {"x": 1.0, "y": np.ones(3)}, [1.0, np.ones(2)]):
        with pytest.raises(ad.DifferentiationError, match="tangent 0"):
            ad.jvp(f, (point, 3.0), (wrong, None))


def test_plain_tangents_are_looked_at_by_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x, n):
        return np.sum(x * x) * n

    x = np.array([1.0, 2.0])
    for _ in range(2):
        ad.jvp(f, (x, 2), (x, None))
        ad.hvp(f, (x, 2), (x, None))
    monkeypatch.setattr(jvp_vjp, "checked_tangents", lambda *_: pytest.fail("looked at"))
    assert ad.jvp(f, (x, 3), (x, None)) == (15.0, 30.0)
    assert ad.hvp(f, (x, 3), (x, None))[0].tolist() == [6.0, 12.0]


def test_a_function_at_the_address_of_another_is_another() -> None:
    def make(k):
        return lambda x: k * x

    for k in (2.0, 3.0, 4.0, 5.0):  # the next one is usually where the last one was
        function = make(k)
        assert [ad.jvp(function, (1.0,), (1.0,)) for _ in range(3)] == [(k, k)] * 3
        del function
    assert ad.vjp(lambda x, y=2.0: x * y, 3.0)[0] == 6.0


def test_arguments_by_name_are_not_left_out_on_the_fast_path() -> None:
    def f(x, k=2.0):
        return k * x

    for _ in range(3):
        assert ad.vjp(f, 1.0)[0] == 2.0
        assert ad.vjp(f, 1.0, k=3.0)[0] == 3.0


@pytest.mark.slow
def test_calls_are_cheap() -> None:
    derivative = ad.grad(lambda x, y: x * x * y)
    derivative(2.0, 3.0)
    call = derivative.specialized((2.0, 3.0), {}).call
    count = 20_000
    whole = min(timeit.repeat(lambda: derivative(2.0, 3.0), number=count, repeat=5)) / count
    bare = min(timeit.repeat(lambda: call(2.0, 3.0), number=count, repeat=5)) / count
    assert whole - bare < 3e-6


def test_methods_of_built_in_classes_are_the_same_each_time() -> None:
    def paths(x):
        return sum(itertools.chain.from_iterable([[x, x * x], [x]]))

    slope = ad.grad(paths)
    assert slope.specialized((1.3,), {}) is slope.specialized((1.3,), {})
    _, differential = ad.linearize(paths, 1.3)
    assert differential(1.0) == pytest.approx(4.6)


def _square(x: Any) -> Any:
    return x * x


def _cube(x: Any) -> Any:
    return x * x * x


class Reloaded:
    def method(self, x: Any) -> Any:
        return x * x

    @property
    def factor(self) -> Any:
        return 2.0


def _three(self: Any) -> Any:
    return 3.0


def _cubed(self: Any, x: Any) -> Any:
    return x * x * x


@pytest.mark.parametrize("native", [False, True])
def test_functions_that_are_given_new_code(native: bool) -> None:
    """As `autoreload` does it, which keeps the function objects that others have."""

    def helper(x: Any) -> Any:
        return _square(x) * 1.0

    reloaded = Reloaded()

    def f(x: Any) -> Any:
        return helper(x) + reloaded.method(x) * reloaded.factor

    gradient = ad.grad(f, native=native)
    assert gradient(2.0) == gradient(2.0) == gradient(2.0) == pytest.approx(12.0)
    before = _square.__code__, Reloaded.method.__code__, Reloaded.factor.fget.__code__  # type: ignore[attr-defined]
    try:
        _square.__code__ = _cube.__code__
        assert gradient(2.0) == gradient(2.0) == pytest.approx(20.0)
        Reloaded.method.__code__ = _cubed.__code__
        assert gradient(2.0) == gradient(2.0) == pytest.approx(36.0)
        Reloaded.factor.fget.__code__ = _three.__code__  # type: ignore[attr-defined]
        assert gradient(2.0) == gradient(2.0) == pytest.approx(48.0)
    finally:
        _square.__code__, Reloaded.method.__code__, Reloaded.factor.fget.__code__ = before  # type: ignore[attr-defined]
    assert gradient(2.0) == pytest.approx(12.0)
