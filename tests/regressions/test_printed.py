"""What a function prints of its numbers, a derivative prints to the letter."""

import sys

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right


def all_items(v):
    print(*v)
    print("items:", *v, "and", *v[:2], sep=", ", end=".\n")
    print(*[f"{item:.1f}" for item in v])
    print(*v.tolist(), *(1, 2))
    return v @ v


def by_known_numbers(v):
    print(*(1, "a"), *[v[0], 2.0])
    return v @ v


def joined_generators(v):
    def texts():
        for item in v:
            yield f"<{item:g}>"

    print(", ".join(f"{item:.3f}" for item in v))
    print("".join(texts()), "; ".join(str(item) for item in v if item > 1.5))
    sys.stdout.write("-".join("{:.1f}".format(item) for item in v) + "\n")  # noqa: UP032
    return v @ v


def joined_in_what_is_raised(v):
    message = f"bad: {', '.join(f'{item:.1f}' for item in v)}"
    if v[0] > 5.0:
        raise ValueError(message)
    return v @ v * len(" ".join(["a", "b"]))


def items_of_iterators(v):
    table = {}
    for i in range(len(v)):
        table[i] = v[i]
    print(*zip(v, v), *enumerate(v), *range(len(v)))
    print(*table, *table.values(), *table.items())
    print(*reversed(v), *sorted(v), *{len(v)}, *(2 * item for item in v))
    return v @ v


def formatted(v):
    print("{:.2f} of {}".format(v[0], v), "%.2f of %s" % (v[1], v), "{a[0]}".format_map({"a": v}))  # noqa: UP031, UP032
    return v @ v


@pytest.mark.parametrize(
    "f", [all_items, items_of_iterators, formatted, by_known_numbers, joined_generators, joined_in_what_is_raised]
)
def test_what_is_printed(f, capsys) -> None:
    v = np.array([1.0, 2.0, 0.5])
    right(f, v)
    capsys.readouterr()
    f(v)
    expected = capsys.readouterr().out
    ad.value_and_grad(f)(v)
    assert capsys.readouterr().out == expected
    ad.jvp(f, (v,), (v,))
    assert capsys.readouterr().out == expected
    if f is not items_of_iterators:  # iterators of series are printed as they are
        ad.jet(f, (v,), (v,), 1)
        assert expected in capsys.readouterr().out


def told(x, v):
    print(x, [x, 1], {"a": x, "b": (x, v)}, f"{x:.2f}", "%.1f of %s" % (x, v), str(x), repr(v))  # noqa: UP031
    try:
        if x > 1.0:
            raise ValueError(f"{x}", x)
    except ValueError as problem:
        print(problem, problem.args)
        return x**3 * len(problem.args)
    return x * x * np.sum(v)


def test_what_is_printed_of_series(capsys) -> None:
    v = np.array([1.0, 2.0])
    for x, derivatives in ((1.5, (6.75, 13.5, 18.0, 12.0)), (0.5, (0.75, 3.0, 6.0, 0.0))):
        told(x, v)
        expected = capsys.readouterr().out
        np.testing.assert_allclose(ad.jet(told, (x, v), (1.0, None), 3), derivatives)
        assert expected in capsys.readouterr().out


def test_the_text_of_what_prints_all_items() -> None:
    text = str(ad.source(ad.grad(all_items), np.ones(3)))
    assert "print('items:', *v, 'and', *v[:2], sep=', ', end='.\\n')" in text
