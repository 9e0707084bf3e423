"""What random programs have found; each as small as it could be made."""

import collections
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from fuzz.inlining import repeating
from regressions.support import right_or_refused
from sampling import check_grads

A = np.array([0.24, -0.38, 0.539])


def test_slice_stored_in_its_own_place() -> None:
    def f(x):
        y = x * 1.0
        y[1:] = y[1:]
        return np.sum(y * y)

    check_grads(f, (A,))


def test_slices_that_overlap_in_a_loop_over_the_array() -> None:
    def f(x):
        y = x * 1.0
        for v in x:
            y[1:] = y[:1] * v
        return np.sum(y * x)

    check_grads(f, (A,))


def test_copy_made_on_one_branch_of_an_array_that_is_written() -> None:
    def f(x, u):
        u[2] *= x
        if x > 0.0:
            u = u.copy()
        return u

    check_grads(f, (0.3, A), order=1)
    check_grads(f, (-0.3, A), order=1)


def test_pullback_called_twice_with_a_list_made_on_one_branch() -> None:
    def f(x, y):
        if x > 0.86:
            return 1.0
        made = [x, 1.0, x * y]
        x = made[x > 0.1]
        return made[-1] * x

    _, pullback = ad.vjp(f, -1.1, 0.4)
    assert pullback(1.0) == pullback(1.0)
    check_grads(f, (-1.1, 0.4))


def test_pullback_fills_views_of_the_array_that_it_returns() -> None:
    def f(z):
        for _ in z:
            n = 0
            part = z[:1]
            part[n] *= 0.08
        return z

    check_grads(f, (A,), order=1)


def test_rows_picked_in_a_loop_are_views_of_one_shadow() -> None:
    def f(x, u):
        m = np.outer(x, x)
        row = m[0]
        for i in range(3):
            row[i] += u
            row = m[i]
        return m

    right_or_refused(f, A, 0.7)


def test_length_of_a_list_before_and_after_it_grows() -> None:
    def f(x, y):
        before = len(y)
        y.append(x)
        return x * before + x * x * len(y)

    assert ad.grad(f)(2.0, [1.0]) == 1.0 + 2 * 2.0 * 2
    check_grads(f, (2.0, [1.0]), wrt=0, order=1)


def test_list_that_grows_and_shrinks_is_left_as_it_is() -> None:
    def f(x, y):
        y.append(len(y))
        if len(y) > 1:
            y.pop()
        return 0.5 * x

    y = [0.284]
    ad.vjp(f, 1.0, y)
    assert y == [0.284]


def test_list_of_whole_numbers_on_one_branch() -> None:
    def f(x):
        if x > 2.0:
            return [1, 2]
        return [x, x * x, x]

    assert ad.jvp(f, (1.0,), (1.0,))[1] == [1.0, 2.0, 1.0]
    right_or_refused(f, 1.0)


def test_element_of_a_list_of_whole_numbers_or_of_floats() -> None:
    def f(x):
        if x > 2.0:
            y = [1, 2]
        else:
            y = [x, x]
        y.append(x)
        return y[0] + y[1] * y[2]

    assert ad.jvp(f, (1.0,), (1.0,)) == (2.0, 3.0)
    assert ad.jvp(f, (3.0,), (1.0,)) == (7.0, 2.0)
    right_or_refused(f, 1.0)
    right_or_refused(f, 3.0)


def test_gradient_of_a_list_that_the_function_makes_longer() -> None:
    def f(x, z):
        z.append(x)
        return z[0] * z[-1]

    assert ad.grad(f, wrt=(0, 1))(0.5, [2.0, 3.0]) == (2.0, [0.5, 0.0])
    _, pullback = ad.vjp(f, 0.5, [2.0, 3.0])
    assert pullback(1.0) == (2.0, [0.5, 0.0])


def test_pullback_does_not_look_at_arguments_that_were_changed_since() -> None:
    def f(x, z):
        return x * z[0]

    z = [2.0, 3.0]
    _, pullback = ad.vjp(f, 0.5, z)
    z.clear()
    assert pullback(1.0) == (2.0, [0.5, 0.0])


def test_element_is_read_before_the_call_that_is_added_to_it() -> None:
    def g(x):
        x[0] = 5.0 * x[1]
        return x[1]

    def f(u):
        u[0] += g(u)
        u[1:] += g(u)
        return u

    check_grads(f, (A[:2],), order=1)


