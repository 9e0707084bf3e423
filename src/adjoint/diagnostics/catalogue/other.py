"""AD05xx: warnings; AD06xx: native code."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0501": Entry(
        title="the derivative with respect to {name|the argument} is zero",
        severity="warning",
        helps=("if that is meant, say so: ad.stop_gradient(x) around what counts as a constant",),
        explanation="""
            Nothing of the argument reaches the result, so the derivative is zero for every value of it. It is
            correct, and hardly ever what is meant.

                ad.grad(lambda x: math.sqrt(3.0))(2.0)       # 0.0, with this warning

            Look for a misspelt name, for a value that is computed and not used, or for a parameter that wrt names by
            mistake. Where the argument or the result passes ad.stop_gradient the zero is meant, and nobody is warned:

                ad.grad(lambda x: ad.stop_gradient(math.sqrt(3.0)))(2.0)
            """,
    ),
    "AD0502": Entry(
        title="the derivative is zero because everything goes through a rounding",
        severity="warning",
        helps=("leave out the rounding where a derivative is wanted",),
        explanation="""
            int(), round(), floor and the like are constant between their steps: their derivative is zero wherever
            it exists. Here the whole result goes through one of them, so that the whole derivative is zero.

                ad.grad(lambda x: 2.0 * round(x, 2))(1.234)  # 0.0, with this warning

            Round what is printed rather than what is computed. To round, and to differentiate as if it were not
            rounded, write the difference as a constant:

                x + ad.stop_gradient(round(x, 2) - x)
            """,
    ),
    "AD0503": Entry(
        title="{name|a field} carries no derivative, and is not marked",
        severity="warning",
        explanation="""
            A field of a class that is declared differentiable has a type whose values do not vary: an integer, a
            string, a flag, a function. It is left out of the tangent vectors of the class, and its value counts as a
            constant.

                @ad.differentiable
                class Dense:
                    weight: np.ndarray
                    use_bias: bool = True                    # warned of

            Say that this is meant:

                    use_bias: ad.NoDerivative[bool] = True
                    use_bias: bool = ad.no_derivative(default=True)

            A number that shall vary is annotated as a float. A field that is declared Final cannot move either: mark
            it, or leave out Final.
            """,
    ),
    "AD0504": Entry(
        title="nothing of {name|the derivative} runs in threads",
        severity="warning",
        helps=("leave out threads=",),
        explanation="""
            With threads= the outermost loops of a derivative run in chunks, side by side, if their iterations share
            nothing but numbers and arrays to which they add. Here there is no such loop: an iteration needs what
            others computed, or writes where others read.

                def last(x):
                    y = 0.0
                    for i in range(len(x)):
                        y = math.tanh(y + x[i])              # needs the y of the iteration before
                    return y

            What is independent can be moved to a loop of its own.
            """,
    ),
    "AD0505": Entry(
        title="{name|an argument} is written in place, by the derivative too",
        severity="warning",
        explanation="""
            A derivative does what its function does to memory that others see. Where the function writes to the
            argument that it is differentiated for, so does each call of its derivative: the second call begins with
            what the first one left.

                def doubled(x):
                    x *= 2.0                                 # warned of, once for each function
                    return np.sum(x * x)

                x = np.ones(3)
                ad.grad(doubled)(x)                          # [8., 8., 8.], and x holds twos
                ad.grad(doubled)(x)                          # [16., 16., 16.]

            Make a new value, x = 2.0 * x, or work on a copy; ad.grad(f, keep_writes=False) leaves the argument as it
            is, and leaves out what is computed for such writes only. If it is meant, as of a buffer that is reused,
            ignore the warning with warnings.filterwarnings("ignore", ".*AD0505").
            """,
    ),
    "AD0506": Entry(
        title="the number {name|in a field} has a default value, and is trained",
        severity="warning",
        explanation="""
            An optimizer updates every number and every array of a model. A number with a default value in a plain
            dataclass is often meant as a setting, which shall stay as it is; nothing tells it from a parameter.

                @dataclass
                class Net:
                    weight: np.ndarray
                    dropout: float = 0.1                     # warned of, at the first update

            Say which it is. What is marked with no_derivative counts as a constant, and gradients have no such field:

                    dropout: float = ad.no_derivative(default=0.1)
                    scale: float = ad.parameter(default=1.0)

            Fields of classes that are declared with @ad.differentiable are not warned of, nor what an optimizer leaves
            alone, by only= or by a group that is frozen.
            """,
    ),
    "AD0507": Entry(
        title="no cotangent passes here: the function never runs",
        severity="warning",
        helps=("differentiate with respect to what this is computed from", "or leave it out"),
        explanation="""
            ad.with_derivative(x, fn) and the block of "with ad.backward(x)" are at work on the cotangent of x. There is
            none where x does not depend on what is differentiated, or where the result does not depend on what is
            computed from the value that ad.with_derivative returns.

                def f(x, y):
                    ad.with_derivative(x, clip)              # warned of: the value that it returns is not used
                    y = ad.with_derivative(y, clip)          # warned of by ad.grad(f): it differentiates by x
                    return x * y

            Use the value that is returned: x = ad.with_derivative(x, clip).
            """,
    ),
    "AD0508": Entry(
        title="what is stored in {name|a field} loses its derivative",
        severity="warning",
        helps=("if that is meant, say so: store ad.stop_gradient(x)",),
        explanation="""
            A field that is marked with NoDerivative counts as a constant. What is stored there may vary with the
            arguments all the same; what is read from there afterwards has no derivative any more.

                @ad.differentiable
                class Layer:
                    weight: float
                    scale: ad.NoDerivative[float] = 1.0

                def loss(layer, x):
                    layer.scale = 2.0 * x                    # warned of: a derivative is lost here
                    return layer.weight * layer.scale

            Say that this is meant,

                    layer.scale = ad.stop_gradient(2.0 * x)

            or leave the mark out.
            """,
    ),
    "AD0509": Entry(
        title="the whole number {name|in a field} is not trained",
        severity="warning",
        explanation="""
            Whole numbers do not vary, so gradients have no field for them, and an optimizer leaves them as they are.
            Beside floats that it moves, 2 may have been meant as 2.0.

                class Curve:
                    def __init__(self):
                        self.height = 1.5
                        self.rate = 2                        # warned of, at the first update

            Write 2.0, or say that it is a setting: annotate the field in the class.

                class Curve:
                    height: float
                    rate: int
            """,
    ),
    "AD0510": Entry(
        title="{name|the method} is not declared to be differentiable, and what it overrides is",
        severity="warning",
        helps=("declare it, too: @ad.differentiable",),
        explanation="""
            A method that is declared with @ad.differentiable promises a derivative for all classes that inherit it. One
            that overrides it without the declaration is checked by nobody before it is differentiated.

                class Shape(ABC):
                    @abstractmethod
                    @ad.differentiable
                    def area(self, x: float) -> float: ...

                class Square(Shape):
                    def area(self, x: float) -> float:       # warned of
                        return x * x

            Declare it where it overrides, too.
            """,
    ),
    "AD0511": Entry(
        title="the tests of Adjoint have not run on this version of Python",
        severity="warning",
        explanation="""
            A new version of Python may read or compile programs in another way. On one that Adjoint's tests have not
            run on, the first derivative of all has some thirty programs with constructs of all kinds differentiated in
            both modes, and compared with differences. They agree, and this is said once: it is remembered where
            generated files are kept.

                ad.grad(loss)(1.0)                           # warned of, once on this machine

            Where they do not agree, all derivatives are refused (AD0903).
            """,
    ),
    "AD0512": Entry(
        title="a part of the derivative is zero because it goes through a rounding",
        severity="warning",
        helps=("round what is printed rather than what is computed",),
        explanation="""
            round(x, 2) is constant between its steps: its derivative is zero, and what goes through it is missing in
            the derivative of the whole, though differences between points that are not very close show a slope.
            Numbers are rounded to decimals to be read; so this is hardly ever what is meant.

                def cost(x):
                    return round(3.0 * x, 2) + x * x         # warned of: the slope is 2 * x

            Leave out the rounding, or write it as a constant, to differentiate as if it were not there:

                y + ad.stop_gradient(round(y, 2) - y)
            """,
    ),
    "AD0601": Entry(
        title="this cannot be compiled to machine code",
        helps=("leave out native=True: the derivative runs interpreted",),
        explanation="""
            Machine code has numbers, arrays, tuples and lists of one kind; what it has no form for, it calls Python
            for. Handlers of exceptions have a form around arithmetic of numbers alone: machine code raises less than
            Python does, and another exception than Python's must not end in one.

                def loss(x, table):
                    try:
                        return x * table[3]                  # refused with native=True
                    except IndexError:
                        return x

            Without native=True the derivative runs as Python. Or ask before, in place of handling what is raised.
            """,
    ),
    "AD0602": Entry(
        title="cannot export the derivative: {name|something in it} cannot be imported",
        helps=("move it to the top of a module that can be imported",),
        explanation="""
            A derivative that is written to a file imports what it refers to: functions that are called as they
            are, classes whose objects it makes. Each must be found in a module by its name. A lambda, a class
            that is local to a function, and what is defined in the script that runs have no such name.

                def make():
                    @dataclass
                    class Point: ...                         # local to make: no module can import it

            Define it at the top of a module. Data, such as a captured array, need not be imported: it becomes a
            parameter of the exported function.
            """,
    ),
    "AD0603": Entry(
        title="{name|this} is not there for arrays of this library",
        helps=("write it with functions that are there: docs/interop/arrays-of-other-libraries.md lists them",),
        explanation="""
            Derivatives of functions of arrays of PyTorch, JAX, CuPy and other libraries of the array API standard run
            in that library. Functions that it lacks, and for which nothing is written in terms of others, are refused
            before anything is computed: nothing is ever copied to NumPy.

                def loss(x):
                    return np.sum(np.partition(x, 3)[:3])    # refused for a tensor: the standard has no partition

            Write it with functions of the standard: np.sort(x)[:3].
            """,
    ),
    "AD0604": Entry(
        title="arrays of {name|this library} cannot be written",
        helps=("make a new array: np.where, np.stack, np.concatenate",),
        explanation="""
            Arrays of JAX never change. A function that stores into one raises an exception there, and so its
            derivative is refused.

                def loss(x):
                    y = np.zeros(3)
                    y[0] = x[0]                              # refused for an array of JAX
                    return np.sum(y)

            Make a new array of its parts. An assignment such as y += x makes one, and is fine.
            """,
    ),
    "AD0605": Entry(
        title="arrays of different libraries or devices meet",
        helps=("convert them before the call, all to one library and one device",),
        explanation="""
            All arrays that go into a derivative, as arguments or as captured data, are of one library and lie on one
            device. Adjoint converts and copies nothing behind your back.

                weights = np.ones(3)
                def loss(x):
                    return np.sum(weights * x)               # refused where x is a tensor

            Convert what does not go with the others: torch.as_tensor(weights).
            """,
    ),
    "AD0606": Entry(
        title="a tensor that requires a gradient of PyTorch is given to a derivative of Adjoint",
        helps=("hand over x.detach()",),
        explanation="""
            The operations of a derivative are not meant for PyTorch's tape, and its results carry no history: the
            gradients of a program around it would be wrong without a word.

                x = torch.ones(3, requires_grad=True)
                ad.grad(f)(x)                                # refused

            Hand over x.detach(). Where PyTorch is to differentiate through the function, make it an operation of
            autograd: adjoint.interop.torch.function(f).
            """,
    ),
}
