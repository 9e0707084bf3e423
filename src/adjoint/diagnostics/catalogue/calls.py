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

            Functions and classes of installed packages are looked into. Where something in a class cannot be followed,
            or making an object takes more than 3000 statements, it is opaque, and a note says what was in the way.

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
            declared for some arguments only, or there is none: np.argmax, np.shape, and the order of a polygamma
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
            cotangent for each positional argument of fn, or for each of wrt=, in a tuple; alone where there is one. A
            cotangent has the structure of its argument: a number for a number, an array of the same shape for an array,
            a tuple, list, dict or tangent object with the same parts. None stands for zero.

                @ad.derivative_of(blend)
                def blend_vjp(x, y):
                    return blend(x, y), lambda ct: ct * y    # refused: two arguments, one cotangent

            Return one for each:

                    return blend(x, y), lambda ct: (ct * y, ct * x)

            With @ad.differential_of(fn) the pair is the value and a differential, which takes one tangent for each
            argument and returns that of the value. The parameters of an adjoint and of a transpose are told by their
            names, or all by their places.
            """,
    ),
    "AD0206": Entry(
        title="no derivative can be declared for {name|this}",
        helps=("declare it for what is called: a function, a method (Cls.method), a property, a class, an object",),
        explanation="""
            A declared derivative is found by the identity of what is called. So there has to be something that is
            called: not a field, which is only read, nor an abstract method, in whose place another one runs. It has to
            have an argument and a result. And it has to be the same thing in each call: the method of a list, or of an
            array, belongs to one object of many that look alike.

                @ad.derivative_of(samples.append)            # refused: the method of one list
                def append_vjp(x):
                    return samples.append(x), lambda ct: ct

            Methods of one object of a class of your own are fine, and those of all objects, as the class has them:

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
    "AD0208": Entry(
        title="{name|the function} has no derivative in this mode",
        helps=("declare it in this mode, too",),
        explanation="""
            A derivative is declared in one mode: a pullback for reverse mode, a differential for forward mode. The
            other mode transposes it, which takes a map that is linear, and is seen to be: sums, products and quotients
            with what does not depend on the cotangent, functions that are declared linear.

                @ad.derivative_of(layer)
                def layer_vjp(x):
                    return layer(x), lambda ct: np.clip(ct, -1.0, 1.0)   # no transpose: it is not linear

            Reverse mode takes such a pullback as it is. Forward mode, and second derivatives, which run forward mode in
            reverse, need a differential:

                @ad.differential_of(layer)
                def layer_jvp(x):
                    return layer(x), lambda dx: dx
            """,
    ),
    "AD0209": Entry(
        title="a derivative of {name|the function} is declared with respect to what cannot be meant",
        helps=('name its parameters: wrt="x", or several: wrt=("self", "x")',),
        explanation="""
            wrt= of a declaration names parameters of the function, by name or by position, each once. Without it a
            derivative is with respect to all that are given by position. What is declared for one function, a pullback
            and a differential, is with respect to the same parameters.

                @ad.derivative_of(convolve, wrt=("x", "kernle"))     # refused: there is no such parameter
                def convolve_vjp(x, kernel, stride): ...

            The pullback returns one cotangent for each of wrt, in the order in which wrt names them.
            """,
    ),
    "AD0210": Entry(
        title="a derivative is declared for {name|the function} already",
        helps=("leave out one of the two", "or say that this one counts: replace=True"),
        explanation="""
            Two functions are declared as the derivative of one, in the same mode.

                @ad.derivative_of(bessel)
                def bessel_vjp(x): ...

                @ad.derivative_of(bessel)
                def bessel_series_vjp(x): ...                # refused: which is meant?

            Declare one, or replace the other: @ad.derivative_of(bessel, replace=True) counts from then on, also in
            derivatives that were compiled before. A declaration that is run again, as when a cell of a notebook is,
            replaces itself.
            """,
    ),
    "AD0211": Entry(
        title="there is no attribute {name|of this name}",
        explanation="""
            A module, a class or an object is asked for something that it does not have. Python would raise an
            AttributeError when that runs; Adjoint sees it before.

                def total(x):
                    return np.sun(x)                         # refused: np.sum is meant

            Correct the name. An attribute that is only there on some paths gets a value in __init__. Where a condition
            decides whether it is asked for, the derivative raises the AttributeError when it comes to it.
            """,
    ),
    "AD0212": Entry(
        title="there is no item {name|at this place}",
        explanation="""
            A dict is asked for a key, or a sequence for a place, that it does not have. Python would raise a KeyError
            or an IndexError whenever that runs, and nothing would be returned.

                def loss(p):
                    return p["weigth"] ** 2                  # refused: the keys are "weight" and "bias"

            Correct the key, or ask first: p.get("weight", 0.0).
            """,
    ),
    "AD0213": Entry(
        title="this raises {name|an exception} in Python whenever it runs",
        explanation="""
            What is written here has no meaning for values of these kinds: a number is called, a tuple is assigned to,
            three values are unpacked into two names. Python would raise an exception; Adjoint sees it before.

                def loss(x):
                    return len(x) * x                        # refused where x is a number

            Correct it, or hand over values of the kinds that are meant. Where a handler around it waits for the
            exception, or a condition decides whether it is come to, it is raised when it runs.
            """,
    ),
    "AD0214": Entry(
        title="a method uses more of {name|its object} than attributes that can be read",
        helps=("hand over what is read, such as self.length, or take it as an argument",),
        explanation="""
            A component of a framework holds solvers, vectors, and the problem that it is part of. Its method is
            differentiated with an object in its place that has only the attributes that the method reads, and the
            methods of one's own that it calls. So the method must name them.

                class Beam(AdjointExplicitComponent):
                    def compute_primal(self, load):
                        return bending(self, load)           # refused: what does it read?

            Hand over what is read:

                class Beam(AdjointExplicitComponent):
                    def compute_primal(self, load):
                        return bending(self.length, load)
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