def test_integers_among_floats_in_an_array() -> None:
    def f(x, y):
        return np.array([x, y, 2])

    _, tangent = ad.jvp(f, (1.0, 2.0), (3.0, 4.0))
    assert tangent.dtype == float
    assert tangent.tolist() == [3.0, 4.0, 0.0]


def test_integers_among_floats_in_a_list() -> None:
    def f(x, n):
        xs = [x, 2, x * x]
        for i in range(n):
            xs.append(3)
            xs[i] = xs[i] * xs[i + 1]
        return sum(xs)

    # x * 2 + 2 * x**2 + x**2 + 3 + 3 at n = 2
    assert f(1.5, 2) == 1.5 * 2 + 2 * 2.25 + 2.25 + 6
    assert ad.grad(f)(1.5, 2) == 2 + 4 * 1.5 + 2 * 1.5


def test_view_of_an_array_that_a_loop_writes() -> None:
    def f(x, u0):
        u = u0 * 1.0
        for i in range(2):
            u *= np.cos(u)
            x = x * u[i][i - 1]
        return x

    u = np.array([[0.3, 0.4, 0.5], [0.6, 0.7, 0.8]])
    gradient = ad.grad(f, wrt=1)(0.5, u.copy())
    for place in np.ndindex(u.shape):
        step = np.zeros_like(u)
        step[place] = 1e-6
        difference = (f(0.5, u + step) - f(0.5, u - step)) / 2e-6
        assert gradient[place] == pytest.approx(difference, abs=1e-8)


def test_an_integer_on_one_path_where_others_return_a_float() -> None:
    def f(x, y, n):
        if n % 2:
            return (2, np.sin(np.full(3, y[-4])))
        return (x - x * y[0], y[:-1])

    for n in (1, 2):
        check_grads(f, (0.3, np.array([0.2, -0.4, 0.5, 0.1]), n), wrt=(0, 1))


def test_a_value_that_gets_a_second_name() -> None:
    def same(x):
        y = x  # noqa: F841
        return x

    def f(y, u):
        y /= same(np.mean(u))
        return y

    check_grads(f, (0.7, np.array([1.0, 2.0])))


def test_what_is_made_in_an_iteration_and_not_read_after_it() -> None:
    def f(x, n):
        total = x
        for i in range(n):
            pair = (x, i)
            several = [x] * (i + 1)
            if i % 2:
                scaled = lambda t, i=i: t * x * i
            else:
                scaled = lambda t: t * total
            if total > 50.0:
                break
            total += scaled(pair[0]) + len(several)
        return total

    check_grads(f, (1.3, 4), wrt=0)


def test_what_an_iteration_leaves_to_the_next_one() -> None:
    def f(x, n):
        total = kept = x
        for i in range(n):
            if i % 2:
                kept = kept * x
                continue
            if i > 2:
                total += kept
            made = total * kept
            kept = made + x
        return total + kept

    check_grads(f, (0.7, 6), wrt=0)


def test_least_of_a_number_that_varies_and_constants() -> None:
    def f(x):
        return min(x, 2, 0.4) + max(x, 0, -x)

    check_grads(f, (0.3,))
    check_grads(f, (0.8,))


def test_outcome_of_any_that_is_also_the_value() -> None:
    def f(x, y):
        found = x > 2.0 or (any(y) or 0.3)
        return x * found

    check_grads(f, (0.6, [0.0, 0.0]), wrt=0)
    check_grads(f, (0.6, [0.0, 1.5]), wrt=0)


def test_truth_of_a_value_that_is_a_number_or_a_module() -> None:
    def f(x, y):
        chosen = (lambda: y if x else np)()
        if chosen > x:
            x = x * 2.0
        return x

    right_or_refused(f, 0.875, 1.0)


@dataclass
class Pair:
    first: float
    second: float


def test_zero_of_what_has_no_value_on_the_path_that_is_taken() -> None:
    def f(x, y):
        if x:
            limit = 1
            if 1.0 > limit:
                pair = Pair(y, y)  # noqa: F841
            elif limit > x:
                return 0.71
        else:
            y[2] = y
        return 0.63

    gradient = ad.grad(f, (0, 1))
    (_, y_bar), (x_dot, y_dot) = ad.jvp(gradient, (0.988, np.array(0.232)), (1.0, np.array(1.0)))
    assert (y_bar, x_dot, y_dot) == (0.0, 0.0, 0.0)


