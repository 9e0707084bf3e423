"""try with handlers: whichever block comes to an end is the one that is differentiated."""

import contextlib
import math

import numpy as np

from programs.registry import program


@program(1.3)
@program(-1.3)
def other_value(x):
    try:
        y = math.log(x)
    except ValueError:
        y = x * x
    return y * x


@program(1.3)
@program(-1.3)
def constant_instead(x):
    try:
        y = math.log(x)
    except ValueError:
        y = 0.0
    return y * x + x


@program(1.3)
@program(-1.3)
def return_from_handler(x):
    try:
        y = math.log(x)
    except ValueError:
        return x * x
    return y * x


@program(1.3)
@program(-1.3)
def else_part(x):
    try:
        y = math.log(x)
    except ValueError:
        y = x * 3.0
    else:
        y = y * x
    return y * y


@program(-0.5)
def exception_in_the_else_part_is_not_handled_here(x):
    try:
        try:
            y = x * x
        except ValueError:
            y = 100.0 * x
        else:
            y = y * math.log(x)
    except ValueError:
        y = 3.0 * x
    return y * x


@program(1.3)
@program(0.4)
@program(-1.3)
def several_handlers(x):
    try:
        y = math.sqrt(x) / max(0.0, x - 0.5)
    except ZeroDivisionError:
        y = x * x
    except (ValueError, TypeError):
        y = math.sin(x)
    return y * x


@program(1.3)
def key_that_is_missing(x):
    table = {"a": x}
    try:
        k = table["b"]
    except KeyError:
        k = table["a"] * 2.0
    return k * x


@program(1.3, ["1", "x", "3"])
def text_that_is_no_number(x, words):
    total = 0.0
    for word in words:
        try:
            n = int(word)
        except ValueError:
            n = 7
        total += n * x
    return total * x


@program(0.8)
def in_a_loop(x):
    total = 0.0
    for i in range(4):
        try:
            total += math.sqrt(x - 0.3 * i) * x
        except ValueError:
            total += x * x * i
    return total


@program(2.5)
def leaves_a_loop(x):
    total = x
    while True:
        try:
            total = total * math.log(x)
        except ValueError:
            break
        x = x - 0.7
    return total * x


@program(0.7)
def assigned_before_and_dead_after(x):
    y = x
    try:
        y = y * x
        z = math.acos(y + 1.0)
    except ValueError:
        z = x * 2.0
    return z * x


@program(1.3)
@program(-1.3)
def raised_here(x):
    try:
        if x < 0:
            raise ValueError("negative")
        r = x**0.5
    except ValueError as problem:
        r = -x * len(str(problem))
    return r * x


@program(0.7)
@program(-0.7)
def called(x):
    def root(v):
        if v < 0.0:
            raise ValueError
        return math.sqrt(v)

    try:
        y = root(x) * x
    except ValueError:
        y = root(-x) - x
    return y * y


@program(lambda rng: rng.normal(size=3))
def shapes_that_do_not_fit(x):
    try:
        y = x @ np.ones((4, 4))
    except ValueError:
        y = x * x
    return np.sum(y * x)


@program(1.3)
@program(-1.3)
def with_finally(x):
    count = 0
    try:
        y = math.log(x)
    except ValueError:
        y = x * x
    finally:
        count += 1
    return y * x * count


@program(lambda rng: rng.normal(size=3))
def handler_writes(x):
    a = x.copy()
    try:
        i = [0, 1][5]
    except IndexError:
        a[1] *= a[0]
        i = 1
    return a[i] * a[0]


@program(1.5)
def handler_that_always_raises(x):
    total = x
    try:
        try:
            raise KeyError
        except KeyError as problem:
            total *= 2
            raise ValueError from problem
    except ValueError:
        total *= x
    return total


@program(1.5)
def every_way_raises_or_returns(x):
    seen = []

    def attempt(fails):
        try:
            try:
                if fails:
                    raise ValueError("fails")
                return x
            finally:
                seen.append(fails)
        except ValueError:
            return x * x

    return attempt(False) + 10 * attempt(True) + len(seen)


@program(1.5)
def finally_after_a_handler_that_raises(x):
    total = x
    try:
        try:
            raise KeyError
        except KeyError:
            total *= 2
            raise ValueError from None
        finally:
            total += x * x
    except ValueError:
        total *= 3
    return total


@program(1.5)
def null_contexts(x):
    with contextlib.nullcontext(x * 3) as tripled, contextlib.nullcontext(enter_result=x) as same:
        total = tripled * same
    with contextlib.nullcontext():
        total *= x
    return total


