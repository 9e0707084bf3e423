"""AD01xx: finding the source of a function."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0101": Entry(
        title="no source available for {name|this function}",
        helps=(
            "define it in a file or in a notebook cell",
            "or declare its derivative: @ad.derivative_of(fn)",
        ),
        explanation="""
            Adjoint differentiates source code, and looks it up through the function's code object. Functions of
            extension modules, and functions made by exec() or eval() from a string, have none. Of a program that
            Python reads from a pipe (python < <(generate), or "generate | python -"), the text is there on Linux if
            it is short, at most 4096 bytes, and standard input is buffered. What is typed at Python's prompt is found
            in its history, the text of "python -c" on the command line.

                f = eval("lambda x: x * x")
                ad.grad(f)(3.0)                  # refused

            Write the function into a file or a notebook cell. If it has to come from a string, register the string
            with linecache under the file name that compile() was given. If it is not written in Python at all,
            declare its derivative:

                @ad.derivative_of(extension.response)
                def response_vjp(x):
                    y = extension.response(x)
                    return y, lambda ct: (ct * extension.response_slope(x),)
            """,
    ),
    "AD0102": Entry(
        title="the source of {name|this function} is not the code that runs",
        helps=("reload the module, or restart the interpreter",),
        explanation="""
            The text that was found where the function says it was defined does not compile to the function's code.
            Its derivative would be that of another function, so it is refused. The usual reason is a file that was
            edited after it was imported; others are tools that rewrite code on import, and a code object that was
            replaced by hand.

                import model                     # ... then model.py is edited ...
                ad.grad(model.loss)(3.0)         # refused: the old code still runs

            Reload the module (importlib.reload) and take the function from it again, or restart the interpreter.
            """,
    ),
    "AD0103": Entry(
        title="cannot differentiate {name|this value}: it is not a function",
        helps=("hand over the function itself, not its result: ad.grad(f), not ad.grad(f(x))",),
        explanation="""
            The operators take a function: a def, a lambda, a method, an object that can be called. They return
            its derivative as another function.

                ad.grad(f(3.0))                  # refused: f(3.0) is a number

            Hand over the function, and the argument to what comes back:

                ad.grad(f)(3.0)
            """,
    ),
    "AD0104": Entry(
        title="cannot differentiate {name|this code}: it does not run from its call to its return",
        helps=("return a list or an array instead of yielding",),
        explanation="""
            A generator hands control back before it has finished. It is differentiated as part of whoever goes
            through it, from its start to its end: by a loop, a comprehension, sum() or list(), yield from, or as a
            context manager made by contextlib.contextmanager. By itself it has no result to differentiate.

                def partial_sums(x):
                    total = 0.0
                    for k in range(5):
                        total += x**k
                        yield total

                ad.grad(partial_sums)(2.0)                         # refused
                ad.grad(lambda x: max(partial_sums(x)))(2.0)       # is fine

            A generator that is gone on with, by next(), send() or throw() or by another loop, or that a list has, is
            an object that keeps its variables from one yield to the next.

                def mean():
                    total, count, value = 0.0, 0, None
                    while True:
                        total, count = total + (yield value), count + 1
                        value = total / count

            Refused is going through itself to a depth that is not known, and yielding in 'except' or 'finally'. A
            loop that is left early closes its generator, which runs 'finally' blocks: that is refused where the
            generator lives on, for then they run at a time that nobody knows, and where the exception by which it
            is closed would be handled or looked at. So are functions that are made in a generator that is gone on
            with, and read variables that it binds again. What a loop raises does not come by the generator, so
            that a 'try' with handlers around a yield is refused where the loop may raise. Collect the items in a
            list instead:

                def partial_sums(x):
                    total, sums = 0.0, []
                    for k in range(5):
                        total += x**k
                        sums.append(total)
                    return sums

            Coroutines and asynchronous generators are refused, and the body of a class is no function at all.
            """,
    ),
    "AD0105": Entry(
        title="{name|this value} is no derivative",
        helps=("take the derivative first: ad.source(ad.grad(f), 1.0), with arguments of the kinds that are meant",),
        explanation="""
            ad.source, ad.export and ad.tape_report are about derivatives: what ad.grad and its family return.

                ad.source(loss)                  # refused: that is the function

            Take its derivative, and tell arguments where annotations do not:

                ad.source(ad.grad(loss), 1.0)

            What the compiler makes of a function, step by step, ad.stages(loss, 1.0) shows.
            """,
    ),
    "AD0106": Entry(
        title="no function {name|of this name} in the text of this derivative",
        helps=("print the whole text: ad.source(df)",),
        explanation="""
            A name handed to ad.source, instead of arguments, prints one of the functions that the text of a derivative
            consists of: the derivative itself, and those of functions that stay functions.

                ad.source(df, "rhs_pullbak")     # refused: a misspelt name

            Print the whole text to see which there are, or one that it has:

                ad.source(df)
                ad.source(df, "rhs_pullback")
            """,
    ),
}
