"""Components of OpenMDAO: partials as OpenMDAO's differences have them, declared where they may be other than zero."""

import numpy as np
import pytest

om = pytest.importorskip("openmdao.api")

import adjoint as ad  # noqa: E402
from adjoint.interop.openmdao import AdjointExplicitComponent, AdjointImplicitComponent  # noqa: E402

X = np.array([1.0, 2.0, 3.0, 4.0])


class Wing(AdjointExplicitComponent):
    def initialize(self):
        self.options.declare("order", 2)
        self.options.declare("scale", 3.0)

    def setup(self):
        self.gain = 2.0
        self.add_input("x", shape=4)
        self.add_input("y", 1.5)
        self.add_input("m", np.arange(6.0).reshape(2, 3))
        self.add_input("s", 0.5, shape=())
        self.add_output("f", shape=4)
        self.add_output("g")
        self.add_output("h", shape=(3, 2))

    def compute_primal(self, x, y, m, s):
        order = self.options["order"]
        f = np.zeros(len(x), x.dtype)
        for i in range(len(x)):
            f[i] = self.gain * x[i] ** order + y[0] * x[i]
        g = np.sum(x * x) * self.scaled(y)
        h = m.T * s
        return f, g, h

    def scaled(self, y):
        return y * self.options["scale"]


def run(component, solver=None, **values):
    problem = om.Problem(reports=None)
    problem.model.add_subsystem("c", component, promotes=["*"])
    if solver is not None:
        component.nonlinear_solver = om.NewtonSolver(solve_subsystems=False, iprint=-1, atol=1e-13, rtol=1e-13)
        component.linear_solver = solver
    problem.setup(force_alloc_complex=True)
    for name, value in values.items():
        problem.set_val(name, value)
    problem.run_model()
    return problem


def check(problem, method="cs", within=1e-13):
    """Both directions, where there are two, against differences."""
    checked = problem.check_partials(method=method, out_stream=None)["c"]
    errors = [error for each in checked.values() for error in each["abs error"] if error is not None]
    assert max(errors) < within
    return checked


def declared(problem, *key):
    return problem.model.c._subjacs_info.get(tuple([f"c.{name}" for name in key]))


@pytest.mark.filterwarnings("ignore:(?s).*zero derivatives for the following variable pairs")
@pytest.mark.parametrize("matrix_free", [False, True])
@pytest.mark.parametrize("sparsity", ["auto", None])
def test_explicit(matrix_free, sparsity):
    problem = run(Wing(matrix_free, sparsity=sparsity), x=X)
    component = problem.model.c
    checked = check(problem)
    assert len(checked) == 12 or not matrix_free
    component.options["scale"], component.gain = 1.0, 7.0  # are read at each call
    problem.run_model()
    check(problem)
    component.options["order"] = 3
    problem.run_model()
    check(problem)
    totals = problem.compute_totals(of=["f", "g"], wrt=["x"], return_format="dict")
    np.testing.assert_allclose(totals["f"]["x"], np.diag(21.0 * X**2 + 1.5))
    np.testing.assert_allclose(problem.get_val("x"), X)


def test_partials_declare_themselves():
    problem = run(Wing(), x=X)
    assert declared(problem, "f", "x")["rows"].tolist() == [0, 1, 2, 3]
    assert declared(problem, "f", "x")["cols"].tolist() == [0, 1, 2, 3]
    assert declared(problem, "f", "y")["rows"] is None
    assert declared(problem, "h", "m")["cols"].tolist() == [0, 3, 1, 4, 2, 5]
    assert declared(problem, "f", "m") is None and declared(problem, "h", "x") is None
    problem.setup()  # once more
    problem.run_model()
    assert declared(problem, "f", "x")["rows"].tolist() == [0, 1, 2, 3]


def test_partials_may_be_declared():
    class Chosen(Wing):
        def setup_partials(self):
            self.declare_partials("f", "x", rows=range(4), cols=range(4))
            self.declare_partials("f", "y", dependent=False)
            self.declare_partials("g", ["x", "y"])
            self.declare_partials("h", ["m", "s"])

    problem = run(Chosen(), x=X)
    totals = problem.compute_totals(of=["f", "g", "h"], wrt=["x", "y", "m", "s"], return_format="dict")
    np.testing.assert_allclose(totals["f"]["x"], np.diag(4.0 * X + 1.5))
    np.testing.assert_allclose(totals["g"]["x"], [9.0 * X])
    np.testing.assert_allclose(totals["f"]["y"], 0.0)
    np.testing.assert_allclose(totals["h"]["s"], [[0.0], [3.0], [1.0], [4.0], [2.0], [5.0]])