def test_more_lists_in_calls_of_calls_than_fit_into_a_few_attempts() -> None:
    def inner(x, depth):
        if depth <= 0:
            return sum([x for _ in range(2)])
        first = inner(x, depth - 1) * sum([x for _ in range(3)])
        return first + max([inner(x * 0.5, depth - 1) for _ in range(2)])

    def f(x):
        return inner(x, 3) + inner(-x, 3)

    check_grads(f, (0.7,), order=1)


def test_places_that_are_listed_in_the_source() -> None:
    def f(x, c, n):
        a = x * 1.0
        for i in range(n):
            a[[0, 2]] = a[[2, 1]] * c
            a[[-1]] *= x[i]
        b = np.ones((2, 3)) * c
        b[[1, 0], 1:] = a[1:]
        return np.sum(a * x) + np.sum(b * a)

    check_grads(f, (A, 1.3, 2), wrt=(0, 1))


def test_places_that_are_one() -> None:
    def twice(x, c):
        a = x * 1.0
        a[[0, 0]] = c
        return np.sum(a * x)

    def from_both_ends(x, c):
        a = x * 1.0
        a[[0, -3]] = c
        return np.sum(a * x)

    for f in (twice, from_both_ends):
        check_grads(f, (A, np.array([0.3, 0.7])))


def test_list_of_places_that_changes() -> None:
    def f(x):
        places = [0, 1]
        places[1] = 0
        return np.sum(x[places])

    check_grads(f, (A,))


@pytest.mark.parametrize("f", [lambda x, y: [1.0, x] * y, lambda x, y: y * [x, 2.0], lambda x, y: [x, x] + y])
def test_a_list_and_an_array_in_one_operation(f) -> None:
    check_grads(f, (0.5, np.array([1.0, 3.0])))


def test_a_list_that_was_appended_to_times_an_array() -> None:
    def f(x, y):
        items = []
        for _ in range(2):
            items.append(x)
        return items * y

    check_grads(f, (0.5, np.array([1.0, 3.0])))


def test_names_bound_by_finally() -> None:
    def f(x):
        y = x * 2.0
        try:
            y = y * x
            if x > 3.0:
                return y
            z = y + x
        finally:
            v = y
        return v * z

    check_grads(f, (2.0,))
    check_grads(f, (4.0,))


def test_ways_out_of_an_iteration_through_finally() -> None:
    def f(x, n):
        s = x
        for i in range(n):
            try:
                s = s * x
                if s > 5.0:
                    break
                if i == 1:
                    continue
                s = s + 1.0
            finally:
                t = s
            s = t * 0.5
        return s + t

    check_grads(f, (1.3, 4), wrt=0)
    check_grads(f, (2.3, 4), wrt=0)


def test_what_is_read_after_a_jump_through_finally() -> None:
    def f(x, n):
        s = x
        for i in range(n):
            try:
                if i == 2:
                    continue
            finally:
                print(end="")
            s = x * x * i
        return s

    for n in range(5):
        check_grads(f, (1.3, n), wrt=0)


def test_exception_passes_through_finally() -> None:
    def f(x):
        try:
            y = 1.0 / x
        finally:
            v = x
        return y * v * x

    check_grads(f, (2.0,))
    with pytest.raises(ZeroDivisionError):
        ad.grad(f)(0.0)


def test_array_read_by_element_that_only_one_path_makes() -> None:
    def f(x, y):
        larger = y > x
        if larger:
            v = np.array([y, x])
        if larger:
            y -= v[1]
        return y

    check_grads(f, (0.9, 0.6))
    check_grads(f, (0.3, 0.6))


def test_written_array_that_only_some_iterations_make() -> None:
    def f(x, n):
        s = 0.0
        for i in range(n):
            odd = i % 2 == 1
            if odd:
                v = x * i
                v[0] *= 2.0
            if odd:
                s += v[0] * v[1]
            if i == 4:
                break
        if odd:
            s += v[1]
        return s

    for n in (1, 2, 3, 6):
        check_grads(f, (np.array([0.3, 0.7]), n), wrt=0)


def test_lists_of_one_place_that_hold_something_else_in_each_call() -> None:
    def collected(x, n):
        made = []
        for _ in range(n):
            made.append(x)
        return made

    def f(x, n):
        numbers, arrays, whole, none = collected(x, n), collected(x * A, n), collected(n, n), collected(x, 0)
        return sum(numbers) + np.sum(arrays[0]) * whole[-1] + len(none) * x

    check_grads(f, (0.7, 3), wrt=0)


