"""Which points are neighbours, and which triangles they form: what changes by steps where points move."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import spatial


def neighbours(points: Any, x: Any, k: Any = 1) -> Any:
    """The places of the points that are nearest to others; ``points`` may be a tree of them.

    >>> neighbours(np.array([[0.0], [1.0], [3.0]]), np.array([[2.5], [0.2]])).tolist()
    [2, 0]
    """
    tree = points if isinstance(points, spatial.cKDTree) else spatial.cKDTree(points)
    return np.asarray(tree.query(x, k)[1])


def points_of(tree: Any) -> Any:
    """The points that a tree holds."""
    return np.asarray(tree.data)


def _places(found: Any) -> Any:
    """Qhull counts in 32 bits."""
    return found.astype(np.int64)


def corners(points: Any, x: Any) -> Any:
    """The places of the corners of the simplices of Delaunay that other points lie in; -1 outside of all."""
    triangulation = points if isinstance(points, spatial.Delaunay) else spatial.Delaunay(points)
    simplex = triangulation.find_simplex(x)
    return np.where(np.reshape(simplex, (-1, 1)) < 0, -1, _places(triangulation.simplices)[simplex])


def triangles(points: Any) -> Any:
    """The simplices of Delaunay, each by the places of its corners."""
    return _places(spatial.Delaunay(points).simplices)


def hull_corners(points: Any) -> Any:
    """The places of the corners of the convex hull, in two dimensions counterclockwise."""
    return _places(spatial.ConvexHull(points).vertices)


def hull_facets(points: Any) -> Any:
    """The facets of the convex hull, each by the places of its corners."""
    return _places(spatial.ConvexHull(points).simplices)