@pytest.mark.parametrize("rows", [None, [0, 1, 2]])
def test_partials_that_are_missing_are_refused(rows):
    class Missing(Wing):
        def setup_partials(self):
            if rows is not None:
                self.declare_partials("f", "x", rows=rows, cols=rows)
            self.declare_partials("f", "y")
            self.declare_partials("g", ["x", "y"])
            self.declare_partials("h", ["m", "s"])

    problem = run(Missing(), x=X)
    number = 0 if rows is None else 3
    with pytest.raises(ad.DifferentiationError, match=f"number {number} of 'f' depends on number {number} of 'x'"):
        problem.compute_totals(of=["f"], wrt=["x"])


class First(AdjointExplicitComponent):
    """The whole number that is a discrete input says what depends on what."""

    def setup(self):
        self.add_input("x", X)
        self.add_discrete_input("count", 2)
        self.add_output("f", shape=2)
        self.add_discrete_output("label", "")

    def compute_primal(self, x, count):
        return np.prod(x[:count]) * x[:2], f"of {count}"


@pytest.mark.filterwarnings("ignore:(?s).*zero derivatives for the following variable pairs")
def test_discrete_variables():
    problem = run(First(sparsity=None))
    assert problem.get_val("label") == "of 2"
    check(problem)
    problem.set_val("count", 3)
    problem.run_model()
    check(problem)
    assert problem.get_val("label") == "of 3"


def test_other_whole_numbers_never_give_a_wrong_jacobian():
    problem = run(First())
    check(problem)
    problem.set_val("count", 1)  # fewer entries, in the same places
    problem.run_model()
    check(problem)
    problem.set_val("count", 3)
    problem.run_model()
    with pytest.raises(ad.DifferentiationError, match="number 0 of 'f' depends on number 2 of 'x'"):
        problem.compute_totals(of=["f"], wrt=["x"])
    problem.set_val("count", 2)
    problem.run_model()
    check(problem)


class Bent(AdjointExplicitComponent):
    """Which floats choose: all entries are declared that there may be."""

    def setup(self):
        self.add_input("x", X)
        self.add_output("f", shape=4)

    def compute_primal(self, x):
        f = np.zeros(4, x.dtype)
        for i in range(4):
            f[i] = x[int(x[0].real)] * x[i]
        return f


def test_patterns_hold_for_all_numbers():
    problem = run(Bent())
    assert declared(problem, "f", "x")["rows"] is None
    for first in (0.5, 2.5):
        problem.set_val("x", [first, 2.0, 3.0, 4.0])
        problem.run_model()
        check(problem)


class Balance(AdjointImplicitComponent):
    def setup(self):
        self.add_input("a", [1.0, 2.0, 3.0])
        self.add_input("b", [2.0, 0.5, 1.0])
        self.add_discrete_input("power", 2)
        self.add_output("x", np.ones(3))
        self.add_output("y", 0.5)

    def compute_primal(self, a, b, x, y, power):
        return a * x**power + b * x - 4.0 - 0.1 * y, y**3 - np.sum(x)


def exact(problem, power):
    """The derivatives of the solution, by the implicit function theorem."""
    a, b, x, y = (problem.get_val(name) for name in "abxy")
    states, inputs = np.zeros((4, 4)), np.zeros((4, 6))
    states[:3, :3], states[:3, 3], states[3, :3] = np.diag(power * a * x ** (power - 1) + b), -0.1, -1.0
    states[3, 3] = 3.0 * y[0] ** 2
    inputs[:3, :3], inputs[:3, 3:] = np.diag(x**power), np.diag(x)
    return -np.linalg.solve(states, inputs)


