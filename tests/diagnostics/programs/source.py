"""Functions whose source is not that of one call with one result."""

import adjoint as ad

NAMESPACE = {}
exec("def executed" + "(x):\n    return x * x + 41.25", NAMESPACE)


#: ad.grad(generator)(2.0)
def generator(x):  # error[AD0104]: it is a generator
    yield x


#: ad.grad(coroutine)(2.0)
async def coroutine(x):  # error[AD0104]: it is a coroutine
    return x


#: ad.grad(NAMESPACE["executed"])(2.0)  # error[AD0101]: it was made by 'exec' or 'eval', and nothing keeps the text of it


#: ad.grad(eval("lambda x" + ": x * x + 41.25"))(2.0)  # error[AD0101]: it was made by 'exec' or 'eval', and nothing keeps the text of it


#: ad.grad(calls_function_without_source)(2.0)  # error[AD0101]: it was made by 'exec' or 'eval', and nothing keeps the text of it
def calls_function_without_source(x):
    return NAMESPACE["executed"](x) + 1.0


#: ad.grad(returns_generator)(2.0)
def powers(x):
    yield x
    yield x * x


def returns_generator(x):  # error[AD0104]: this returns a generator
    return powers(x)
