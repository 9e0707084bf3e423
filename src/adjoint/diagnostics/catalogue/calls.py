"""AD02xx: calls."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0201": Entry(
        title="cannot differentiate through an opaque function",
        helps=(
            "declare its derivative: @ad.derivative_of(fn)",
            "or hand it ad.stop_gradient(x), if the result shall count as a constant",
        ),
        explanation="""
            A value that the derivative depends on is handed to a function whose body is not visible and for which
            no derivative is declared: a function of an extension module, a built-in, an object's method that is
            not written in Python.

                def energy(x):
                    return extension.bessel(x) ** 2          # refused

            Declare its derivative, once, anywhere before the first use:

                @ad.derivative_of(extension.bessel)
                def bessel_vjp(x):
                    return extension.bessel(x), lambda ct: (ct * extension.bessel_slope(x),)

            If its result shall count as a constant, say so: extension.bessel(ad.stop_gradient(x)). Opaque functions
            that are handed nothing the derivative depends on are never looked into, and are fine.
            """,
    ),
    "AD0202": Entry(
        title="it is not known which function is called here",
        helps=("choose among functions with code that names them: f if c else g",),
        explanation="""
            The derivative of a call is the derivative of the function that is called, so that has to be known
            before anything runs. It is known for names of functions, for arguments of the differentiated function,
            for attributes of known objects and for choices among finitely many of these. It is not known when the
            function comes out of data.

                def apply(table, key, x):
                    return table[key](x)                     # refused if key is known only at run time

            Choose among functions with code that names them:

                def apply(key, x):
                    return math.sin(x) if key == "sin" else math.cos(x)
            """,
    ),
    "AD0203": Entry(
        title="the call does not fit the signature of {name|the function}",
        explanation="""
            The arguments of a call do not fit the parameters of the function that is called: too many, too few, an
            unknown keyword. Python would raise a TypeError when the call runs; Adjoint sees it before.

                def scale(x, factor):
                    return factor * x

                def loss(x):
                    return scale(x)                          # refused: 'factor' is missing

            Correct the call. Where the call is in a branch that is never taken, remove the branch.
            """,
    ),
    "AD0204": Entry(
        title="{name|the function} has no derivative for this argument",
        helps=(
            "declare a derivative that covers it: @ad.derivative_of(fn)",
            "or hand it ad.stop_gradient(x), if the argument shall count as a constant",
        ),
        explanation="""
            A derivative is declared for the function, but not for the argument that varies here. Either it was
            declared for some arguments only, or there is none: np.argmax, np.shape, and the order of a Bessel
            function have no derivative that could be used.

                def loss(x):
                    return np.searchsorted(x, 0.5) * x[0]    # refused: an integer cannot vary smoothly

            Hand over ad.stop_gradient(x) if the argument shall count as a constant there; declare a derivative that
            covers the argument if there is one; or write the function in terms of others.
            """,
    ),
}