@pytest.mark.parametrize("matrix_free", [False, True])
def test_implicit(matrix_free):
    solver = om.ScipyKrylov(atol=1e-13, rtol=1e-13, iprint=-1) if matrix_free else om.DirectSolver()
    problem = run(Balance(matrix_free), solver)
    for power in (2, 3):
        problem.set_val("power", power)
        problem.run_model()
        assert abs(problem.model.c._residuals.asarray()).max() < 1e-11
        check(problem)
        totals = problem.compute_totals(of=["x", "y"], wrt=["a", "b"], return_format="array")
        np.testing.assert_allclose(totals, exact(problem, power), rtol=1e-9, atol=1e-12)
    if not matrix_free:
        assert declared(problem, "x", "x")["rows"].tolist() == [0, 1, 2] and declared(problem, "y", "a") is None


def test_totals_by_complex_step():
    problem = run(Balance(), om.DirectSolver())
    checked = problem.check_totals(of=["x", "y"], wrt=["a", "b"], method="cs", out_stream=None)
    assert max(error for each in checked.values() for error in each["abs error"] if error is not None) < 1e-14


def test_differences_where_they_are_asked_for():
    problem = run(Wing(derivs_method="fd"), x=X)
    assert problem.model.c._has_approx
    np.testing.assert_allclose(problem.compute_totals(of=["g"], wrt=["x"])["g", "x"], [9.0 * X], rtol=1e-5)


class Chain(AdjointExplicitComponent):
    def setup(self):
        self.scale = 2.0
        self.add_input("x", X)
        self.add_output("f", shape=4)

    def compute_primal(self, x):
        f = np.zeros(4)
        for i in range(4):
            f[i] = self.scale * x[i] ** 2
        return f


def test_machine_code():
    problem = run(Chain(native=True))
    np.testing.assert_allclose(problem.get_val("f"), 2.0 * X**2)
    check(problem, "fd", 1e-4)
    problem.model.c.scale = 3.0
    problem.run_model()
    np.testing.assert_allclose(problem.get_val("f"), 3.0 * X**2)
    np.testing.assert_allclose(problem.compute_totals(of=["f"], wrt=["x"])["f", "x"], np.diag(6.0 * X))


def test_results_of_other_shapes_are_refused():
    class Short(Chain):
        def compute_primal(self, x):
            return x[:2] * self.scale

    with pytest.raises(ad.DifferentiationError, match="the method returns 2 numbers, and f have 4"):
        run(Short())


def test_what_varies_is_no_attribute():
    class Hidden(Chain):
        def compute_primal(self, x):
            return self._inputs["x"] * x

    with pytest.raises(ad.DifferentiationError, match="AD0214"):
        run(Hidden())


def test_implicit_components_have_no_discrete_outputs():
    class Labelled(Balance):
        def setup(self):
            super().setup()
            self.add_discrete_output("label", "")

    with pytest.raises(TypeError, match="'label' would be a discrete output"):
        run(Labelled())


class Scaled(AdjointExplicitComponent):
    """Its shapes are those of what it is connected to."""

    def initialize(self):
        self.options.declare("factor", 1.0)

    def setup(self):
        self.add_input("x", shape_by_conn=True, units="m")
        self.add_output("f", copy_shape="x", units="m")

    def compute_primal(self, x):
        return self.options["factor"] * x**2


def test_in_groups_with_units_and_shapes_of_connections():
    problem = om.Problem(reports=None)
    model = problem.model
    model.add_subsystem("given", om.IndepVarComp("x", X, units="km"))
    group = model.add_subsystem("group", om.Group())
    group.add_subsystem("first", Scaled(factor=1e-3))
    group.add_subsystem("second", Scaled(factor=2e-6))
    model.connect("given.x", "group.first.x")
    model.connect("group.first.f", "group.second.x")
    problem.setup(force_alloc_complex=True)
    problem.run_model()
    expected = 2e-6 * (1e-3 * (1e3 * X) ** 2) ** 2
    np.testing.assert_allclose(problem.get_val("group.second.f"), expected)
    totals = problem.compute_totals(of=["group.second.f"], wrt=["given.x"], return_format="array")
    np.testing.assert_allclose(totals, np.diag(4.0 * expected / X))
    assert group.second._subjacs_info["group.second.f", "group.second.x"]["rows"].tolist() == [0, 1, 2, 3]