def test_a_list_that_holds_integers_on_some_paths() -> None:
    def f(x, y):
        for i in range(4):
            x = max(sum([c for _ in y if i]) for c in y)
        return x

    check_grads(f, (0.7, [0.3, 0.9, 0.6]))


def test_integers_beside_floats_in_a_list_stand_for_floats() -> None:
    def f(items):
        total = 0.0
        for item in items:
            total = total + item * item
        return total

    assert ad.grad(f)([2.0, 3, np.float32(3.0)]) == [4.0, 6.0, np.float32(6.0)]
    assert ad.grad(lambda d: d["a"][0] * d["k"][1])({"a": [1.0, 2.0], "k": [1, 2]}) == {"a": [2.0, 0.0], "k": None}


@pytest.mark.parametrize(
    "f", [lambda x: divmod(x, 1)[1] * x, lambda x: math.hypot(0, x), lambda x: math.hypot(x, 2) * divmod(7, x)[1]]
)
def test_whole_numbers_in_functions_of_several_arguments(f) -> None:
    check_grads(f, (0.37,))


def test_lists_that_names_move_between_take_arrays_whose_cotangent_nobody_shares() -> None:
    def f(x, y):
        kept = []
        for i in range(3):
            kept.append(y * i)
        kept[1] = y * x
        for i in range(3):
            kept = kept
            y[i] += x * np.sum(kept[i])
        return np.sum(y * y)

    check_grads(f, (0.3, A))


def test_what_was_negated_is_written_before_it_is_subtracted() -> None:
    def f(y):
        y -= np.arctan(y)
        return np.sum(y)

    def second(y):
        return ad.grad(f)(y)[1]

    curvature = 2 * A[1] / (1 + A[1] ** 2) ** 2
    np.testing.assert_allclose(ad.grad(second)(A.copy()), [0.0, curvature, 0.0], rtol=1e-12)


@dataclass
class Body:
    q: float
    p: float


@dataclass
class Field:
    scale: float
    values: np.ndarray


class TestObjectsInLoops:
    """What names of objects stand for changes from one iteration to the next."""

    def test_swapped(self) -> None:
        def f(x, y):
            a, b = Body(x, 1.0), Body(y, x)
            for _ in range(3):
                a, b = b, a
            return a.q * b.p + b.q

        check_grads(f, (0.3, 0.4))

    def test_swapped_with_arrays_that_are_written(self) -> None:
        def f(x, u):
            old, new = Field(x, u * 1.0), Field(x, u * 2.0)
            for _ in range(4):
                new.values[1:] = old.values[:-1] * x
                old, new = new, old
            return np.sum(old.values * new.values)

        check_grads(f, (0.3, A))

    def test_replaced_on_one_branch(self) -> None:
        def f(x, state):
            n = 0
            while n < 3:
                n += 1
                if state.q < x:
                    state = Body(state.q + x, state.p * state.q)
            return state.p

        check_grads(f, (0.7, Body(0.2, 0.3)))

    def test_the_best_of_several(self) -> None:
        def f(xs):
            best = Body(0.0, 10.0)
            for x in xs:
                candidate = Body(x, math.cos(x))
                if candidate.p < best.p:
                    best = candidate
            return best.q * best.p

        check_grads(f, ([0.7, 0.8, 0.1],))


def test_dict_returned_from_a_loop_with_what_the_loop_computed() -> None:
    def f(x, y):
        for i in range(5):
            x = x * 1.5
            if x * i > y:
                return {"a": i * x, "b": x}
            if x > i * y:
                return {"a": x, "b": x}
        return {"a": y, "b": x}

    check_grads(f, (0.3, 0.4))
    check_grads(f, (0.01, 0.4))


def test_arrays_swapped_in_a_loop_after_which_one_is_not_read() -> None:
    def f(x, u, v):
        n = 0
        while True:
            n += 1
            if n > 0 or n % 2:
                break
            u, v = (v, u) if x <= x else (u, v)
        x += v[n] * x
        v, u = (u, v)
        return [x for _ in u]

    check_grads(f, (-0.789, A, A[::-1].copy()))


