"""What is a view, what is a copy: every way by which a second name for an array comes about."""

import copy
import operator

import numpy as np

from programs.registry import program

VECTOR = np.array([1.3, -0.4, 0.7, 2.1])
MATRIX = np.arange(9.0).reshape(3, 3) / 3 + 0.2


@program(VECTOR)
def array_copy_false(x):
    a = x.copy()
    b = np.array(a, copy=False)
    b[0] *= 3
    return np.sum(a * x)


@program(VECTOR)
def array_copy_none(x):
    a = x.copy()
    b = np.array(a, copy=None)
    b[0] *= 3
    return np.sum(a * x)


@program(VECTOR)
def astype_nocopy(x):
    a = x.copy()
    b = a.astype(float, copy=False)
    b[0] *= 3
    return np.sum(a * x)


@program(VECTOR)
def astype_copy(x):
    a = x.copy()
    b = a.astype(float)
    b[0] *= 3
    return np.sum(a * b)


@program(VECTOR)
def nan_to_num_inplace(x):
    a = x.copy()
    a2 = np.nan_to_num(a * a, copy=False)
    a2[0] = 1
    return np.sum(a * a2)


@program(VECTOR)
def nan_to_num_inplace2(x):
    a = x.copy()
    np.nan_to_num(a, copy=False, nan=0.0)
    a[0] *= 2
    return np.sum(a * x)


@program(VECTOR)
def clip_positional(x):
    a = x * 1
    np.clip(a, 0.0, 1.0, a)
    return np.sum(a * x)


@program(VECTOR)
def clip_method(x):
    a = x * 1
    a.clip(0.0, 1.0, a)
    return np.sum(a * x)


@program(MATRIX)
def dot_positional(m):
    a = m.copy()
    o = np.zeros((3, 3))
    np.dot(a, m, o)
    return np.sum(o * m)


@program(MATRIX)
def sum_positional(m):
    o = np.zeros(3)
    np.sum(m * m, 0, None, o)
    return np.sum(o * o)


@program(MATRIX)
def einsum_diag(m):
    a = m.copy()
    d = np.einsum("ii->i", a)
    d += m[0]
    d *= 2
    return np.sum(a * m)


@program(MATRIX)
def einsum_transpose(m):
    a = m.copy()
    d = np.einsum("ij->ji", a)
    d[0] += m[0]
    return np.sum(a * m)


@program(VECTOR)
def op_setitem(x):
    a = x.copy()
    operator.setitem(a, 0, x[1] * x[2])
    return np.sum(a * x)


@program(VECTOR)
def dunder_setitem(x):
    a = x.copy()
    a.__setitem__(0, x[1] * x[2])
    return np.sum(a * x)


@program(MATRIX)
def list_of_rows(m):
    a = m.copy()
    rows = list(a)
    rows[0][1] = m[2, 2] * m[0, 0]
    rows[1] *= 2
    return np.sum(a * m)


@program(MATRIX)
def tuple_of_rows(m):
    a = m.copy()
    u, _, w = tuple(a)
    u *= w
    return np.sum(a * m)


@program(MATRIX)
def comp_rows(m):
    a = m.copy()
    rows = [r for r in a]
    rows[0] *= rows[1]
    return np.sum(a * m)


@program(MATRIX)
def rev_rows(m):
    a = m.copy()
    for r in reversed(a):
        r *= 2
        r[0] = a[0, 0]
    return np.sum(a * m)


@program(MATRIX)
def zip_star(m):
    a = m.copy()
    above, below = a[:-1], a[1:]
    for r, s in zip(above, below, strict=True):
        s += r
    return np.sum(a * m)


@program(MATRIX)
def map_rows(m):
    a = m.copy()

    def g(r):
        r *= 2
        return r.sum()

    t = sum(map(g, a))
    return np.sum(a * m) * t


@program(VECTOR)
def copy_copy(x):
    a = x.copy()
    b = copy.copy(a)
    b[0] = x[1] * x[1]
    return np.sum(a * b)


@program(VECTOR)
def copy_deep(x):
    a = [x.copy(), x * 2]
    b = copy.deepcopy(a)
    b[0][0] = x[1] * x[1]
    return np.sum(a[0] * b[0] * b[1])


