"""Exceptions and context managers that carry what varies, or handle what is raised."""

import adjoint as ad


#: ad.grad(carried_by_an_exception)(1.5)
def carried_by_an_exception(x):
    try:
        raise ValueError(x * 2, 3)  # error[AD0307]: the exception carries what varies, and is looked into where it is handled
    except ValueError as problem:
        return problem.args[0] * problem.args[1]


#: ad.grad(added_up_in_a_loop)([0.4, -0.9])
def added_up_in_a_loop(items):
    total = 0.0
    for item in items:
        try:
            if item < 0:
                raise ValueError(item)
            total += item
        except ValueError as problem:
            total += problem.args[0] ** 2  # error[AD0307]: an exception carries this, and of what kind it is is not known
    return total


#: ad.grad(read_back_from_text)(1.5)
def read_back_from_text(x):
    try:
        raise ValueError(x * 2)
    except ValueError as problem:
        return float(str(problem))  # error[AD0204]: a number that varies comes back from text here


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


#: ad.grad(attributes_of_slots)(1.5)
def attributes_of_slots(x):
    return sum(vars(Slotted(x)).values())  # error[AD0301]: objects of class 'Slotted' hold something besides attributes, or in another order
