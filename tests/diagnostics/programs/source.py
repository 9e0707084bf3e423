"""Functions whose source is not that of one call with one result."""

import adjoint as ad

NAMESPACE = {}
exec("def executed(x):\n    return x * x", NAMESPACE)


#: ad.grad(generator)(2.0)
def generator(x):
    yield x


#: ad.grad(coroutine)(2.0)
async def coroutine(x):
    return x


#: ad.grad(NAMESPACE["executed"])(2.0)


#: ad.grad(eval("lambda x: x * x"))(2.0)


#: ad.grad(calls_function_without_source)(2.0)
def calls_function_without_source(x):
    return NAMESPACE["executed"](x) + 1.0


#: ad.grad(calls_generator)(2.0)
def powers(x):
    yield x
    yield x * x


def calls_generator(x):
    return sum(powers(x))