@program(VECTOR)
def reshape_F(x):
    a = x.reshape(2, 2).copy()
    b = a.reshape(4, order="F")
    b[1] = 7
    return np.sum(a * a) + np.sum(b * b)


@program(VECTOR)
def conj_method(x):
    a = x.copy()
    b = a.conj()
    b[0] = x[1] * 2
    return np.sum(a * x)


@program(VECTOR)
def conj_func(x):
    a = x.copy()
    b = np.conj(a)
    b[0] = x[1] * 2
    return np.sum(a * x)


@program(VECTOR)
def round_method(x):
    a = x.copy()
    b = np.positive(a)
    b[0] = x[1] * 2
    return np.sum(a * x * b)


@program(VECTOR)
def plus_is_a_copy(x):
    a = x.copy()
    b = +a
    b[0] = x[1] * 2
    return np.sum(a * x * b)


@program(VECTOR)
def slice_object(x):
    a = x.copy()
    s = slice(1, 3)
    b = a[s]
    b *= 2
    a[np.s_[0:2]] += 1
    return np.sum(a * x)


@program(VECTOR)
def swap_slices(x):
    a = x.copy()
    a[:2], a[2:] = (a[2:].copy(), a[:2].copy())
    return np.sum(a * x * x)


@program(VECTOR)
def swap_slices_alias(x):
    a = x.copy()
    a[:2], a[2:] = (a[2:], a[:2])
    return np.sum(a * x * x)


@program(VECTOR)
def augment_reads_itself(x):
    a = x.copy()
    a[0] += a[0] * a[1]
    a[1:3] *= a[0:2]
    a[a > 0] += a[0]
    return np.sum(a * x)


@program(VECTOR)
def matmul_inplace(x):
    a = x.reshape(2, 2).copy()
    v = a[0]
    a @= a.T.copy()
    return np.sum(a) * np.sum(v)


@program(VECTOR)
def chained(x):
    a = x.copy()
    b = a[1:]
    c = b[::2]
    a = a * 2
    c[0] = 9 * x[0]
    return np.sum(a) + np.sum(b * b)


@program(VECTOR)
def ndarray_from_dict_values(x):
    d = {"a": x.copy(), "b": x * 2}
    for v in d.values():
        v *= 2
    for k, v in d.items():
        v[0] = x[1]
    return np.sum(d["a"] * d["b"])


@program(VECTOR)
def setdefault_alias(x):
    d = {}
    v = d.setdefault("a", x * 1.0)
    v[0] = 7 * x[1]
    d["a"][1] *= 2
    return np.sum(d["a"] * v)


@program(VECTOR)
def default_arg_alias(x):

    def g(a, b=None):
        b = a if b is None else b
        b[0] = a[1] * 2
        return b

    a = x.copy()
    c = g(a)
    c[1] *= 3
    d = g(a, x * 2)
    d[2] = a[0]
    return np.sum(a * c * d)


@program(VECTOR)
def min_max_inplace(x):
    a = x.copy()
    np.maximum(a, 0, out=a)
    np.minimum(a, a[::-1], out=a)
    return np.sum(a * x)


@program(VECTOR)
def where_view(x):
    a = x.copy()
    b = np.where(True, a, 0.0)
    b[0] = 5
    return np.sum(a * b)


@program(VECTOR)
def asfortran(x):
    a = x.reshape(2, 2).copy()
    b = np.asfortranarray(a)
    b[0, 1] = 7
    return np.sum(a * a) + np.sum(b * b)


@program(VECTOR)
def ctor_float(x):
    a = x.copy()
    s = a[0]
    a[0] = 5
    t = float(a[1])
    a[1] = s * t
    return np.sum(a * x) * s * t


@program(VECTOR)
def index_expr(x):
    a = x.copy()
    i = 0
    a[i] += (i := 2) * x[1]
    return np.sum(a * x)


@program(VECTOR)
def nested_calls(x):

    def put(a, i, v):
        a[i] = v
        return a

    a = x.copy()
    return np.sum(put(put(a, 0, x[1]), 1, a[0] * 2) * a)


@program(VECTOR)
def swap_names(x):
    a, b = (x.copy(), x * 2)
    a[0], b[0] = (b[0], a[0])
    a, b = (b, a)
    a[1] *= b[1]
    return np.sum(a * x) - np.sum(b * b)
