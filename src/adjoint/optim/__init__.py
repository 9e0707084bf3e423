"""Optimizers: they improve models of any structure along gradients of the same structure."""

from adjoint.optim.adam import Adam, AdaMax, AdamW, AMSGrad, RAdam
from adjoint.optim.adaptive import AdaDelta, AdaGrad, RMSProp
from adjoint.optim.clipping import clipped_by_norm, clipped_by_value
from adjoint.optim.constraints import constraint
from adjoint.optim.descent import LARS, SGD, Lion
from adjoint.optim.minimize import minimize
from adjoint.optim.optimizer import Group, Optimizer
from adjoint.optim.saving import load, save
from adjoint.optim.schedules import Constant, Cosine, Exponential, Linear, Schedule, Steps, Warmup
from adjoint.optim.state import State
from adjoint.optim.training import Training

__all__ = [
    "LARS",
    "SGD",
    "AMSGrad",
    "AdaDelta",
    "AdaGrad",
    "AdaMax",
    "Adam",
    "AdamW",
    "Constant",
    "Cosine",
    "Exponential",
    "Group",
    "Linear",
    "Lion",
    "Optimizer",
    "RAdam",
    "RMSProp",
    "Schedule",
    "State",
    "Steps",
    "Training",
    "Warmup",
    "clipped_by_norm",
    "clipped_by_value",
    "constraint",
    "load",
    "minimize",
    "save",
]
