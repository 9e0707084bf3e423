"""Functions that call themselves with objects that refer to each other: compilation ends, right or with a reason."""

import pytest

import adjoint as ad


def slope(function, at, step=1e-6):
    return (function(at + step) - function(at - step)) / (2.0 * step)


class Node:
    pass


class Context:
    """Holds itself, and others that hold it, as the contexts of libraries for numbers of high precision do."""

    def __init__(self, scale, others=()):
        self.scale, self.me = scale, self
        for place, other in enumerate(others):
            setattr(self, f"other{place}", other)
            setattr(other, f"other{place}", self)
            for further in others:
                setattr(other, f"from{place}_{others.index(further)}", further)

    def convert(self, item, x):
        if isinstance(item, tuple):
            return sum(self.me.convert(each, x) for each in item)
        return item * x * self.scale

    def power(self, left, x):
        return x if left <= 0.0 else self.me.power(left - 1.0, x) * self.scale

    def around(self, left, x):
        return x * self.scale if left <= 0.0 else self.other0.around(left - 1.0, x) * self.scale


def ring(*values):
    nodes = [Node() for _ in values]
    for place, (node, value) in enumerate(zip(nodes, values, strict=True)):
        node.value, node.next = value, nodes[(place + 1) % len(nodes)]
        node.all = tuple(nodes)
    return nodes[0]


CONTEXT = Context(2.0, tuple(Context(3.0 + place) for place in range(6)))
RING = ring(1.0, 2.0, 3.0)


def along(node, left, x):
    return node.value * node.next.value * x if left <= 0.0 else along(node.next, left - 1.0, x) * node.value


def nested(x):
    return CONTEXT.convert((1.0, (2.0, x, (x,))), x)


def same_object(x):
    return CONTEXT.power(3.0, x)


def to_others(x):
    return CONTEXT.around(x, x)


def assigned_before(x):
    CONTEXT.scale = x
    first = CONTEXT.power(x, x)
    CONTEXT.scale = first
    result = CONTEXT.power(2.0, x)
    CONTEXT.scale = 2.0
    return result


def nodes_assigned_between(x):
    RING.value, RING.next.value = x, 2.0 * x
    first = along(RING, 3.0, x)
    RING.value = x * x * x
    return first + along(RING, 3.0, x) * x


def assigned_in_a_loop(x):
    total = 0.0
    for place in range(3):
        RING.value = x * place
        total = total + along(RING, x, x)
    return total


def from_several_nodes(x):
    return along(RING, 3.0, x) + along(RING.next, x, x) * x


RIGHT = (
    nested,
    same_object,
    to_others,
    assigned_before,
    nodes_assigned_between,
    assigned_in_a_loop,
    from_several_nodes,
)


@pytest.mark.parametrize("function", RIGHT)
def test_objects_from_outside_are_what_they_are(function):
    value, gradient = ad.value_and_grad(function)(1.5)
    assert value == pytest.approx(function(1.5), rel=1e-13)
    assert gradient == pytest.approx(slope(function, 1.5), rel=1e-6)
    assert ad.jvp(function, (1.5,), (1.0,))[1] == pytest.approx(gradient, rel=1e-13)


def test_objects_made_inside_whose_structure_has_no_end():
    def function(x):
        one, other = Node(), Node()
        one.value, other.value = x, 2.0
        one.next, one.other = other, other
        other.next, other.other = one, other
        return along(one, x, x)

    with pytest.raises(ad.DifferentiationError, match="is put into itself, so that its structure has no end"):
        ad.grad(function)(1.5)


def test_objects_in_a_list_name_each_other():
    def function(x):
        values, following = [x, 2.0], [1, 0]

        def down(place, left):
            if left <= 0.0:
                return values[place] * x
            return down(following[place], left - 1.0) * values[place]

        return down(0, x)

    assert ad.grad(function)(1.5) == pytest.approx(slope(function, 1.5), rel=1e-6)


def along_writing(node, left, x):
    if left <= 0.0:
        return node.value * node.next.value
    node.value = node.value * x
    return along_writing(node.next, left - 1.0, x)


def written(x):
    RING.value, RING.next.value, RING.next.next.value = 1.0, 2.0, 3.0
    return along_writing(RING, 3.0, x)


def test_objects_from_outside_that_it_writes_are_refused():
    with pytest.raises(ad.DifferentiationError, match="is reached in another way, too, and objects are written"):
        ad.grad(written)(1.5)
