"""What `typing.cast` gives is the value itself, also where it decides which branch is taken."""

from typing import cast

import adjoint as ad

MODE = "double"


def set_mode(mode):
    global MODE
    MODE = cast(str, mode.lower())


class Mode:
    def __init__(self, mode):
        self.mode, self.before = mode, MODE

    def __enter__(self):
        set_mode(self.mode)

    def __exit__(self, *_):
        set_mode(self.before)


def scaled(x):
    return 2.0 * x if MODE == "double" else x * x


def by_the_mode(x):
    with Mode("Square"):
        y = scaled(x)
    return y + scaled(x)


def test_a_text_of_the_module_is_set_for_a_while():
    assert ad.value_and_grad(by_the_mode)(3.0) == (by_the_mode(3.0), 8.0)
    assert ad.jvp(by_the_mode, (3.0,), (1.0,)) == (15.0, 8.0)
    assert MODE == "double"
