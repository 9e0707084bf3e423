"""Numbers read from texts: constants, also where what varies chooses the text; refused where it is written there."""

import io

import pytest

import adjoint as ad
from adjoint.testing import check_grads


def run(x, code):
    registers = {"x": x, "a": 0.0}
    place = 0
    while place < len(code):
        target, source = code[place]
        value = registers[source] if source in registers else float(source)
        registers[target] = value * x
        if value > 2.5:
            place += 1
        place += 1
    return registers["a"]


def summed_until_it_is_enough(x, table):
    place, total = 0, 0.0
    while place < len(table):
        total += x * float(table[place])
        place += 2 if total > 5.0 else 1
    return total


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (run, [("a", "x"), ("a", "2.0"), ("b", "a"), ("a", "b"), ("x", "3.0"), ("a", "x")]),
        (summed_until_it_is_enough, ["1.0", "2.5", "3.0", "4.0"]),
    ],
)
def test_texts_that_are_chosen(function, given):
    check_grads(lambda x: function(x, given), (1.5,), order=2)
    assert ad.jvp(function, (1.5, given), (1.0, None))[0] == function(1.5, given)


def in_one_branch(x):
    text = "1.0" if x < 0.0 else str(x)
    return float(text)


def of_the_last_iteration(x, n):
    text = "0"
    for i in range(n):
        text = f"{x * i}"
    return float(text)


def of_a_list(x, n):
    parts, k = [], 0
    while k < n:
        parts.append(str(x) if x > k else "2.0")
        k += 1
    return sum(float(part) for part in parts)


def of_a_buffer(x):
    buffer = io.StringIO()
    if x > 0.0:
        buffer.write(f"{x}")
    return float(buffer.getvalue())


def of_an_exception(x):
    try:
        if x > 1.0:
            raise ValueError(str(x))
        return x
    except ValueError as problem:
        return float(str(problem))


@pytest.mark.parametrize(
    ("function", "rest"),
    [(in_one_branch, ()), (of_the_last_iteration, (3,)), (of_a_list, (3,)), (of_a_buffer, ()), (of_an_exception, ())],
)
def test_digits_of_what_varies_are_refused(function, rest):
    with pytest.raises(ad.DifferentiationError, match="AD0204"):
        ad.grad(function)(1.5, *rest)
