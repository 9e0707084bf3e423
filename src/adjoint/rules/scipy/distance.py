"""Definitions of ``scipy.spatial.distance``."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special
from scipy.spatial import distance

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, definition, number, sample

# --- of two vectors ---------------------------------------------------------------------------------------------------


def _weighted(values, w):
    return values if w is None else values * w


def _sqeuclidean(u, v, w=None):
    return np.sum(_weighted((u - v) ** 2, w))


def _minkowski(u, v, p=2, w=None):
    return np.power(np.sum(_weighted(np.power(np.abs(u - v), p), w)), 1.0 / p)


def _cosine(u, v, w=None):
    both, ours, theirs = (np.sum(_weighted(product, w)) for product in (u * v, u * u, v * v))
    return 1.0 - both / np.sqrt(ours * theirs)


def _mahalanobis(u, v, VI):
    return np.sqrt((u - v) @ np.atleast_2d(VI) @ (u - v))


VECTORS = [case(sample(3), sample(3)), case(sample(3), sample(3), w=sample(3, kind="positive"))]
definition(distance.euclidean, lambda u, v, w=None: np.sqrt(_sqeuclidean(u, v, w)), cases=VECTORS)
definition(distance.sqeuclidean, _sqeuclidean, cases=VECTORS)
definition(distance.cityblock, lambda u, v, w=None: np.sum(_weighted(np.abs(u - v), w)), cases=VECTORS)
definition(distance.minkowski, _minkowski, arrays=("u", "v", "w"), cases=[*VECTORS, case(sample(3), sample(3), 3.0)])
definition(distance.cosine, _cosine, cases=VECTORS[:1])
definition(distance.chebyshev, lambda u, v: np.max(np.abs(u - v)), cases=VECTORS[:1])
definition(
    distance.mahalanobis,
    _mahalanobis,
    cases=[
        case(sample(3), sample(3), sample(3, 3, kind="definite")),
        case(sample(1), sample(1), number("positive")),
    ],
)

# --- of rows ----------------------------------------------------------------------------------------------------------


def _of_differences(differences, metric, p):
    if metric == "euclidean":
        return np.sqrt(np.sum(differences * differences, axis=-1))
    if metric == "sqeuclidean":
        return np.sum(differences * differences, axis=-1)
    if metric == "cityblock":
        return np.sum(np.abs(differences), axis=-1)
    if metric == "chebyshev":
        return np.max(np.abs(differences), axis=-1)
    if metric == "minkowski":
        return np.power(np.sum(np.power(np.abs(differences), p), axis=-1), 1.0 / p)
    raise NotImplementedError("another metric")


def _of_both(u, v, metric, p):
    """Distances that are no function of the differences alone, of what lies along the last axis."""
    if metric == "canberra":
        whole = np.abs(u) + np.abs(v)
        return np.sum(np.abs(u - v) / np.where(whole == 0.0, 1.0, whole), axis=-1)
    if metric == "braycurtis":
        return np.sum(np.abs(u - v), axis=-1) / np.sum(np.abs(u + v), axis=-1)
    if metric == "jensenshannon":
        ours, theirs = u / np.sum(u, axis=-1, keepdims=True), v / np.sum(v, axis=-1, keepdims=True)
        middle = 0.5 * (ours + theirs)
        return np.sqrt(0.5 * np.sum(special.rel_entr(ours, middle) + special.rel_entr(theirs, middle), axis=-1))
    if metric == "correlation":
        u, v = u - np.mean(u, axis=-1, keepdims=True), v - np.mean(v, axis=-1, keepdims=True)
    if metric == "correlation" or metric == "cosine":
        ours, theirs = np.sqrt(np.sum(u * u, axis=-1)), np.sqrt(np.sum(v * v, axis=-1))
        return 1.0 - np.sum(u * v, axis=-1) / (ours * theirs)
    return _of_differences(u - v, metric, p)


def _stretched(metric, V, VI, *rows):
    """Rows whose Euclidean distances are those of metrics that weigh differences."""
    whole = np.concatenate([np.asarray(each) for each in rows])
    if metric == "seuclidean":
        spread = np.var(whole, axis=0, ddof=1) if V is None else V
        return tuple([each / np.sqrt(spread) for each in rows])
    inverse = np.linalg.inv(np.atleast_2d(np.cov(np.transpose(whole)))) if VI is None else np.atleast_2d(VI)
    root = np.linalg.cholesky(0.5 * (inverse + np.transpose(inverse)))
    return tuple([each @ root for each in rows])


def _given(p, w, V, VI):
    """What is handed to a metric that is a function."""
    return {name: value for name, value in (("p", p), ("w", w), ("V", V), ("VI", VI)) if value is not None}


def _cdist(XA, XB, metric="euclidean", *, p=None, w=None, V=None, VI=None):
    if callable(metric):
        options = _given(p, w, V, VI)
        found = np.empty((np.shape(XA)[0], np.shape(XB)[0]))
        for i in range(np.shape(XA)[0]):
            for j in range(np.shape(XB)[0]):
                found[i, j] = metric(XA[i], XB[j], **options)
        return found
    if w is not None:
        raise NotImplementedError("weights")
    p = 2.0 if p is None else p
    if metric == "seuclidean" or metric == "mahalanobis":
        XA, XB = _stretched(metric, V, VI, XA, XB)
        return _of_differences(np.expand_dims(XA, 1) - XB, "euclidean", p).copy()
    if metric == "cosine":
        lengths = np.outer(np.sqrt(np.sum(XA * XA, axis=1)), np.sqrt(np.sum(XB * XB, axis=1)))
        return 1.0 - XA @ np.transpose(XB) / lengths
    return _of_both(np.expand_dims(XA, 1), np.expand_dims(XB, 0), metric, p).copy()


def _pdist(X, metric="euclidean", *, p=None, w=None, V=None, VI=None):
    first, second = np.triu_indices(np.shape(X)[0], 1)
    if callable(metric):
        options = _given(p, w, V, VI)
        found = np.empty(np.size(first))
        for k in range(np.size(first)):
            found[k] = metric(X[first[k]], X[second[k]], **options)
        return found
    if w is not None:
        raise NotImplementedError("weights")
    p = 2.0 if p is None else p
    if metric == "seuclidean" or metric == "mahalanobis":
        X = _stretched(metric, V, VI, X)[0]
        metric = "euclidean"
    return _of_both(np.take(X, first, axis=0), np.take(X, second, axis=0), metric, p)


def _between(u, v, p=2):
    """A metric for examples."""
    return np.sum(np.abs(u - v) ** p)


METRICS = ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski"]
OF_BOTH = ["cosine", "correlation", "canberra", "braycurtis", "jensenshannon"]
definition(
    distance.cdist,
    _cdist,
    arrays=("XA", "XB", "V", "VI"),
    cases=[
        *[case(sample(4, 3), sample(2, 3), metric) for metric in METRICS],
        *[case(sample(4, 3, kind="positive"), sample(2, 3, kind="positive"), metric) for metric in OF_BOTH],
        case(sample(4, 3), sample(2, 3), "minkowski", p=3.0),
        case(sample(4, 3), sample(2, 3), "seuclidean"),
        case(sample(4, 3), sample(2, 3), "seuclidean", V=sample(3, kind="positive")),
        case(sample(4, 3), sample(2, 3), "mahalanobis", VI=sample(3, 3, kind="definite")),
        case(sample(4, 2), sample(2, 2), "mahalanobis"),
        case(sample(4, 2), sample(2, 2), _between, p=3.0),
    ],
)
definition(
    distance.pdist,
    _pdist,
    arrays=("X", "V", "VI"),
    cases=[
        *[case(sample(4, 3), metric) for metric in METRICS],
        *[case(sample(4, 3, kind="positive"), metric) for metric in OF_BOTH],
        case(sample(4, 3), "seuclidean"),
        case(sample(4, 3), _between),
    ],
)


def _squareform(X, force="no", checks=True):
    if force != "no":
        raise NotImplementedError("this 'force'")
    if np.ndim(X) == 1:
        count = int(np.ceil(np.sqrt(np.size(X) * 2))) if np.size(X) else 1
        if count * (count - 1) != np.size(X) * 2:
            raise ValueError("Incompatible vector size")
        first, second = np.triu_indices(count, 1)
        matrix = np.zeros((count, count))
        matrix[first, second] = X
        matrix[second, first] = X
        return matrix
    if checks:
        distance.is_valid_dm(stop_gradient(X), throw=True, name="X")
    return np.asarray(X)[np.triu_indices(np.shape(X)[0], 1)]


definition(
    distance.squareform,
    _squareform,
    arrays=("X",),
    cases=[case(sample(6)), case(sample(1)), case(sample(3, 3), checks=False), case(sample(3, 3), "no", False)],
)
