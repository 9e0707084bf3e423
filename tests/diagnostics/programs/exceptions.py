"""Exceptions and context managers that carry what varies, or handle what is raised."""

import adjoint as ad


#: ad.grad(carried_by_an_exception)(1.5)
def carried_by_an_exception(x):
    try:
        raise ValueError(x * 2, 3)  # error[AD0307]: the exception carries what varies, and is looked into where it is handled
    except ValueError as problem:
        return problem.args[0] * problem.args[1]


class Forgiving:
    def __enter__(self):
        return self

    def __exit__(self, kind, problem, traceback):
        return kind is ValueError


#: ad.grad(forgiven)(1.5)
def forgiven(x):
    with Forgiving():  # error[AD0301]: the '__exit__' of this context manager may handle the exception
        x = x * 2
        if x > 1:
            raise ValueError
    return x
