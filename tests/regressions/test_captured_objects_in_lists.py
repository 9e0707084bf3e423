"""The function of an inner derivative reads objects in a list that the function around it fills.

What flows back to them is added to their shadows through that of the list, which nobody reads afterwards: a call that
writes what lies in a container is not dead where the container is.
"""

import adjoint as ad
from sampling import check_grads


class Point:
    def __init__(self, value: float) -> None:
        self.value = value


def test_objects_in_a_captured_list() -> None:
    def f(xs: list[float]) -> float:
        points = []
        for x in xs:
            points.append(Point(x * x))

        def weighted(v: float) -> float:
            total = 0.0
            for point in points:
                total += point.value * v * v
            return total

        return ad.grad(weighted)(xs[0])

    check_grads(f, ([1.0, 2.0, 3.0],))


def test_rows_of_a_captured_list() -> None:
    def f(xs: list[float]) -> float:
        rows = []
        for x in xs:
            rows.append([x * x, x])

        def weighted(v: float) -> float:
            total = 0.0
            for row in rows:
                total += row[0] * v * v + row[1] * v
            return total

        return ad.grad(weighted)(xs[0])

    check_grads(f, ([1.0, 2.0, 3.0],))