@program(np.array([2.1, 1.1, 2.5, 3.3, 1.2]))
def finally_on_the_way_out_of_a_loop(x):
    i, total = 0, 0.0
    while True:
        try:
            v = x[i]
            i += 1
            if v < 1.15:
                continue
            if v > 3:
                break
            total += v * v
        finally:
            total += 0.1 * i
    return total


@program(np.array([2.1, 1.1, 2.5, 3.3, 1.2]))
def bare_handler_that_raises_again(x):
    total = [0.0]

    def visit(v):
        try:
            if v > 2.2:
                raise ValueError
            total[0] += v
        except:
            total[0] += v * v
            raise

    for v in x:
        try:
            visit(v)
        except ValueError:
            total[0] *= 1.1
    return total[0]


@program(np.array([0.3, 0.2, 0.4]), 0.7)
def nothing_to_handle(a, x):
    kept = []
    try:
        dtype = np.result_type(a, x, 1.0)
    except TypeError:
        dtype = None
    if dtype is None:
        kept.append((a, x))
        kept.append(x)
    return np.sum(a.astype(dtype) * x)


class Remembering:
    def __init__(self, x):
        self.x = x

    def square(self):
        try:
            known = self.known
        except AttributeError:
            known = self.known = {}
        found = known.get("square")
        if found is None:
            found = known["square"] = self.x * self.x
        return found


@program(0.7)
def handled_for_certain(x):
    point = Remembering(x)
    return point.square() * point.square() + len(point.known)


@program(1.3)
@program(-1.3)
def unbound_variable_handled(x):
    try:
        if x < 0:
            scale = x * x
        return scale * x
    except UnboundLocalError:
        return x**3 + 1


@program(1.3, 4)
def first_iteration_told_by_a_name_error(x, n):
    total = x
    for i in range(n):
        try:
            total = total + last * x
        except NameError:
            total = total * x
        last = total * i  # noqa: F841
    return total


@program(1.3)
def name_of_another_python(x):
    try:
        numbers = xrange(3)
    except NameError:
        numbers = range(3)
    return sum(x**k for k in numbers)


@program(1.3)
def functions_that_may_be_missing(x):
    try:
        y = np.atleast_1d(x)
        z = np.sin(y)
        if z[0] > 2.0:
            raise ValueError(z)
    except NameError:
        y, z = x, math.sin(x)
    z[0] *= 2.0
    return z[0] * y[0]


@program(np.array([0.7, -1.2, 1.9, 0.4]))
def bound_first_in_a_body(x):
    try:
        a = x[0] * 2.0
        if x[1] < 0.0:
            raise ValueError
        a = x[2]
    except ValueError:
        pass
    return a * x[1]


@program(np.array([0.7, -1.2, 1.9, 0.4]))
def bound_until_an_index_is_out_of_range(x):
    try:
        for i in range(9):
            a = x[i] * x[0]
    except IndexError:
        pass
    return a * x[1]


@program(np.array([0.7, -1.2, 1.9, 0.4]))
def bound_until_items_end(x):
    items = iter(list(x))
    while True:
        try:
            a = next(items)
            b = a * x[0]
        except StopIteration:
            break
    return a * b


@program(np.array([0.7, -1.2, 1.9, 0.4]))
def bound_in_each_iteration_of_a_loop(x):
    total = 0.0
    for k in range(6):
        try:
            v = x[k]
            w = v * v
            y = x[k + 1] * w
        except IndexError:
            total += w
            continue
        total += y
    return total * v


@program(np.array([0.7, -1.2, 1.9, 0.4]))
def read_in_a_handler_and_at_last(x):
    total = 0.0
    for i in range(-1, 3):
        try:
            d = x[i + 1]
            n = 6 // i
            e = d * n
        except ZeroDivisionError:
            e = d
            n = 1
        finally:
            total += d * (i + 2)
        total += e * n
    return total


@program(np.array([0.7, -1.2, 1.9, 0.4]))
def bound_in_a_body_that_surely_raises(x):
    with contextlib.suppress(ValueError, IndexError):
        a = x[0]
        for i in range(10):
            a = a * x[i] + 1.0
    try:
        b = a * x[1]
        raise KeyError
    except KeyError:
        b = b * x[0]
    return a * b


@program(np.array([0.7, -1.2, 1.9, 0.4]))
def arrays_bound_first_in_a_body(x):
    try:
        a = x * 2.0
        a[1] = a[0] * a[2]
        b = a[9]
    except IndexError:
        a[0] += 1.0
        b = a[2]
    return np.sum(a * a) * b


@program(np.array([0.7, -1.2, 1.9, 0.4]))
def a_list_in_a_body_of_which_a_flag_tells(x):
    ok = False
    try:
        values = [x[0], x[1]]
        if x[1] > 0.0:
            raise ValueError
        values.append(x[2])
        ok = True
    except ValueError:
        pass
    return sum(values) if ok else x[3]
