"""Parameters of structures: what they are, and how all of them are updated at once."""

from adjoint.parameters.aggregate import ParameterAggregate
from adjoint.parameters.iteration import for_parameters, for_zipped_parameters, zip_parameters
from adjoint.parameters.layout import Layout, Leaves, Parameter, Places
from adjoint.parameters.parameterized import GroupParameterized, Parameterized, parameter
from adjoint.parameters.unroll import Unrolled, unrolled

__all__ = [
    "GroupParameterized",
    "Layout",
    "Leaves",
    "Parameter",
    "ParameterAggregate",
    "Parameterized",
    "Places",
    "Unrolled",
    "for_parameters",
    "for_zipped_parameters",
    "parameter",
    "unrolled",
    "zip_parameters",
]
