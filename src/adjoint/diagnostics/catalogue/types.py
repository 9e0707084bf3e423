"""AD04xx: kinds of values, arguments and results."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0401": Entry(
        title="the kind of a value that varies is not known",
        helps=("annotate it, or the result of the call that makes it",),
        explanation="""
            For each value that the derivative depends on it must be known whether it is a number, an array, a
            list, an object of which class: y *= 2 rebinds a number, but writes an array in place. Kinds follow
            from the arguments, from constants and from the rules of the functions called. Here they do not.

                def loss(x, settings):
                    return x * settings.lookup("scale")      # refused if nothing tells what lookup returns

            Annotate the result of the call, or turn the value into what it is: float(...), np.asarray(...).
            """,
    ),
    "AD0402": Entry(
        title="{name|a value} is of different kinds on two paths",
        helps=("give it the same kind on both paths",),
        explanation="""
            After a branch or around a loop one name stands for values of different kinds: a number on one path, a
            list on the other; objects of two classes; None and an array. The code that follows would have to be
            differentiated in two ways.

                def loss(x, n):
                    state = x
                    for _ in range(n):
                        state = [state, x]                   # refused: a number, then a list of them
                    return total(state)

            Give it the same kind on every path. For a start value, take one of the right kind: 0.0, not 0 or None;
            np.zeros(3), not [].
            """,
    ),
    "AD0403": Entry(
        title="cannot differentiate with respect to an integer",
        helps=("write it as a float: 3.0 for 3, x.astype(float) for an array",),
        explanation="""
            An integer cannot vary smoothly, so there is no derivative with respect to it, and a gradient that was
            rounded to an integer would be wrong.

                ad.grad(f)(3)                                # refused

            Say that the argument is a real number by writing it as one:

                ad.grad(f)(3.0)

            The same holds for arrays of integers: f(x.astype(float)). A field that is annotated as float may hold
            an integer.
            """,
    ),
    "AD0404": Entry(
        title="cannot differentiate with respect to {name|this argument}: nothing in it can vary",
        helps=("name the arguments to differentiate for: wrt=0, wrt='x', wrt=('x', 'y')",),
        explanation="""
            Strings, booleans, None, functions, and containers of nothing else have no derivative. Numbers, arrays
            of floats, and tuples, lists, dicts and dataclasses that hold some of these do.

                ad.grad(f)("relu", 3.0)                      # refused: differentiates for the first argument

            Name the argument that is meant:

                ad.grad(f, wrt=1)("relu", 3.0)

            An object of a class that is not a dataclass becomes differentiable by declaration: @ad.differentiable.
            """,
    ),
    "AD0405": Entry(
        title="wrt must name parameters of the function, each once",
        helps=("wrt takes the index or the name of a parameter, or a tuple of them",),
        explanation="""
            What wrt names is not a parameter of the function: the index is out of range, the name is not in the
            signature, or it names a parameter twice.

                def f(x, y):
                    return x * y

                ad.grad(f, wrt=2)                            # refused: the parameters are 0 and 1
                ad.grad(f, wrt="z")                          # refused

            wrt takes an index from 0, a name, a key path, or a tuple of these, each once.
            """,
    ),
    "AD0406": Entry(
        title="the gradient needs a function with one number as its result",
        helps=(
            "for all partial derivatives: ad.jacobian(f)",
            "for a weighted sum of the results: ad.vjp(f, *args)",
        ),
        explanation="""
            A gradient has one entry for each part of the argument; that is the derivative of a single number. Here
            the result is an array of more than one element, a tuple, a list, or an object.

                ad.grad(lambda x: 2.0 * x)(np.ones(3))       # refused: the result has three elements

            Reduce the result to a number, as with np.sum; take all partial derivatives,

                ad.jacobian(lambda x: 2.0 * x)(np.ones(3))

            or a combination of them with weights of your own:

                y, pullback = ad.vjp(lambda x: 2.0 * x, np.ones(3))
                pullback(np.ones(3))

            To return something beside the number, say has_aux=True and return the pair.
            """,
    ),
    "AD0407": Entry(
        title="the result cannot be differentiated",
        helps=("return a float, an array of floats, or a structure of these",),
        explanation="""
            The function returns a string, a boolean, an integer or None. The most frequent reason is a path on
            which there is no return statement.

                def loss(x):
                    if x > 0:
                        return x * x                         # refused: returns None if x <= 0

            Return a number on every path:

                def loss(x):
                    if x > 0:
                        return x * x
                    return 0.0
            """,
    ),
    "AD0408": Entry(
        title="a float that varies is stored into an array of integers",
        helps=("make it an array of floats: np.zeros(n), np.array(values, dtype=float)",),
        explanation="""
            NumPy rounds what is stored into an array of integers, without a word. The derivative of rounding is
            zero, which is hardly what is meant. Floats that do not vary are stored, and rounded, as NumPy does it.

                def loss(x):
                    y = np.array([0, 0, 0])
                    y[0] = x * x                             # refused
                    return y.sum()

            Make it an array of floats, np.zeros(3). If rounding is meant, write int(x * x).
            """,
    ),
    "AD0409": Entry(
        title="the tangent or cotangent does not have the structure it needs",
        explanation="""
            A cotangent, the argument of a pullback, has the structure of the function's result; a tangent has that
            of the argument it belongs to: a float for a float, an array of the same shape for an array, a tuple,
            list or dict with the same places, an object with the same fields. None stands for zero.

                y, pullback = ad.vjp(lambda x: (x, 2.0 * x), 3.0)
                pullback(1.0)                                # refused: the result is a pair

            Hand over the same structure:

                pullback((1.0, 0.0))
            """,
    ),
    "AD0410": Entry(
        title="the key path does not fit the value",
        explanation="""
            A key path names the steps from a value to one of its parts: fields, and items of lists, tuples and dicts.
            The value that it was applied to lacks one of these.

                path = ad.keypath(".layers[2].weight")
                path.get(model)                              # refused: the model has two layers

            A gradient has the fields and items of what it is the gradient of, except those without derivative. The
            key paths of a value are listed by ad.recursively_all_key_paths(value).
            """,
    ),
    "AD0411": Entry(
        title="nothing can be assigned to the end of the key path",
        helps=("a value with another part there: path.replaced(value, part)",),
        explanation="""
            The part is an element of a tuple, a field of a frozen dataclass or a read-only property, and cannot be
            assigned to; nor can the value itself, which the empty key path leads to.

                ad.keypath()[0].set((1.0, 2.0), 5.0)         # refused: a tuple

            Make a value that differs in that part:

                ad.keypath()[0].replaced((1.0, 2.0), 5.0)    # (5.0, 2.0)
            """,
    ),
    "AD0412": Entry(
        title="the sparsity pattern does not fit the function",
        helps=("leave out sparsity: the matrix is dense then",),
        explanation="""
            The pattern of a Jacobian has a row for each number of the result and a column for each number of the
            argument, in the order of ravel; that of a Hessian is square. It says where an entry may be other than zero,
            and must name all such places: columns that have no common row are computed together, so that what is
            missing would be added to other entries.

                def differences(x):
                    return x[1:] - x[:-1]

                ad.jacobian(differences, sparsity=np.eye(3, 4))(np.ones(4))        # refused: the other diagonal

            Name every place:

                pattern = np.eye(3, 4) + np.eye(3, 4, k=1)
                ad.jacobian(differences, sparsity=pattern)(np.ones(4))
            """,
    ),
    "AD0413": Entry(
        title="an attribute of {name|an object} has a name that code cannot have",
        helps=("keep it in a dict, under a key",),
        explanation="""
            Derivatives are text: they read an attribute as obj.name. An attribute that was made by setattr may have a
            name with spaces or line ends in it, of which no such text can be made.

                setattr(options, "step size", 0.1)
                ad.grad(lambda options: getattr(options, "step size") ** 2)(options)      # refused

            Rename the attribute, or use a dict, whose keys may be any strings:

                ad.grad(lambda options: options["step size"] ** 2)({"step size": 0.1})
            """,
    ),
    "AD0414": Entry(
        title="a negative number to a power that is not whole is complex",
        helps=("keep it from being negative: abs(x) ** p, max(x, 0.0) ** p", "or make it complex: complex(x) ** p"),
        explanation="""
            Python makes a complex number of a negative float to the power of 0.5 or 1 / 3; NumPy gives nan. A
            derivative is made for types that are known beforehand, and a power of floats counts as a float. So it is
            refused when it happens.

                ad.grad(lambda x: (x**0.5).imag)(-2.0)           # refused

            Say that it is complex:

                ad.grad(lambda x: (complex(x) ** 0.5).imag)(-2.0)
            """,
    ),
    "AD0421": Entry(
        title="result must name a component of what the function returns",
        helps=("result takes an index, a key, the name of a field, or a key path",),
        explanation="""
            What result names is not there in what the function returns, or only known when it runs, as the items of
            a list that grows.

                def f(x):
                    return {"loss": x * x, "steps": 3}

                ad.grad(f, result="cost")                    # refused: the keys are "loss" and "steps"

            Name a component that is there on every path:

                ad.grad(f, result="loss")
            """,
    ),
    "AD0422": Entry(
        title="the adjoint needs the checkpoints that its primal gave",
        helps=("checkpoints, value = df.primal(*args), and then df.adjoint(checkpoints, value, seed)",),
        explanation="""
            The adjoint of a gradient reads what the primal of the same gradient has kept. Checkpoints of another
            function, or of a gradient with respect to other arguments, hold something else.

                checkpoints, value = ad.grad(f).primal(2.0)
                ad.grad(g).adjoint(checkpoints, value, 1.0)  # refused: these are checkpoints of f

            Hand over what the primal of the same gradient gave:

                ad.grad(f).adjoint(checkpoints, value, 1.0)
            """,
    ),
    "AD0423": Entry(
        title="ad.jet does not cover this",
        helps=("nest forward mode: lambda x: ad.jvp(f, (x,), (x_dot,))[1]",),
        explanation="""
            Derivatives of high order are computed by Taylor series, for which each function needs a recurrence. It is
            made of the derivative that the rule of the function tells, or that is declared. There is none for functions
            of cotangents, which series do not have, and none for some uses of NumPy.

                def f(x):
                    return ad.with_derivative(x * x, lambda ct: 2.0 * ct)

                ad.jet(f, (2.0,), (1.0,), order=2)     # refused

            Nest forward mode, whose cost doubles with each order:

                ad.jvp(lambda x: ad.jvp(f, (x,), (1.0,))[1], (2.0,), (1.0,))
            """,
    ),
    "AD0425": Entry(
        title="ad.transpose needs a linear function",
        helps=("of a function that is not linear, transpose the differential: ad.linearize(f, *args)",),
        explanation="""
            A linear function has a transpose. That a function is linear must be seen in its text: sums, differences,
            and products with what does not depend on its arguments. A constant term makes it affine.

                ad.transpose(lambda x: x * x, 1.0)           # refused

            The differential of any function at a point is linear:

                y, differential = ad.linearize(lambda x: x * x, 1.0)
                ad.transpose(differential)
            """,
    ),
    "AD0426": Entry(
        title="the TangentVector of {name|this class} is not the class of its tangents",
        explanation="""
            A class may say itself what its gradients are: by a class TangentVector with a field for each field that
            varies, which can be added, has a zero, and is its own TangentVector. This one is not so.

                @ad.differentiable
                class Point:
                    x: float
                    y: float

                    @ad.differentiable
                    class TangentVector(ad.VectorSpace):     # refused: there is no field y
                        x: float

            Declare the fields that are missing, or leave TangentVector out: then it is written for you.
            """,
    ),
    "AD0427": Entry(
        title="what the function captures is of another kind than when it was linearized",
        helps=("linearize again: y, differential = ad.linearize(f, *args)",),
        explanation="""
            A differential belongs to a point, and to the data that the function found outside of itself. Where it is
            computed by forward mode, the function is read again when it is called: the data was copied, so its numbers
            may change meanwhile, but not their kinds, the ranks of arrays, and what functions there are.

                W = np.ones(3)
                def power(x, n):
                    return x * W if n == 0 else power(x * x, n - 1) * W
                y, differential = ad.linearize(power, 1.5, 4)
                W = np.ones((3, 3))
                differential(1.0, None)                      # refused
            """,
    ),
    "AD0430": Entry(
        title="{name|the function} is declared to be differentiable, and cannot be",
        explanation="""
            @ad.differentiable on a function says that it has a derivative: that it has parameters which vary, and a
            result which varies with them. Annotations tell where that is not so. wrt= names the parameters that are
            meant, by index or name, in their order; 'self', where a method varies with its object, comes first.

                @ad.differentiable(wrt=("y", "x"))           # refused: the other way round
                def product(x: float, y: float) -> float:
                    return x * y

            Name them in their order:

                @ad.differentiable(wrt=("x", "y"))
                def product(x: float, y: float) -> float:
                    return x * y

            A function that returns nothing, a text or an integer has no derivative, nor has one without parameters.
            """,
    ),
}
