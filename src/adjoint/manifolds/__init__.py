"""Curved spaces: points that move along geodesics, and gradients that are tangent to the space.

A loss of a point is written with the coordinates of the point. Its plain gradient says how the loss changes with
these; :func:`riemannian_grad` turns that into the direction of steepest ascent within the space, and ``moved`` follows
the geodesic in this direction:

>>> import adjoint as ad, numpy as np
>>> from adjoint.manifolds import Sphere, riemannian_grad
>>> target = np.array([0.0, 0.6, 0.8])
>>> def loss(place):
...     return -np.dot(place.point, target)
>>> place = Sphere(np.array([1.0, 0.0, 0.0]))
>>> for _ in range(50):
...     place = place.moved(along=-1.0 * riemannian_grad(loss)(place))
>>> np.round(place.point, 9)
array([0. , 0.6, 0.8])
"""

from adjoint.manifolds.gradient import RiemannianGradient, riemannian_grad, tangent_from
from adjoint.manifolds.matrices import PositiveDefinite, Stiefel
from adjoint.manifolds.rotations import SE3, SO3, UnitQuaternion
from adjoint.manifolds.spheres import Simplex, Sphere

__all__ = [
    "SE3",
    "SO3",
    "PositiveDefinite",
    "RiemannianGradient",
    "Simplex",
    "Sphere",
    "Stiefel",
    "UnitQuaternion",
    "riemannian_grad",
    "tangent_from",
]
