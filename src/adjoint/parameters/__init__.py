"""Parameters of structures: what they are, and how all of them are updated at once."""

from adjoint.native.compile.not_native import NotNative
from adjoint.parameters.aggregate import ParameterAggregate
from adjoint.parameters.compiled_loop import CompiledLoop, StepPlan
from adjoint.parameters.iteration import for_parameters, for_zipped_parameters, zip_parameters
from adjoint.parameters.layout import Layout, Leaves, Parameter, Places
from adjoint.parameters.parameterized import GroupParameterized, Parameterized, parameter
from adjoint.parameters.unroll import Unrolled, unrolled

__all__ = [
    "CompiledLoop",
    "GroupParameterized",
    "Layout",
    "Leaves",
    "NotNative",
    "Parameter",
    "ParameterAggregate",
    "Parameterized",
    "Places",
    "StepPlan",
    "Unrolled",
    "for_parameters",
    "for_zipped_parameters",
    "parameter",
    "unrolled",
    "zip_parameters",
]
