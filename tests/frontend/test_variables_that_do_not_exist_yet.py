"""Global variables that the function assigns first: whether they are there is asked as in Python."""

import adjoint as ad


def warned_once(x):
    global has_warned
    if x > 2.0 and "has_warned" not in globals():
        has_warned = True
        return 4.0 * x * x
    return x * x


def last_count(x, n):
    global count_of_this_module
    count_of_this_module = n
    return x * count_of_this_module


def last_value(x):
    global value_of_this_module
    value_of_this_module = x
    return x * x


def test_a_flag_is_set_when_it_is_needed():
    try:
        assert ad.grad(warned_once)(1.0) == 2.0 and "has_warned" not in globals()
        assert ad.grad(warned_once)(3.0) == 24.0 and has_warned
        assert ad.grad(warned_once)(3.0) == 6.0
    finally:
        globals().pop("has_warned", None)
    assert ad.value_and_grad(warned_once)(3.0) == (36.0, 24.0)
    globals().pop("has_warned")


def test_a_number_is_assigned():
    assert ad.jvp(last_count, (3.0, 4), (1.0, None)) == (12.0, 4.0)
    assert globals().pop("count_of_this_module") == 4


def test_what_varies_is_assigned():
    assert [ad.grad(last_value)(3.0) for _ in range(2)] == [6.0, 6.0]
    assert globals().pop("value_of_this_module") == 3.0
