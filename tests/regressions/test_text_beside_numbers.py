"""Text that is made while a function runs is text, not an array that might be written."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right


def formatted(x, n):
    name = f"value {n}"
    return x * ("%s" % name).count("a")  # noqa: UP031


def repeated(x, n):
    return x * len((str(n) * 2).upper())


def joined(x, n):
    label = f"{x:.2f}" + "%s" % n  # noqa: UP031
    return x * len(label.strip())


def grown(x, n):
    label = ""
    for k in range(n):
        label += str(k)
    return x * label.count("1") + len(label)


@pytest.mark.parametrize("f", [formatted, repeated, joined, grown])
def test_methods_of_text(f) -> None:
    right(f, 2.0, 3)


def joined_numbers(x, n):
    return float(",".join([str(x)])) * n


def joined_list(x, n):
    texts = []
    for k in range(n):
        texts.append(f"{x * k}")
    return float(" ".join(texts).split()[1])


def joined_by_map(x, n):
    return float(" ".join(map(str, [x, x * n])).split()[1])


def raised(x, n):
    try:
        if n > 0:
            raise ValueError(x * n)
    except ValueError as problem:
        return float(str(problem))
    return x


def raised_by_a_function(x, n):
    try:
        raised_always(x, n)
    except RuntimeError as problem:
        return float(f"{problem}")
    return x


def raised_always(x, n):
    raise RuntimeError(x * n)


def shown(x, n):
    try:
        if n > 0:
            raise ValueError(x * n)
    except ValueError as problem:
        return float(repr(problem)[11:-1])
    return x


def items_of_arguments(x, n):
    try:
        if n > 0:
            raise ValueError(x, n)
    except ValueError as problem:
        return float(",".join(map(str, problem.args)).split(",")[0])
    return x


def notes(x, n):
    problem = ValueError(n)
    problem.add_note(str(x))
    try:
        if n > 0:
            raise problem
    except ValueError as caught:
        return float(caught.__notes__[0])
    return x


@pytest.mark.parametrize(
    "f",
    [
        joined_numbers,
        joined_list,
        joined_by_map,
        raised,
        raised_by_a_function,
        shown,
        items_of_arguments,
        notes,
    ],
)
def test_numbers_that_come_back_from_text(f) -> None:
    assert f(2.0, 3) == f(2.0, 3) != f(2.5, 3)  # it varies
    for run in (lambda: ad.grad(f)(2.0, 3), lambda: ad.jvp(f, (2.0, 3), (1.0, None))):
        assert "comes back from text" in str(refused(run))


def test_text_that_tells_of_no_number() -> None:
    def length(x, n):
        try:
            if n > 0:
                raise ValueError(f"{n} of {x}")
        except ValueError as problem:
            return x * x * (2.0 if str(problem).startswith("3") else 1.0)
        return x

    right(length, 2.0, 3)


def of_a_tuple(x, n):
    items = tuple([2.0 * k for k in range(n)])
    return x * len(str(items)) * (2.0 if f"{items}".startswith("(") and "%s" % (items,) == str(items) else 3.0)  # noqa: UP031


def of_elements(x, n):
    v = np.array([x, 2.0 * x, 0.0])
    total = 0.0
    for item in (*v.tolist(), v.item(n - 1), v[1:2].item()):
        try:
            total += 1.0 / item
        except ZeroDivisionError:
            total += item + x
    return total * len(repr(v[2:].tolist()))


@pytest.mark.parametrize("f", [of_a_tuple, of_elements])
def test_what_tuples_and_elements_look_like(f) -> None:
    right(f, 2.0, 3)


class Held:
    def __init__(self) -> None:
        self.v = 0.0


def _in_a_row(u: float, n: int) -> Any:
    rows = [[0.0, 0.0] for _ in range(n)]
    for k in range(n):
        rows[k][:] = [each + u for each in rows[k]]
    return rows[1][0]


def _in_each_row(u: float, n: int) -> Any:
    rows = [[0.0, 0.0] for _ in range(n)]
    for row in rows:
        row[0] += u
    return rows[n - 1][0]


def _put(rows: Any, at: int, u: float) -> int:
    if at > n_most:
        return _put(rows, at - 1, u)
    rows[at][0] = u * u
    return at


n_most = 5


def _by_a_function(u: float, n: int) -> Any:
    rows = [[0.0, 0.0] for _ in range(n)]
    at = _put(rows, 1, u)
    return rows[at][0]


def _in_a_table(u: float, n: int) -> Any:
    table = {str(i): [0.0] for i in range(n)}
    table["1"][0] = u * u
    return table["1"][0]


def _in_an_object(u: float, n: int) -> Any:
    objects = [Held() for _ in range(n)]
    objects[1].v = u * u
    return objects[1].v


def _in_a_view(u: float, n: int) -> Any:
    part = (a := np.zeros(n))[1:]
    part[0] = u
    return a[1]


PUT_AWAY = [_in_a_row, _in_each_row, _by_a_function, _in_a_table, _in_an_object, _in_a_view]


def _formatted(x: float, digits: int) -> float:
    return float(("{:." + str(digits) + "f}").format(x))


def _formatted_by_percent(x: float, digits: int) -> float:
    return float(("%." + str(digits) + "f") % x)


def _formatted_in_steps(x: float, digits: int) -> float:
    template = "{:."
    template += str(digits)
    template += "f}" + "" * digits
    return float(template.format(x))


def _written(x: float, digits: int) -> float:
    return float(str(x))


@pytest.mark.parametrize("read", [_written, _formatted, _formatted_by_percent, _formatted_in_steps])
@pytest.mark.parametrize("put_away", PUT_AWAY)
def test_numbers_from_text_that_lay_in_memory_before(put_away: Any, read: Any) -> None:
    """What varies is found in lists of lists, tables and objects, too, whichever name it was written by."""

    def f(u: float, n: int, digits: int) -> float:
        return read(put_away(u, n), digits)

    for run in (lambda: ad.grad(f)(0.4, 3, 18), lambda: ad.jvp(f, (0.4, 3, 18), (1.0, None, None))):
        with pytest.raises(ad.DifferentiationError) as refusal:
            run()
        assert "a number that varies comes back from text" in str(refusal.value)


def test_methods_of_texts_made_at_run_time() -> None:
    def f(x: float, digits: int, name: str) -> float:
        text = ("{}" + "{:." + str(digits) + "f}").format(name, x)
        parts = text.upper().strip().replace("A", "B").split(".")
        return x * x * len(text.encode()) if len(parts) > 1 and text.startswith("a") else x

    assert ad.grad(f)(2.5, 3, "a") == 30.0
    assert ad.grad(f)(2.5, 3, "b") == 1.0
