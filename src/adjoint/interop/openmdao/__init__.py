"""Components of OpenMDAO that know their partial derivatives: from a plain ``compute_primal``."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import openmdao.api as om

from adjoint.interop.methods import stand_in
from adjoint.interop.openmdao.partials import Constants, Key, Native, Partials
from adjoint.interop.vectors import Numbers, Variable, laid_out

__all__ = ["AdjointExplicitComponent", "AdjointImplicitComponent"]

_VARYING = ("_inputs", "_outputs", "_residuals", "_dinputs", "_doutputs", "_dresiduals")


class _Differentiated:
    """What both kinds of components share: they are mixed into those of OpenMDAO."""

    def __init__(
        self, matrix_free: bool = False, *, sparsity: Any = "auto", native: Native = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.matrix_free = matrix_free
        self._sparsity_given = sparsity
        self._native_given = native
        self._partials: Any = None
        self._found_pairs: list[Key] = []

    def _declare_options(self: Any) -> None:
        super()._declare_options()  # type: ignore[misc]
        self.options.undeclare("distributed")

    def _setup_partials(self: Any) -> None:
        """Declares the partials that are found, unless others are declared, or differences are asked for."""
        is_exact = self.options["derivs_method"] is None
        self._computes_partials(is_exact and not self.matrix_free)
        for key in self._found_pairs:
            self._declared_partials_patterns.pop(key, None)
        self._found_pairs = []
        super()._setup_partials()  # type: ignore[misc]
        self._partials = self._made() if is_exact else None
        if is_exact and not self.matrix_free and not self._declared_partials_patterns:
            self._declare_found()

    def _made(self: Any) -> Partials:
        wrt = laid_out({name: self._var_rel2meta[name]["shape"] for name in self._names_of_wrt()})
        of = laid_out({name: self._var_rel2meta[name]["shape"] for name in self._var_rel_names["output"]})
        method = type(self).compute_primal.__get__(self)
        stand = stand_in(method, type(self)._framework, tables=("options",), hidden=_VARYING)
        return Partials(stand, wrt, of, self._sparsity_given, self._native_given)

    def _names_of_wrt(self: Any) -> list[str]:
        return [*self._var_rel_names["input"]]

    def _declare_found(self: Any) -> None:
        partials = self._partials
        initial = [self._var_rel2meta[variable.name]["val"] for variable in partials.wrt]
        parts = [
            np.ravel(np.broadcast_to(np.asarray(val, float), variable.shape))
            for val, variable in zip(initial, partials.wrt, strict=True)
        ]
        partials.find(np.concatenate(parts), self._constants(self._discrete_inputs))
        for key, rows, cols in partials.blocks():
            self.declare_partials(*key, rows=rows, cols=cols)
            self._found_pairs.append(key)
            self._resolve_partials_patterns(*key, self._declared_partials_patterns[key])

    def _constants(self: Any, discrete: Any) -> Constants:
        """What counts as constant in this call."""
        partials = self._partials
        if not partials.stand.is_of(self):
            partials = self._partials = self._made()
        return partials.stand.read(self), tuple(discrete.values()) if discrete else ()

    def _is_left_out(self: Any, key: Key) -> bool:
        """Whether a partial is declared not to be there."""
        for patterns, meta in self._declared_partials_patterns.items():
            of, wrt = [(each,) if isinstance(each, str) else each for each in patterns]
            fits = any(fnmatchcase(key[0], each) for each in of) and any(fnmatchcase(key[1], each) for each in wrt)
            if fits and not meta["dependent"]:
                return True
        return False


class AdjointExplicitComponent(_Differentiated, om.ExplicitComponent):  # type: ignore[misc]
    """An explicit component of OpenMDAO, of which ``compute_primal`` is all that is written.

    Parameters
    ----------
    matrix_free
        Whether OpenMDAO is given products with the Jacobian in place of its entries.
    sparsity
        Which partials are declared, if the component declares none: ``"auto"`` for those that ``compute_primal`` may
        have, by entries; None for all of them, dense; or a pattern of shape ``(m, n)`` for all outputs and inputs.
    native
        Whether ``compute_primal`` and its derivatives are machine code.
    **options
        The component's options.

    Notes
    -----
    ``compute_primal(self, ...)`` takes the inputs in the order in which they are added, then the discrete inputs, and
    returns the outputs, then the discrete outputs. Attributes of ``self``, options and discrete inputs are read at each
    call, and count as constants.

    Examples
    --------
    >>> import numpy as np, openmdao.api as om
    >>> from adjoint.interop.openmdao import AdjointExplicitComponent
    >>> class Spring(AdjointExplicitComponent):
    ...     def setup(self):
    ...         self.add_input("x", shape=3)
    ...         self.add_input("k", 2.0)
    ...         self.add_output("force", shape=2)
    ...     def compute_primal(self, x, k):
    ...         return k * (x[1:] - x[:-1])
    >>> problem = om.Problem(reports=None)
    >>> _ = problem.model.add_subsystem("spring", Spring(), promotes=["*"])
    >>> _ = problem.setup()
    >>> problem.run_model()
    >>> problem.compute_totals(of=["force"], wrt=["x"])["force", "x"]
    array([[-2.,  2., -0.],
           [-0., -2.,  2.]])
    """

    _framework: type

    def _computes_partials(self, is_so: bool) -> None:
        self._has_compute_partials = is_so

    def compute(self, inputs: Any, outputs: Any, discrete_inputs: Any = None, discrete_outputs: Any = None) -> None:
        """Computes the outputs."""
        partials = self._partials
        if partials is None or not partials.native or discrete_outputs or self.under_complex_step:
            super().compute(inputs, outputs, discrete_inputs, discrete_outputs)
        else:
            outputs.set_val(partials.run(inputs.asarray(copy=True), *self._constants(discrete_inputs)))

    def compute_partials(self, inputs: Any, partials: Any, discrete_inputs: Any = None) -> None:
        """Computes the partials that are declared."""
        constants = self._constants(discrete_inputs)
        self._partials.write(partials, _real(inputs.asarray(copy=True)), constants, self._is_left_out)

    def compute_jacvec_product(
        self, inputs: Any, d_inputs: Any, d_outputs: Any, mode: str, discrete_inputs: Any = None
    ) -> None:
        """Adds the product of the Jacobian, or of its transpose, with a vector."""
        constants, vector = self._constants(discrete_inputs), _real(inputs.asarray(copy=True))
        found = self._partials
        if mode == "fwd":
            _add(d_outputs, found.of, found.pushed(vector, constants, _joined(found.wrt, d_inputs)))
        else:
            _add(d_inputs, found.wrt, found.pulled(vector, constants, _joined(found.of, d_outputs)))


class AdjointImplicitComponent(_Differentiated, om.ImplicitComponent):  # type: ignore[misc]
    """An implicit component of OpenMDAO, of which ``compute_primal`` computes the residuals.

    The parameters are those of :class:`AdjointExplicitComponent`. ``compute_primal(self, ...)`` takes the inputs, then
    the outputs, then the discrete inputs, and returns a residual for each output. OpenMDAO's solvers solve it.
    """

    _framework: type

    def _computes_partials(self, is_so: bool) -> None:
        self._has_linearize = is_so

    def add_discrete_output(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Is refused: all that ``compute_primal`` returns are residuals."""
        said = f"{name!r} would be a discrete output, and compute_primal returns residuals only"
        raise TypeError(f"{self.msginfo}: {said}")

    def _names_of_wrt(self) -> list[str]:
        return [*self._var_rel_names["input"], *self._var_rel_names["output"]]

    def linearize(
        self, inputs: Any, outputs: Any, jacobian: Any, discrete_inputs: Any = None, discrete_outputs: Any = None
    ) -> None:
        """Computes the partials that are declared."""
        constants = self._constants(discrete_inputs)
        self._partials.write(jacobian, self._vector(inputs, outputs), constants, self._is_left_out)

    def apply_linear(
        self, inputs: Any, outputs: Any, d_inputs: Any, d_outputs: Any, d_residuals: Any, mode: str
    ) -> None:
        """Adds the product of the Jacobian, or of its transpose, with a vector."""
        constants, vector = self._constants(self._discrete_inputs), self._vector(inputs, outputs)
        found = self._partials
        if mode == "fwd":
            _add(d_residuals, found.of, found.pushed(vector, constants, _joined(found.wrt, d_inputs, d_outputs)))
        else:
            product = found.pulled(vector, constants, _joined(found.of, d_residuals))
            _add(d_inputs, found.wrt, product)
            _add(d_outputs, found.wrt, product)

    def _vector(self, inputs: Any, outputs: Any) -> Numbers:
        return _real(np.concatenate([inputs.asarray(), outputs.asarray()]))


AdjointExplicitComponent._framework = AdjointExplicitComponent
AdjointImplicitComponent._framework = AdjointImplicitComponent


def _real(vector: Numbers) -> Numbers:
    """Under complex step, Newton's method takes the Jacobian of the real numbers."""
    return vector.real.copy() if np.iscomplexobj(vector) else vector


def _joined(variables: tuple[Variable, ...], *vectors: Any) -> Numbers:
    """The numbers of vectors, zero for what they have not."""
    joined = np.zeros(variables[-1].stop, np.result_type(*[vector.asarray() for vector in vectors]))
    for variable in variables:
        for vector in vectors:
            if variable.name in vector:
                joined[variable.start : variable.stop] = np.ravel(vector[variable.name])
    return joined


def _add(vector: Any, variables: tuple[Variable, ...], product: Numbers) -> None:
    for variable in variables:
        if variable.name in vector:
            vector[variable.name] += product[variable.start : variable.stop].reshape(variable.shape)
