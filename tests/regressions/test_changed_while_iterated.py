"""A list that changes while a loop runs through it is gone through by places, under whatever name it changes."""

from regressions.differences import right, second


def through_an_alias(x, n):
    xs = [x * i for i in range(n)]
    box = [xs]
    total = 0.0
    for v in xs:
        if len(xs) < 6:
            box[n - n].append(v * x)
        total += v
    return total


def test_through_an_alias() -> None:
    right(through_an_alias, 2.0, 3)
    second(lambda x: through_an_alias(x, 3), 2.0)
