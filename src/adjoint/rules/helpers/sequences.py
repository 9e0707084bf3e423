"""Rules of the functions that join arrays, in the form that takes a list and in the form that takes its parts."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, general, linear, number, sample
from adjoint.rules.registry import add_variadic
from adjoint.runtime.array_functions import sequences
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.array_functions.sequences import (
    array_leaf,
    array_of,
    beside_part,
    column_stack_of,
    columns_part,
    concatenate_of,
    concatenated_part,
    hstack_of,
    place_leaf,
    place_part,
    rows_part,
    split_beside,
    split_columns,
    split_like,
    split_rows,
    stack_of,
    stacked_part,
    unarray,
    unstack_like,
    vstack_of,
)

linear(
    concatenate_of,
    lambda ct, *arrays, axis=0: tuple([concatenated_part(ct, k, axis, *arrays) for k, _ in enumerate(arrays)]),
    wrt=None,
    always_array=True,
    cases=[
        case(sample(4, 3), sample(2, 3)),
        case(sample(4, 3), sample(4, 2), sample(4, 1), axis=1),
        case(sample(2, 3), sample(2), axis=None),
    ],
)
linear(
    stack_of,
    lambda ct, *arrays, axis=0: tuple([stacked_part(ct, k, axis, array) for k, array in enumerate(arrays)]),
    wrt=None,
    always_array=True,
    cases=[case(sample(3), sample(3)), case(sample(4, 3), sample(4, 3), axis=-1), case(number(), number())],
)
linear(
    vstack_of,
    lambda ct, *arrays: tuple([rows_part(ct, k, *arrays) for k, _ in enumerate(arrays)]),
    wrt=None,
    always_array=True,
    cases=[case(sample(3), sample(2, 3)), case(sample(2, 3), sample(3), sample(1, 3))],
)
linear(
    hstack_of,
    lambda ct, *arrays: tuple([beside_part(ct, k, *arrays) for k, _ in enumerate(arrays)]),
    wrt=None,
    always_array=True,
    cases=[case(sample(3), sample(2)), case(sample(2, 3), sample(2, 1)), case(number(), sample(2))],
)
linear(
    column_stack_of,
    lambda ct, *arrays: tuple([columns_part(ct, k, *arrays) for k, _ in enumerate(arrays)]),
    wrt=None,
    always_array=True,
    cases=[case(sample(3), sample(3, 2))],
)


def _array_of_jvp(dots, y, template, *leaves, dtype=None):
    own = [zeros_like(leaf) if dot is None else dot for leaf, dot in zip(leaves, dots[1:], strict=True)]
    return array_of(template, *own, dtype=dtype)


def _array_of_vjp(ct, y, template, *leaves, dtype=None):
    return (None, *[array_leaf(ct, template, k, leaf) for k, leaf in enumerate(leaves)])


general(
    array_of,
    _array_of_jvp,
    _array_of_vjp,
    always_array=True,
    cases=[
        case((0, 1), number(), number()),
        case(((0, 1), (1, 2)), number(), number(), number()),
        case((0, 1), sample(3), sample(3)),
    ],
)

add_variadic(np.concatenate, concatenate_of)
add_variadic(np.stack, stack_of)
add_variadic(np.vstack, vstack_of)
add_variadic(np.hstack, hstack_of)
add_variadic(np.column_stack, column_stack_of)

linear(
    np.concatenate,
    lambda ct, arrays, axis=0: split_like(ct, arrays, axis),
    always_array=True,
    arrays=(),
    cases=[case([sample(4, 3), sample(2, 3)])],
)
linear(
    np.stack,
    lambda ct, arrays, axis=0: unstack_like(ct, arrays, axis),
    always_array=True,
    arrays=(),
    cases=[case([sample(3), sample(3)], axis=1)],
)
linear(
    np.vstack,
    lambda ct, tup: split_rows(ct, tup),
    always_array=True,
    arrays=(),
    cases=[case([sample(3), sample(2, 3)])],
)
linear(
    np.hstack,
    lambda ct, tup: split_beside(ct, tup),
    always_array=True,
    arrays=(),
    cases=[case([sample(3), sample(2)])],
)
linear(
    np.column_stack,
    lambda ct, tup: split_columns(ct, tup),
    always_array=True,
    arrays=(),
    cases=[case([sample(3), sample(3, 2)])],
)

# what these rules are made of

linear(
    concatenated_part,
    lambda ct, y_ct, place, axis, *arrays: place_part(ct, place, axis, *arrays),
    view_of=0,
    cases=[case(sample(6, 3), 1, 0, sample(4, 3), sample(2, 3))],
)
linear(
    place_part,
    lambda ct, dot, place, axis, *arrays: concatenated_part(ct, place, axis, *arrays),
    cases=[case(sample(2, 3), 1, 0, sample(4, 3), sample(2, 3))],
)
linear(
    stacked_part,
    lambda ct, y_ct, place, axis, array: sequences.place_stacked(ct, place, axis, y_ct),
    view_of=0,
    cases=[case(sample(2, 3), 1, 0, sample(3)), case(sample(3, 2), 1, -1, sample(3))],
)
linear(
    sequences.place_stacked,
    lambda ct, dot, place, axis, like: stacked_part(ct, place, axis, dot),
    cases=[case(sample(3), 1, 0, sample(2, 3))],
)
linear(
    array_leaf,
    lambda ct, y_ct, template, place, leaf: place_leaf(ct, template, place, y_ct),
    view_of=0,
    cases=[case(sample(2, 2), ((0, 1), (1, 2)), 1, number())],
)
linear(
    place_leaf,
    lambda ct, dot, template, place, like: array_leaf(ct, template, place, dot),
    cases=[case(number(), ((0, 1), (1, 2)), 1, sample(2, 2))],
)
linear(
    unarray,
    lambda ct, y_ct, x: np.asarray(ct),
    always_array=True,
    view_of=0,
    cases=[case(sample(3), [number(), number(), number()]), case(sample(3), sample(3))],
)
linear(
    rows_part,
    lambda ct, y_ct, place, *arrays: sequences.place_rows(ct, place, *arrays),
    view_of=0,
    cases=[case(sample(3, 3), 1, sample(3), sample(2, 3))],
)
linear(
    beside_part,
    lambda ct, y_ct, place, *arrays: sequences.place_beside(ct, place, *arrays),
    view_of=0,
    cases=[case(sample(2, 4), 1, sample(2, 3), sample(2, 1)), case(sample(5), 1, sample(3), sample(2))],
)
linear(
    columns_part,
    lambda ct, y_ct, place, *arrays: sequences.place_columns(ct, place, *arrays),
    view_of=0,
    cases=[case(sample(3, 3), 1, sample(3), sample(3, 2))],
)
linear(
    sequences.place_rows,
    lambda ct, dot, place, *arrays: rows_part(ct, place, *arrays),
    cases=[case(sample(2, 3), 1, sample(3), sample(2, 3))],
)
linear(
    sequences.place_beside,
    lambda ct, dot, place, *arrays: beside_part(ct, place, *arrays),
    cases=[case(sample(2), 1, sample(3), sample(2))],
)
linear(
    sequences.place_columns,
    lambda ct, dot, place, *arrays: columns_part(ct, place, *arrays),
    cases=[case(sample(3, 2), 1, sample(3), sample(3, 2))],
)
linear(
    split_like,
    lambda ct, y_ct, arrays, axis=0: np.concatenate(ct, axis),
    view_of=0,
    cases=[case(sample(6, 3), [sample(4, 3), sample(2, 3)])],
)
linear(
    unstack_like,
    lambda ct, y_ct, arrays, axis=0: np.stack(ct, axis),
    view_of=0,
    cases=[case(sample(2, 3), [sample(3), sample(3)])],
)
linear(
    split_rows,
    lambda ct, y_ct, arrays: np.vstack(ct),
    view_of=0,
    cases=[case(sample(3, 3), [sample(3), sample(2, 3)])],
)
linear(
    split_beside,
    lambda ct, y_ct, arrays: np.hstack(ct),
    view_of=0,
    cases=[case(sample(5), [sample(3), sample(2)])],
)
linear(
    split_columns,
    lambda ct, y_ct, arrays: np.column_stack(ct),
    view_of=0,
    cases=[case(sample(3, 3), [sample(3), sample(3, 2)])],
)
