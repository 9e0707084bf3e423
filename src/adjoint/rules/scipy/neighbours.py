"""Trees, triangulations and hulls of ``scipy.spatial``: what is chosen counts as given.

Distances and volumes follow from the points that are chosen.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np
from scipy import spatial

from adjoint import ir
from adjoint.declarations.implicit import refused
from adjoint.rules.declare import case, closed, definition, method, no_derivative, sample
from adjoint.runtime.numerical_methods.of_scipy.spatial import (
    corners,
    hull_corners,
    hull_facets,
    neighbours,
    points_of,
    triangles,
)


def _places(rank):
    return lambda arguments: (ir.Array(np.dtype(np.int64), None if rank is None else ("any",) * rank),)


no_derivative(neighbours, typed=_places(None))
no_derivative(corners, triangles, hull_facets, typed=_places(2))
no_derivative(hull_corners, typed=_places(1))
no_derivative(points_of, typed=lambda arguments: (ir.Array(np.dtype(np.float64), ("any", "any")),))

# --- trees ------------------------------------------------------------------------------------------------------------


def _nearest(tree, points, x, k, eps, p, distance_upper_bound):
    if eps != 0 or p != 2 or distance_upper_bound != np.inf or not isinstance(k, int):
        raise NotImplementedError("another metric, a bound, or some of the neighbours")
    asked = np.asarray(x)
    places = neighbours(tree, asked, k)
    whence = asked if k == 1 else np.expand_dims(asked, -2)
    return np.linalg.norm(whence - points[places], axis=-1), places


def _query(self, x, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
    return _nearest(self, points_of(self), x, k, eps, p, distance_upper_bound)


class Tree:
    """A tree of points that vary."""

    def __init__(self, data, leafsize=10, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None):
        if boxsize is not None:
            raise NotImplementedError("a torus")
        self.data = np.asarray(data)

    def query(self, x, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
        return _nearest(self.data, self.data, x, k, eps, p, distance_upper_bound)

    def __getattr__(self, name):
        return refused(name, "the nearest neighbours in a tree of points that vary")


class OlderTree(Tree):
    """The same with the default of the class that SciPy had first."""

    def __init__(self, data, leafsize=16, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None):
        super().__init__(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)


definition(spatial.KDTree, Tree, arrays=())
definition(spatial.cKDTree, OlderTree, arrays=())
closed(spatial.cKDTree, "data", "n", "m", "size", "maxes", "mins", "leafsize")
method(spatial.cKDTree, "query", _query)
definition(spatial.KDTree.query, _query, arrays=())

# --- triangulations and hulls -----------------------------------------------------------------------------------------


class Triangulation:
    """Points that vary, with the triangles that they form."""

    def __init__(self, points, furthest_site=False, incremental=False, qhull_options=None):
        if furthest_site or incremental or qhull_options is not None:
            raise NotImplementedError("these options")
        self.points = np.asarray(points)
        self.simplices = triangles(self.points)


class Hull:
    """The convex hull of points that vary."""

    def __init__(self, points, incremental=False, qhull_options=None):
        if incremental or qhull_options is not None:
            raise NotImplementedError("these options")
        self.points = np.asarray(points)
        self.vertices, self.simplices = hull_corners(self.points), hull_facets(self.points)
        facets = self.points[self.simplices]
        rank = np.shape(facets)[-1]
        spanned = facets - np.mean(self.points, axis=0)
        self.volume = np.sum(np.abs(np.linalg.det(spanned))) / _factorial(rank)
        edges = facets[:, 1:] - facets[:, :1]
        squares = np.linalg.det(np.matmul(edges, np.swapaxes(edges, -1, -2)))
        self.area = np.sum(np.sqrt(np.abs(squares))) / _factorial(rank - 1)


def _factorial(n):
    return math.factorial(n)


no_derivative(_factorial, typed=lambda arguments: (ir.INT,))
definition(spatial.Delaunay, Triangulation, arrays=())
definition(spatial.ConvexHull, Hull, arrays=())


def _distance_matrix(x, y, p=2.0, threshold=1000000):
    if p == 2:
        return np.linalg.norm(np.asarray(x)[:, None, :] - np.asarray(y)[None, :, :], axis=-1)
    differences = np.abs(np.asarray(x)[:, None, :] - np.asarray(y)[None, :, :])
    if p == np.inf:
        return np.max(differences, axis=-1)
    if p == 1:
        return np.sum(differences, axis=-1)
    return np.sum(differences**p, axis=-1) ** (1.0 / p)


definition(
    spatial.distance_matrix,
    _distance_matrix,
    arrays=("x", "y"),
    cases=[case(sample(3, 2), sample(4, 2)), case(sample(3, 2), sample(2, 2), 1), case(sample(3, 2), sample(2, 2), 3)],
)