@pytest.mark.parametrize(("x", "y", "n"), [(0.3, 0.4, 2), (0.3, 0.4, 1), (0.3, 0.6, 1), (-0.3, 0.4, 0)])
def test_results_of_two_kinds_of_which_no_path_may_give_one(x, y, n) -> None:
    def f(x, y, n):
        if y > 0.5:
            z = np.zeros(3)
        else:
            z = np.zeros(3)
            if n % 2:
                return y
            if x < 0.0 and n < 2:
                return np.cos(z[n % 3])
        return x * y + z[0]

    check_grads(f, (x, y, n), wrt=(0, 1))


class TestPickedOutAndWrittenLater:
    """What is picked out of an array in a block, and written behind it."""

    def test_in_a_loop(self) -> None:
        def f(x, z):
            for _ in range(2):
                picked = z[[0, 0, 1]]
            picked[1] -= x
            z[0] *= picked[1]
            return z

        check_grads(f, (0.3, A))

    def test_in_a_branch(self) -> None:
        def f(x, z):
            if x > 0.0:
                picked = z[[2, 0, 1]]
            else:
                picked = z[z > -1.0]
            picked[1] -= x
            z[0] *= picked[1]
            return z

        check_grads(f, (0.3, A))
        check_grads(f, (-0.3, A))

    def test_by_a_mask_in_a_try_block(self) -> None:
        def f(x, z):
            try:
                picked = z[z > -1.0]
            finally:
                x *= 2.0
            picked[1] -= x
            return z * picked

        check_grads(f, (0.3, A))


def test_places_in_a_list_that_is_made_at_run_time() -> None:
    def f(y):
        for _ in range(2):
            y[0] += (np.take(y, [0, 1, 0]) - y)[2]
        return y - np.array([y[0]])

    check_grads(f, (A,))


def test_numbers_of_an_array_beside_lists() -> None:
    def f(x, y):
        y[[1, 0, 1]] = np.take(y, 1) - [y[0]]
        return x * (y[0] - [x, y[1]]) + [x] / y[1]

    check_grads(f, (0.3, A))


def calls_itself_at_last(x, depth):
    if depth <= 0:
        return x
    try:
        pass
    finally:
        calls_itself_at_last(x, depth - 1)
    calls_itself_at_last(x, depth - 1)
    return calls_itself_at_last(x * x, depth - 1)


def called_often(x):
    y = x
    for _ in (1, 2, 3):
        y += calls_itself_at_last(x * y, 2)
    for _ in (1, 2, 3):
        calls_itself_at_last(y, 3)
    return x + y


def test_recursion_in_a_finally_block() -> None:
    check_grads(called_often, (0.4,), order=2)


def test_support_that_is_a_truth_value_or_a_number() -> None:
    """``choose(condition, True, 0.0)`` was taken for a truth value, and ``|`` raised."""

    def sums(items, k):
        total = 0.0
        for e in items:
            total += e * k
            yield total

    def f(x, v, k):
        return v * max(sums([x, 0.65, x], k))

    check_grads(f, (0.42, np.array([0.332, -0.925]), 0.67))


@pytest.mark.parametrize("native", [False, True])
def test_selections_from_what_is_broadcast(native) -> None:
    """What is summed to the shape of an operand was left out element by element, not as a whole."""

    def by_rows(x, v):
        return np.sin(np.where(x > 0, np.sqrt(v), x))

    def sorted_first(x, v):
        u = v[np.argsort(v)]
        return np.sin(np.where(u > 0, np.sqrt(u), x))

    x, v = np.array([[1.0, 2.0, -3.0], [0.5, 0.1, -0.2]]), np.array([1.0, 2.0, -1.0])
    with np.errstate(invalid="ignore"):
        _, pullback = ad.vjp(by_rows, x, v, native=native)
        x_bar, v_bar = pullback(np.ones((2, 3)))
        np.testing.assert_allclose(x_bar, np.where(x > 0, 0.0, np.cos(x)))
        np.testing.assert_allclose(v_bar, [np.cos(1.0), np.cos(np.sqrt(2.0)) / np.sqrt(2.0), 0.0])
        _, pullback = ad.vjp(sorted_first, 0.9, v, native=native)
        x_bar, v_bar = pullback(np.ones(3))
        np.testing.assert_allclose(x_bar, np.cos(0.9))
        np.testing.assert_allclose(v_bar, [0.5 * np.cos(1.0), 0.5 * np.cos(np.sqrt(2.0)) / np.sqrt(2.0), 0.0])


def first_of(items):
    if items:
        return items
    return first_of(1.0)


def selection_of_what_a_recursion_gives(v):
    w = np.array(first_of(list(v)))
    return np.sum(np.where(w > 0.82, w**1.5, w))


