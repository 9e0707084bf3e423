"""What the frontend adds for structures at run time: none of it carries a derivative."""

from adjoint.rules.declare import case, constant, linear, no_derivative, observer, sample
from adjoint.runtime import tangents
from adjoint.runtime.arithmetic.checks import (
    check_alike,
    check_bound,
    check_casts,
    check_exact,
    check_factor,
    check_floats,
    check_operand,
    check_rows,
    check_single,
)
from adjoint.runtime.arithmetic.complex_powers import check_real
from adjoint.runtime.arithmetic.in_place import check_array, check_number, check_written
from adjoint.runtime.lists import check_items, first_of_same, order_of_items
from adjoint.runtime.messages import check_in_place, check_sum
from adjoint.runtime.objects import (
    check_least_length,
    check_length,
    check_size,
    itself,
    place_of_function,
    put_attribute,
    put_item,
    refuse_deletion,
    slice_bounds,
    untagged,
)
from adjoint.runtime.outside import assign_attribute, assign_captured, assign_global, check_immutable
from adjoint.runtime.overlap import check_separate

no_derivative(first_of_same, itself, order_of_items, place_of_function, slice_bounds, untagged)
CHECKS = (
    *(
        check_alike,
        check_array,
        check_casts,
        check_bound,
        check_exact,
        check_factor,
        check_floats,
        check_items,
        check_number,
        check_operand,
        check_real,
        check_separate,
        check_single,
        check_written,
    ),
    *(check_least_length, check_length, check_size, check_sum, check_in_place, check_rows),
)
"""Functions that raise or do nothing: what one lets pass it lets pass when it is run again."""

observer(*CHECKS, pure=False)
observer(assign_attribute, assign_captured, assign_global, check_immutable, put_attribute, put_item, pure=False)
observer(refuse_deletion, pure=False)
constant(tangents.shadow, tangents.shadow_with, tangents.shadow_like, tangents.shadow_of_values)
no_derivative(tangents.pour, tangents.add_to_slot, tangents.add_to_field, pure=False, writes=(0,))
linear(
    tangents.shadow_or_zeros,
    lambda ct, shadow, x: ct,
    wrt=(0,),
    view_of=0,
    cases=[case(sample(3), sample(3))],
)
linear(
    tangents.follow_view,
    lambda ct, shadow, base, like, like_base: ct,
    wrt=(0,),
    view_of=0,
    cases=[case(sample(3), sample(3), sample(3), sample(3))],
)
