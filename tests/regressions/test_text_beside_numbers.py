"""Text that is made while a function runs is text, not an array that might be written."""

import pytest

from regressions.differences import right


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