def total_of(items):
    if items:
        return 1.0
    return total_of(1.0)


def scaled_by_what_a_recursion_gives(v, u):
    u *= 1.0 / total_of(list(v))
    u /= total_of(list(v))
    return np.sum(u * u) + np.sum(u)


def divided_by_itself(v):
    w = np.array(first_of(list(v)))
    u = w / w
    return 0.82 * u[2] + np.sum(np.sin(u))


@pytest.mark.parametrize("most", [0, None], ids=["kept", "as usual"])
def test_values_of_the_program_are_not_linear_in_tangents(most) -> None:
    """Supports of tangents took values beside which a recursion hands out tangents for tangents, too."""
    with repeating(most):
        _check_products()


def _check_products() -> None:
    x = np.array([-0.796, -0.492, 0.226])
    with np.errstate(invalid="ignore"):
        (product,) = ad.hvp(selection_of_what_a_recursion_gives, (x,), (np.ones(3),))
    np.testing.assert_array_equal(product, 0.0)
    u = np.array([-0.871, 0.414])
    second = 2 * u
    _, product = ad.hvp(scaled_by_what_a_recursion_gives, (x, u), (x.copy(), u.copy()))
    np.testing.assert_allclose(product, second)
    (product,) = ad.hvp(divided_by_itself, (x,), (x,))
    np.testing.assert_allclose(product, 0.0, atol=1e-12)


def changed_cotangent_of_a_list(x):
    if x:
        return x
    parts = [x, x]
    ad.with_derivative(parts, lambda ct: ct)
    return x


def test_list_of_cotangents_in_a_function_that_is_kept() -> None:
    with repeating(0):
        assert ad.jvp(lambda x: changed_cotangent_of_a_list(x) * 2.0, (0.7,), (1.0,)) == (1.4, 2.0)


def fitted(v):
    found = optimize.least_squares(lambda z: z + 0.2 * z**3 - np.sum(v) * v, v, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    return np.sum(np.sin(found.x)) + found.x[0]


def called_with_what_another_returns(v):
    return fitted(fitted(v) * v)


def test_what_a_definition_covers_does_not_hang_on_what_stays_a_function() -> None:
    """Of what a function gives that stays one nothing is known: a definition said that it did not cover the call."""
    v = np.array([-0.776, 0.17, -0.089])
    usual = ad.grad(called_with_what_another_returns)(v)
    with repeating(0):
        np.testing.assert_allclose(ad.grad(called_with_what_another_returns)(v), usual, rtol=1e-9)


def product_of_few(y):
    if y[0] > 5.0:
        raise ValueError
    product = y[0] * y[1]
    if np.any(y):
        return product
    return product


def written_in_a_call(y):
    held = [1.0]

    def write(y):
        if y[0] > 5.0:
            raise ValueError
        held[0] = y[0] * y[1]
        if np.any(y):
            return 1.0
        return 2.0

    return write(y) * held[0]


def assigned_beside_a_generator(y):
    def two():
        yield 1.0
        yield y[1]

    x = 1.0
    for v in two():
        if y[0] > 5.0:
            raise ValueError
        x = y[0] * y[1] * v
        if np.any(y):
            continue
    return x


def assigned_beside_a_zip(x, y):
    for _ in zip(map(lambda t: x, y), y):
        x = min(y)
        if np.any(y):
            continue
    return x * y[0]


@pytest.mark.parametrize("f", [product_of_few, written_in_a_call, assigned_beside_a_generator])
def test_what_all_ways_have_in_common_behind_one_that_raises(f) -> None:
    """It is bound where these ways begin, which is not where they meet."""
    check_grads(lambda y: f(y) * 2.0, (np.array([1.039, 0.145]),))


def test_least_element_beside_a_zip() -> None:
    check_grads(assigned_beside_a_zip, (0.644, np.array([1.039, 0.145])))


class Sized:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)


def test_the_truth_of_objects_with_a_length_is_no_length() -> None:
    """``bool`` gave the length of what is a container by its class: a factor of two, here."""

    def own(x, items):
        return x * bool(Sized(items)) + x

    def of_the_library(x, items):
        return x * bool(collections.deque(items)) + x

    for program in (own, of_the_library):
        assert ad.value_and_grad(program)(3.0, [1.0, 2.0]) == (6.0, 2.0)
        assert ad.value_and_grad(program)(3.0, []) == (3.0, 1.0)
