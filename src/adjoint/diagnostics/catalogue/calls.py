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

            Declare its derivative:

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
    "AD0205": Entry(
        title="what is declared is no derivative of {name|the function}",
        helps=(
            "return the value and a pullback, which takes the cotangent of the value and returns one cotangent for "
            "each positional argument, alone where there is one, None where there is none",
        ),
        explanation="""
            A function that is declared as a derivative with @ad.derivative_of(fn) takes the arguments of fn and returns
            a pair: the value of fn, and its pullback. The pullback takes the cotangent of the value, and returns one
            cotangent for each positional argument of fn, in a tuple; alone where fn has one argument. A cotangent has
            the structure of its argument: a number for a number, an array of the same shape for an array, a tuple,
            list, dict or tangent object with the same parts. None stands for zero.

                @ad.derivative_of(blend)
                def blend_vjp(x, y):
                    return blend(x, y), lambda ct: ct * y    # refused: two arguments, one cotangent

            Return one for each:

                    return blend(x, y), lambda ct: (ct * y, ct * x)
            """,
    ),
    "AD0206": Entry(
        title="no derivative can be declared for {name|this}",
        helps=("declare it for a function: of a module, or a method as its class has it (Cls.method)",),
        explanation="""
            A declared derivative is found by the identity of the function that is called. An object, the method of
            one object, a functools.partial and a class are told apart by what they hold, or made anew each time
            they are asked for, so that a declaration would not be found again.

                @ad.derivative_of(solver.run)                # refused: the method of one object
                def run_vjp(x):
                    return solver.run(x), lambda ct: ct

            Declare it for the method as the class has it, with the object as first argument:

                @ad.derivative_of(Solver.run)
                def run_vjp(self, x):
                    return self.run(x), lambda ct: (None, ct)
            """,
    ),
    "AD0207": Entry(
        title="what varies meets {name|an object} with an arithmetic of its own",
        helps=("hand over a plain array: np.asarray(z)",),
        explanation="""
            Rules tell the derivatives of what NumPy does with numbers and arrays. Objects of a subclass of np.ndarray,
            or of a class that takes over NumPy's functions, decide themselves what an operation means: a masked array
            leaves elements out, a matrix multiplies as a matrix, a series aligns its labels.

                data = np.ma.array([0.1, 0.2], mask=[True, False])

                def loss(x):
                    return (data - x).sum()                  # refused: masked elements do not count

            Say what is meant with a plain array:

                def loss(x):
                    return np.where(data.mask, 0.0, np.asarray(data) - x).sum()

            np.asarray(z) gives the array behind an object, z.filled(0.0) one without masked places, s.to_numpy() that
            of a series. Memory maps (np.memmap) are arrays as any others.
            """,
    ),
    "AD0220": Entry(
        title="this is not the type of a differentiable function",
        explanation="""
            Fn[[float, np.ndarray], float] is the type of a function that carries its derivatives: the types of its
            parameters, in a list, and that of its result. The result varies, and so does at least one parameter. What
            cannot vary, as a string or an integer, is marked, so that nobody expects a derivative there.

                Loss = ad.Fn[[np.ndarray, str], float]       # refused: a string cannot vary

            Mark it:

                Loss = ad.Fn[[np.ndarray, ad.NoDerivative[str]], float]

            Parameters that could vary may be marked, too; then calls in which they do are refused. A result is never
            marked, and the number of parameters is fixed.
            """,
    ),
    "AD0221": Entry(
        title="{name|this} does not become a function that carries its derivatives",
        helps=(
            "say what its derivative is: ad.differentiable_function(lambda x: (value, pullback))",
            "or declare it for all: @ad.derivative_of(fn)",
        ),
        explanation="""
            Fn[[float], float] says that a value is a function that can be differentiated. Python code can be, and so
            can what a derivative is declared for; of a function of an extension module nobody can see the body.

                square: ad.Fn[[float], float] = ctypes_library.square        # refused

            Say what its derivative is:

                square = ad.differentiable_function(
                    lambda x: (ctypes_library.square(x), lambda ct: 2.0 * x * ct)
                )

            A conversion also checks how many parameters the function has; calls check what it returns.
            """,
    ),
    "AD0222": Entry(
        title="a function that is known only at run time is used in a way that its type does not tell",
        helps=("let its type say what it takes and gives: ad.Fn[[float, np.ndarray], float]",),
        explanation="""
            Where a function comes out of a place that is not looked into, the derivative calls what the function
            carries. Before anything runs it must be known what such a call gives: a number, an array, or a tuple of
            these.

                def loss(x):
                    f: ad.Fn[[float], Model] = table(0)
                    return f(x).weight                       # refused: an object

            Let it return numbers and arrays, or choose among functions with code that names them.
            """,
    ),
}
