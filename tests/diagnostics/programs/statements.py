"""Statements that have no derivative."""

import adjoint as ad


#: ad.grad(local_class)(2.0)
def local_class(x):
    class Settings(metaclass=type):
        scale = 3.0

    return Settings.scale * x


#: ad.grad(coroutine_inside)(2.0)
def coroutine_inside(x):
    async def later():
        return x

    return x * 2


#: ad.grad(generator_inside)(2.0)
def generator_inside(x):
    def powers():
        yield x
        yield x * x

    return sum(powers())


#: ad.grad(yield_in_lambda)(2.0)
def yield_in_lambda(x):
    return list((lambda: (yield x))())[0]


#: ad.grad(exception_group)(2.0)
def exception_group(x):
    try:
        y = x * x
    except* ValueError:
        y = x
    return y


#: ad.grad(delete_unknown_item)([1.0, 2.0])
def delete_unknown_item(weights):
    del weights[0]
    return sum(weights)


#: ad.grad(read_after_delete)(2.0)
def read_after_delete(x):
    y = x * x
    del y
    return y


#: ad.grad(unbound_name)(2.0)
def unbound_name(x):
    return x * unheard_of  # noqa: F821


#: ad.grad(evaluated)(2.0)
def evaluated(x):
    return eval("x * x")


#: ad.grad(executed)(2.0)
def executed(x):
    exec("y = x")
    return x


#: ad.grad(assigned_in_try)(2.0, 1.0)
def assigned_in_try(y, w):
    try:
        y = y * 2
        z = 1 / w
    except ZeroDivisionError:
        z = 0.0
    return y * z


#: ad.grad(three_problems)(2.0)
def three_problems(x):
    class Empty:
        pass

    y = scale(x)
    z = float.fromhex(x.hex())
    return x + y + z


def scale(x, factor):
    return x * factor


#: ad.grad(problem_in_each_branch)(2.0)
def problem_in_each_branch(x):
    if x > 0:
        y = scale(x)
    else:
        y = scale(x, 1.0, 2.0)
    return y
