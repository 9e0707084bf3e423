"""The samples of the reference document on differentiable types: python examples/reference/differentiable_types.py"""

from typing import Generic, TypeVar

import numpy as np

import adjoint as ad

T = TypeVar("T")
U = TypeVar("U")


@ad.differentiable
class Vector(ad.VectorNumeric):
    x: float
    y: float
    z: float


v = Vector(1.0, 2.0, 3.0)
print(ad.grad(lambda v: (v + v).x)(v))
print(Vector.TangentVector is Vector)
print(v.moved(along=Vector(0.5, 0.0, -1.0)))


@ad.differentiable
class DenseLayer:
    weight: np.ndarray
    bias: np.ndarray
    use_bias: bool = ad.no_derivative(default=True)
    previous_weight: np.ndarray = ad.no_derivative(default_factory=lambda: np.array(0.0))

    def __call__(self, inputs):
        return inputs @ self.weight + self.bias


dense = DenseLayer(weight=np.array([[1.0, 1.0], [1.0, 1.0]]), bias=np.array([0.0, 0.0]))
print(ad.grad(lambda dense: np.sum(dense(np.array([[3.0, 3.0]]))))(dense))
print(DenseLayer.TangentVector is DenseLayer.DifferentiableVariables)

variables = dense.differentiable_variables
variables.bias += 5.0
dense.differentiable_variables = variables
print(dense.bias, dense.use_bias)


@ad.differentiable
class GenericWrapper(Generic[T, U]):
    x: T
    y: U
    custom_flag: ad.NoDerivative[bool]
    helper_variable: T = ad.no_derivative()


wrapper = GenericWrapper(v, 2.0, True, Vector(7.0, 8.0, 9.0))
tangent = ad.grad(lambda wrapper: wrapper.x.z * wrapper.y)(wrapper)
print(tangent)
print(wrapper.moved(along=tangent))

# Prints:
# Vector(x=2.0, y=0.0, z=0.0)
# True
# Vector(x=1.5, y=2.0, z=2.0)
# DenseLayer.TangentVector(weight=array([[3., 3.],
#        [3., 3.]]), bias=array([1., 1.]))
# True
# [5. 5.] True
# GenericWrapper.TangentVector(x=Vector(x=0.0, y=0.0, z=2.0), y=3.0)
# GenericWrapper(x=Vector(x=1.0, y=2.0, z=5.0), y=5.0, custom_flag=True, helper_variable=Vector(x=7.0, y=8.0, z=9.0))
