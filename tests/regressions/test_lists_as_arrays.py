"""Functions of NumPy that are handed lists and tuples of what varies."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

A = np.array([1.0, 2.0, 0.5])
ITEMS = [1.0, 2.0, 0.5]

PROGRAMS = {
    "sum": lambda v: np.sum(v),
    "mean": lambda v: np.mean(v),
    "max": lambda v: np.max(v),
    "prod": lambda v: np.prod(v),
    "std": lambda v: np.std(v),
    "dot": lambda v: np.dot(v, A),
    "inner": lambda v: np.inner(v, v),
    "outer": lambda v: np.sum(np.outer(v, v)),
    "einsum": lambda v: np.einsum("i,i->", v, A),
    "norm": lambda v: np.linalg.norm(v),
    "exp": lambda v: np.sum(np.exp(v)),
    "add": lambda v: np.sum(np.add(v, A) * A),
    "power": lambda v: np.sum(np.power(v, 2)),
    "maximum": lambda v: np.sum(np.maximum(v, A * 0.9)),
    "clip": lambda v: np.sum(np.clip(v, 0.6, 1.5)),
    "where": lambda v: np.sum(np.where(A > 1, v, A)),
    "cumsum": lambda v: np.sum(np.cumsum(v) ** 2),
    "diff": lambda v: np.sum(np.diff(v) ** 2),
    "sort": lambda v: np.sum(np.sort(v) * A),
    "interp": lambda v: np.interp(0.3, [0.0, 1.0, 2.0], v),
    "reshape": lambda v: np.sum(np.reshape(v, (3, 1)) * A),
    "atleast_2d": lambda v: np.sum(np.atleast_2d(v) ** 2),
    "stack": lambda v: np.sum(np.stack([v, A]) ** 2),
    "vstack": lambda v: np.sum(np.vstack([v, v]) ** 2),
    "concatenate": lambda v: np.sum(np.concatenate([v, A]) ** 2),
    "sum of a list of lists": lambda v: np.sum([v, v], axis=0)[0],
    "array of a list of lists": lambda v: np.sum(np.array([v, v, ITEMS]) ** 2),
    "sum of a tuple": lambda v: np.sum((v[0], v[1] * v[2])),
    "mean of a comprehension": lambda v: np.mean([x * x for x in v]),
}


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("name", PROGRAMS)
def test_function(name, kind) -> None:
    check_grads(PROGRAMS[name], (kind(ITEMS),))


def test_a_list_that_grows() -> None:
    def f(x):
        items = []
        for i in range(3):
            items.append(x * i)
        return np.sum(items) * np.linalg.norm(items) + np.mean([items, items], axis=0)[2]

    check_grads(f, (0.7,))


def test_the_derivative_of_a_function_of_numpy_itself() -> None:
    assert ad.grad(np.sum)([[1.0, 2.0], [3.0]][0]) == [1.0, 1.0]
    assert ad.grad(np.sum)([[[1.0]]]) == [[[1.0]]]
    assert ad.grad(np.mean)((1.0, 3.0)) == (0.5, 0.5)


def appended(x):
    items = []
    for _ in range(3):
        items.append(x)
    return items


def written(x, a):
    a *= [x]
    a += (x,)
    a[1:] -= [x * x]
    a[1:] *= [x]
    a[[0, 1]] = [x * x]
    return a @ a


def written_by_functions(x, a):
    b = np.zeros(3)
    b.fill(x)
    np.copyto(b, [x])
    np.add.at(b, [0, 1, 1], [x])
    np.put(b, [0, 1], [x])
    b[a > 0.6] = [x**3]
    np.add(b, [x], out=b)
    return b @ a


def in_place_of_a_list(x, a):
    items = appended(x)
    items += a
    return items[1] * items[0] * len(items)


WITH_ARRAYS = {
    "sum": lambda x, a: np.sum(([x] + a) ** 2),
    "sum of the same length": lambda x, a: np.sum((a + [x, x * x, 1.0]) ** 2),
    "product": lambda x, a: np.sum((a * [x]) ** 2),
    "difference to a tuple": lambda x, a: np.sum((a - (x, x * x, 1.0)) ** 2),
    "product of matrices": lambda x, a: a @ [x, 1.0, x],
    "comparison": lambda x, a: x * np.sum(a > [x, x, x]),
    "a list at run time": lambda x, a: np.sum((a / appended(x)) ** 2),
    "a row": lambda x, a: np.sum((np.outer(a, a) * appended(x)) ** 2),
    "in place of a list": in_place_of_a_list,
    "written": written,
    "written by functions": written_by_functions,
}


@pytest.mark.parametrize("name", WITH_ARRAYS)
def test_operator_with_an_array(name) -> None:
    check_grads(WITH_ARRAYS[name], (0.3, A))


def test_a_list_times_what_may_be_a_whole_number() -> None:
    """It was taken for an array, and its product for twice the array, where the list is repeated."""

    def f(b, n, limit):
        k = [n] if limit > 5 else n
        count = -(-3 // k)
        return np.sum(np.concatenate([b] * count) ** 2)

    assert ad.grad(f)(np.array([1.0, 2.0]), 2, 1).tolist() == [4.0, 8.0]
    assert ad.grad(f, native=True)(np.array([1.0, 2.0]), 2, 1).tolist() == [4.0, 8.0]
    with pytest.raises(TypeError):
        ad.grad(f)(np.array([1.0, 2.0]), 2, 9)

    def of_none(b, n, limit):
        k = None if limit > 5 else n
        count = -(-3 // k)
        return np.sum(np.concatenate([b] * count) ** 2)

    assert ad.grad(of_none)(np.array([1.0, 2.0]), 2, 1).tolist() == [4.0, 8.0]
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for //: 'int' and 'NoneType'"):
        ad.grad(of_none)(np.array([1.0, 2.0]), 2, 9)

    def g(b, limit):
        factor = b[0] if limit > 5 else b
        return np.sum([b[0], b[1]] * factor)

    assert ad.grad(g)(np.array([1.0, 2.0]), 1).tolist() == [2.0, 4.0]
    assert ad.grad(g)(np.array([1.0, 2.0]), 9).tolist() == [4.0, 1.0]
