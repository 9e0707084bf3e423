"""What a function known only at run time does to memory: it may hand on, keep and write what it is given."""

import functools
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second

Free = ad.Fn[[np.ndarray, float], np.ndarray]
X, K = np.array([0.3, 0.7, -0.4]), 0.6
CAPTURED = np.array([1.0, 2.0, 3.0])
CACHE: dict[str, Any] = {}


def remembered(v, k):
    if "it" not in CACHE:
        CACHE["it"] = v * k
    return CACHE["it"]


def writes(v, k):
    v[0] = k
    return v * 2.0


def writes_captured(v, k):
    CAPTURED[0] = 5.0
    return v * k


KINDS = {
    "makes": lambda v, k: np.exp(v) * 1.0,
    "makes and keeps": lambda v, k: np.exp(v),
    "declared": ad.differentiable_function(lambda v, k: (v * k, lambda ct: (ct * k, np.sum(ct * v)))),
    "makes two": lambda v, k: [v * 1.0, v * k][int(k > 0.0)],
    "itself": lambda v, k: v,
    "a part": lambda v, k: v[1:],
    "one of two": lambda v, k: [v * k, v][int(k < 100.0)],
    "captured": lambda v, k: CAPTURED,
    "captured or given": lambda v, k: [v, CAPTURED][int(k > 100.0)],
    "remembered": remembered,
    "writes": writes,
    "writes captured": writes_captured,
}
GIVEN = "'<lambda>' returns memory that it is given, and one of both is written"
FOUND = "'{}' may return memory that it has not made, and such memory is written"
kept = functools.lru_cache(lambda name: KINDS[name])


def result_is_written(v, name):
    f: Free = kept(name)
    w = f(v, K)
    w[0] = 0.5
    w *= w
    return np.sum(w) + np.sum(np.sin(v))


def result_is_written_and_not_read(v, name):
    f: Free = kept(name)
    w = f(v, K)
    w[0] = 0.5
    return np.sum(np.sin(v))


def result_is_written_without_a_name(v, name):
    f: Free = kept(name)
    u = v * 2.0
    f(u, K)[1] = v[0]
    return np.sum(np.sin(u))


def result_is_written_in_a_list(v, name):
    f: Free = kept(name)
    both = [f(v, K), f(v, K)]
    both[0][0] = v[1]
    return np.sum(both[1] * v[0])


def argument_is_written(v, name):
    f: Free = kept(name)
    u = v * 1.0
    w = f(u, K)
    u[1] = v[0]
    return np.sum(w) * w[0] * np.sum(u)


def nobody_reads_the_result(v, name):
    f: Free = kept(name)
    f(v, K)
    return np.sum(np.sin(v))


def captured_is_written(v, name):
    f: Free = kept(name)
    w = f(v, K)
    u = w * v
    CAPTURED[0] = 5.0
    return np.sum(u * w)


def is_it_the_argument(v, name):
    f: Free = kept(name)
    w = f(v, K)
    return np.sum(w * w) if w is v else np.sum(v)


WRITE_RESULTS = (
    result_is_written,
    result_is_written_and_not_read,
    result_is_written_without_a_name,
    result_is_written_in_a_list,
)


@pytest.fixture(autouse=True)
def _as_it_was():
    CAPTURED[:] = [1.0, 2.0, 3.0]
    CACHE.clear()


@pytest.mark.parametrize("name", ["makes", "makes and keeps", "declared"])
@pytest.mark.parametrize("program", [*WRITE_RESULTS, argument_is_written, nobody_reads_the_result])
def test_what_a_function_makes_may_be_written(program, name):
    right(program, X, name)
    second(lambda v: program(v, name), X)


def test_what_a_function_makes_may_lie_in_a_list():
    right(result_is_written, X, "makes two")


def _ways(program, name):
    return (
        lambda: ad.grad(program)(X.copy(), name),
        lambda: ad.value_and_grad(program)(X.copy(), name),
        lambda: ad.vjp(program, X.copy(), name),
        lambda: ad.jvp(program, (X.copy(), name), (X, None)),
        lambda: ad.hvp(program, (X.copy(), name), (X, None)),
    )


def _refused(program, name):
    """What is said where the gradient, the pullback, the tangent and the second order are refused."""
    said = set()
    for way in _ways(program, name):
        (problem,) = refused(way).diagnostics
        said.add((problem.code, problem.labels[0].text))
    ((code, note),) = said
    assert code == "AD0303"
    return note


@pytest.mark.parametrize("name", ["itself", "a part", "one of two"])
@pytest.mark.parametrize("program", [*WRITE_RESULTS, argument_is_written])
def test_arguments_that_are_handed_back(program, name):
    assert _refused(program, name) == GIVEN


@pytest.mark.parametrize("program", WRITE_RESULTS)
def test_what_it_has_captured_or_remembers(program):
    assert _refused(program, "captured") == FOUND.format("<lambda>")
    for way in _ways(program, "remembered"):
        CACHE.clear()
        assert refused(way).diagnostics[0].code in ("AD0302", "AD0303")


def test_what_it_has_captured_or_was_given():
    assert _refused(result_is_written, "captured or given") == FOUND.format("<lambda>")
    assert _refused(argument_is_written, "captured or given") == GIVEN
    right(nobody_reads_the_result, X, "captured or given")


@pytest.mark.parametrize(
    "program", [nobody_reads_the_result, argument_is_written, result_is_written, is_it_the_argument]
)
def test_arguments_that_it_writes(program):
    assert _refused(program, "writes") == "'writes' writes memory that it is given"


def test_captured_memory_that_is_written():
    assert _refused(captured_is_written, "captured") == FOUND.format("<lambda>")
    right(captured_is_written, X, "makes")
    said = refused(lambda: ad.grad(result_is_written)(X, "writes captured")).diagnostics[0].labels[0].text
    assert said == "'writes_captured' writes memory that it has captured"


def test_what_nobody_writes_may_be_shared():
    for name in ("itself", "a part", "one of two"):
        right(nobody_reads_the_result, X, name)
        right(is_it_the_argument, X, name)
    second(lambda v: is_it_the_argument(v, "itself"), X)


def test_arrays_that_cannot_be_written_raise_as_they_do():
    fixed = X.copy()
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        nobody_reads_the_result(fixed, "writes")
    with pytest.raises(ValueError, match="read-only"):
        ad.grad(nobody_reads_the_result)(fixed, "writes")


def test_captured_memory_that_others_share():
    shared, held = np.ones(3), [1.0]
    part = shared[1:]
    held.append(shared)

    def argument(v):
        shared[0] = 5.0
        return np.sum(v * v)

    def another(v):
        shared[:] = 0.5
        return np.sum(v * v) * part[0] * np.sum(v)

    def in_a_list(v):
        y = v * held[1]
        shared[:] = 0.5
        return np.sum(y * v * held[1])

    right(argument, X)
    for program, x, pair in (
        (argument, shared, "argument 0 and the captured 'shared'"),
        (another, X, "the captured 'part' and the captured 'shared'"),
        (in_a_list, X, "the captured 'held' and the captured 'shared'"),
    ):
        for way in (lambda f=program, x=x: ad.grad(f)(x), lambda f=program, x=x: ad.jvp(f, (x,), (X,))):
            (problem,) = refused(way).diagnostics
            assert problem.labels[0].text == f"{pair} share memory, and the function writes one"
