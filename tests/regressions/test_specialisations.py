"""One derivative per program and kinds of arguments: neither wrong hits nor endless misses."""

import copyreg
import gc
import math
import pickle
import threading
import types

import numpy as np
import pytest

import adjoint as ad


def test_two_functions_of_one_text_and_different_globals() -> None:
    text = "def f(x):\n    return K * x\n"
    import linecache

    filename = "<one text>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    code = compile(text, filename, "exec")
    first, second = {"K": 2.0}, {"K": 5.0}
    exec(code, first)
    exec(code, second)
    assert ad.grad(first["f"])(1.0) == 2.0
    assert ad.grad(second["f"])(1.0) == 5.0


def test_two_functions_of_one_code_and_different_callees() -> None:
    def apply(x):
        return helper(x)  # noqa: F821

    twice = types.FunctionType(apply.__code__, {"helper": lambda t: 2 * t})
    square = types.FunctionType(apply.__code__, {"helper": lambda t: t * t})
    assert ad.grad(twice)(3.0) == 2.0
    assert ad.grad(square)(3.0) == 6.0


def test_closures_of_one_code() -> None:
    def make(k):
        return lambda x: k * x

    assert [ad.grad(make(k))(1.0) for k in (2.0, 3.0, 4.0)] == [2.0, 3.0, 4.0]


def test_closures_over_functions() -> None:
    def make(f):
        return lambda x: f(x) * x

    assert ad.grad(make(math.exp))(0.0) == 1.0
    assert ad.grad(make(lambda t: 3.0 * t))(2.0) == 12.0


def test_two_and_two_point_zero() -> None:
    def f(x, n):
        return x / n if isinstance(n, int) else x * n

    g = ad.grad(f)
    assert g(3.0, 2) == 0.5
    assert g(3.0, 2.0) == 2.0
    assert g(3.0, True) == 1.0


def test_integer_powers() -> None:
    g = ad.grad(lambda x, n: x**n)
    assert [g(2.0, n) for n in (0, 1, 2, 3)] == [0.0, 1.0, 4.0, 12.0]
    assert g(2.0, 3.0) == pytest.approx(12.0)


def test_flags_and_strings() -> None:
    def f(x, mode="square", negate=False):
        y = x * x if mode == "square" else x
        return -y if negate else y

    g = ad.grad(f)
    assert g(3.0) == 6.0
    assert g(3.0, "other") == 1.0
    assert g(3.0, negate=True) == -6.0


def test_global_data_is_read_at_each_call() -> None:
    namespace = {"K": 2.0}
    f = types.FunctionType((lambda x: K * x).__code__, namespace)  # noqa: F821
    g = ad.grad(f)
    assert g(1.0) == 2.0
    namespace["K"] = 7.0
    assert g(1.0) == 7.0


def test_global_function_that_is_replaced() -> None:
    namespace = {"helper": math.sin}
    f = types.FunctionType((lambda x: helper(x)).__code__, namespace)  # noqa: F821
    g = ad.grad(f)
    assert g(0.0) == 1.0
    namespace["helper"] = math.cos
    assert g(0.0) == 0.0


def test_captured_data_is_read_at_each_call() -> None:
    k = 2.0

    def f(x):
        return k * x

    g = ad.grad(f)
    assert g(1.0) == 2.0
    k = 5.0
    assert g(1.0) == 5.0


def test_every_new_length_is_no_new_specialisation() -> None:
    g = ad.grad(lambda xs, n: sum(x * n for x in xs))
    texts = {ad.source(g, [1.0] * length, n) for length in (1, 2, 5) for n in (1, 2, 3)}
    assert len(texts) == 1


def test_same_text_each_time() -> None:
    def f(x, y):
        z = x * y
        for i in range(3):
            z = math.sin(z) * x
        return z

    assert ad.source(ad.grad(f), 1.0, 2.0) == ad.source(ad.grad(f), 3.0, 4.0)


def test_fresh_lambdas_at_each_call_do_not_grow_memory() -> None:
    def step(k):
        return ad.grad(lambda x: k * x * x)(1.0)

    for k in range(3):
        step(float(k))
    gc.collect()
    before = len(gc.get_objects())
    for k in range(50):
        assert step(float(k)) == 2.0 * k
    gc.collect()
    assert len(gc.get_objects()) - before < 50 * 5


def test_threads() -> None:
    def f(x):
        for _ in range(20):
            x = math.sin(x) * 1.01
        return x

    g = ad.grad(f)
    results: list[float] = []

    def work() -> None:
        results.append(g(0.5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    assert len(results) == 4


def module_level(x):
    return x * x * x


def test_derivatives_are_pickled_where_the_function_is() -> None:
    assert copyreg.dispatch_table is not None
    g = pickle.loads(pickle.dumps(ad.grad(module_level)))
    assert g(2.0) == 12.0


def test_function_redefined() -> None:
    def f(x):
        return x * x

    first = ad.grad(f)(3.0)

    def f(x):
        return x * x * x

    assert (first, ad.grad(f)(3.0)) == (6.0, 27.0)


def test_different_dtypes() -> None:
    g = ad.grad(lambda x: np.sum(x * x))
    assert g(np.ones(2)).dtype == np.float64
    assert g(np.ones(2, dtype=np.float32)).dtype == np.float32
    assert g(np.ones(2)).dtype == np.float64


def test_different_ranks() -> None:
    g = ad.grad(lambda x: np.sum(x * np.array([1.0, 2.0])))
    np.testing.assert_array_equal(g(np.ones(2)), [1.0, 2.0])
    np.testing.assert_array_equal(g(np.ones((3, 2))), [[1.0, 2.0]] * 3)
    np.testing.assert_array_equal(g(np.ones((3, 1))), [[3.0]] * 3)
