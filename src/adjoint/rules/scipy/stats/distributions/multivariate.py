"""Distributions of vectors and matrices, whose covariances are positive definite."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, definition, sample
from adjoint.rules.scipy.stats.distributions.formulas import freezable
from adjoint.runtime.array_functions.linalg import completed

EPSILON = float(np.finfo(float).eps)
LOG_PI = 1.1447298858494002
LOG_TWO = 0.6931471805599453
LOG_TWO_PI = 1.8378770664093453
HALF_LOG_TWO_PI = 0.5 * LOG_TWO_PI


def matrix_of(cov, extent):
    """A covariance matrix: a number or a vector stands for a diagonal."""
    if np.ndim(cov) == 2:
        return cov
    return cov * np.eye(extent)


def extent_of(place, matrix):
    """How many components there are."""
    if place is not None and np.ndim(place) == 1:
        return np.shape(place)[0]
    return np.shape(matrix)[0] if np.ndim(matrix) > 0 else 1


def _distances(x, place, matrix, extent):
    """The squares of distances by a covariance, and the logarithm of its determinant."""
    factor = np.linalg.cholesky(matrix_of(matrix, extent))
    shifted = x if place is None else x - place
    rows = np.reshape(shifted, (-1, extent))
    solved = np.linalg.solve(factor, np.transpose(rows))
    found = np.sum(solved * solved, axis=0)
    size = 2 * np.sum(np.log(np.diagonal(factor)))
    return found, size


def like(found, x, extent):
    """One number for each vector of ``x``, in its shape without axes of one element."""
    if np.ndim(x) > 2:
        return np.squeeze(np.reshape(found, np.shape(x)[:-1]))
    if np.ndim(x) < 2 and (np.ndim(x) == 0 or extent > 1 or np.shape(x)[0] == 1):
        return found[0]
    return found


def _refuse_singular(matrix):
    """Raises where SciPy leaves directions out: another number of them beside it, and no derivative."""
    sizes = np.linalg.eigvalsh(stop_gradient(matrix))
    if sizes[0] <= 1e6 * EPSILON * np.max(np.abs(sizes)):
        raise np.linalg.LinAlgError("the density has no derivative where the covariance is singular")


def _normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    if isinstance(cov, stats.Covariance):
        white = cov.whiten(x if mean is None else x - mean)
        return -0.5 * (cov.rank * LOG_TWO_PI + cov.log_pdet + np.sum(white * white, axis=-1))
    extent = extent_of(mean, cov)
    if allow_singular:
        _refuse_singular(matrix_of(cov, extent))
    found, size = _distances(x, mean, cov, extent)
    return like(-0.5 * (extent * LOG_TWO_PI + size + found), x, extent)


def _normal_entropy(mean=None, cov=1):
    extent = extent_of(mean, cov)
    matrix = matrix_of(cov, extent)
    _refuse_singular(matrix)
    factor = np.linalg.cholesky(matrix)  # of the lower half, which is what SciPy reads
    return 0.5 * extent * (LOG_TWO_PI + 1.0) + np.sum(np.log(np.diagonal(factor)))


def _t_entropy(loc=None, shape=1, df=1):
    extent = extent_of(loc, shape)
    half, whole = 0.5 * df, 0.5 * (extent + df)
    found = special.gammaln(half) - special.gammaln(whole) + 0.5 * extent * (np.log(df) + LOG_PI)
    found = found + whole * (special.psi(whole) - special.psi(half))
    return np.asarray(found + np.sum(np.log(np.diagonal(np.linalg.cholesky(matrix_of(shape, extent))))))


def _t_logpdf(x, loc=None, shape=1, df=1):
    extent = extent_of(loc, shape)
    found, size = _distances(x, loc, shape, extent)
    constant = special.gammaln(0.5 * (df + extent)) - special.gammaln(0.5 * df)
    constant = constant - 0.5 * extent * (np.log(df) + LOG_PI) - 0.5 * size
    return like(constant - 0.5 * (df + extent) * np.log1p(found / df), x, extent)


def _is_regular(given):
    return given.get("allow_singular", False) is False


DEFINITE = sample(3, 3, kind="definite")
PLACES = [
    case(sample(3), sample(3), DEFINITE),
    case(sample(4, 3), sample(3), DEFINITE),
    case(sample(4, 3), cov=DEFINITE),
    case(sample(3), np.zeros(3), sample(3, kind="positive")),
    case(sample(4), 0.3, 1.7),
    case(0.7, 0.3, 1.7),
]
ALLOWED = case(sample(3), sample(3), DEFINITE, allow_singular=True)
definition(stats.multivariate_normal.logpdf, _normal_logpdf, cases=[*PLACES, ALLOWED])
definition(
    stats.multivariate_normal.pdf,
    lambda x, mean=None, cov=1, allow_singular=False: np.exp(_normal_logpdf(x, mean, cov, allow_singular)),
    cases=PLACES[:2],
)
definition(stats.multivariate_normal.entropy, _normal_entropy, cases=[case(sample(3), DEFINITE), case(cov=DEFINITE)])
PAIR = sample(2, 2, kind="definite")
definition(stats.multivariate_t.entropy, _t_entropy, cases=[case(sample(3), DEFINITE, 4.5)])
SPREADS = [case(*call.args, 4.5) for call in PLACES[:2]]
definition(stats.multivariate_t.logpdf, _t_logpdf, when=_is_regular, cases=SPREADS)
definition(
    stats.multivariate_t.pdf,
    lambda x, loc=None, shape=1, df=1: np.exp(_t_logpdf(x, loc, shape, df)),
    when=_is_regular,
    cases=SPREADS[:1],
)


def _dirichlet_logpdf(x, alpha):
    given = np.asarray(x)
    if np.shape(given)[0] == np.shape(alpha)[0]:
        shares = given
    else:
        shares = np.concatenate([given, np.expand_dims(1.0 - np.sum(given, axis=0), 0)])
    constant = special.gammaln(np.sum(alpha)) - np.sum(special.gammaln(alpha))
    powers = np.reshape(alpha - 1.0, (-1,) + (1,) * (np.ndim(given) - 1))
    return np.squeeze(constant + np.sum(special.xlogy(powers, shares), axis=0))[()]


ALPHA = sample(3, kind="positive")
SIMPLEX = [
    case(np.array([0.2, 0.3, 0.5]), ALPHA),
    case(np.array([0.2, 0.3]), ALPHA),
    case(np.array([[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]]), ALPHA),
]
definition(stats.dirichlet.logpdf, _dirichlet_logpdf, cases=SIMPLEX)
definition(stats.dirichlet.pdf, lambda x, alpha: np.exp(_dirichlet_logpdf(x, alpha)), cases=SIMPLEX)


def _dirichlet_entropy(alpha):
    total, extent = np.sum(alpha), np.shape(alpha)[0]
    constant = np.sum(special.gammaln(alpha)) - special.gammaln(total)
    return constant + (total - extent) * special.psi(total) - np.sum((alpha - 1.0) * special.psi(alpha))


OF_ALPHA = [case(ALPHA)]
definition(stats.dirichlet.mean, lambda alpha: alpha / np.sum(alpha), cases=OF_ALPHA)
definition(
    stats.dirichlet.var,
    lambda alpha: alpha * (np.sum(alpha) - alpha) / (np.sum(alpha) ** 2 * (np.sum(alpha) + 1.0)),
    cases=OF_ALPHA,
)
definition(stats.dirichlet.entropy, _dirichlet_entropy, cases=OF_ALPHA)


def _covariance_of_shares(alpha):
    mean, total = alpha / np.sum(alpha), np.sum(alpha)
    return (np.diag(mean) - np.outer(mean, mean)) / (total + 1.0)


definition(stats.dirichlet.cov, _covariance_of_shares, cases=OF_ALPHA)


def _counted_logpmf(x, alpha, n):
    """Of counts whose probabilities have the distribution of Dirichlet; of counts of another sum, nothing."""
    counts, total = np.asarray(x), np.sum(alpha, axis=-1)
    whole = special.gammaln(total) + special.gammaln(n + 1.0) - special.gammaln(n + total)
    each = special.gammaln(counts + alpha) - special.gammaln(alpha) - special.gammaln(counts + 1.0)
    return np.where(np.sum(counts, axis=-1) == n, whole + np.sum(each, axis=-1), -np.inf)[()]


COUNTS = [case(np.array([1, 2, 3]), ALPHA, 6), case(np.array([[1, 2, 3], [2, 2, 3]]), ALPHA, 6)]
definition(stats.dirichlet_multinomial.logpmf, _counted_logpmf, arrays=("x", "alpha"), cases=COUNTS)
definition(
    stats.dirichlet_multinomial.pmf,
    lambda x, alpha, n: np.exp(_counted_logpmf(x, alpha, n)),
    arrays=("x", "alpha"),
    cases=COUNTS,
)


def _log_determinant(matrix):
    return 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(matrix))))


def _whole(scale):
    return np.reshape(scale, (1, 1)) if np.ndim(scale) == 0 else np.diag(scale) if np.ndim(scale) == 1 else scale


def _of_matrices(single):
    """What a density of a matrix means for several in a last axis, and for numbers; vectors are diagonals."""

    def density(x, df, scale):
        whole = _whole(scale)
        extent = np.shape(whole)[0]
        if np.ndim(x) == 0:
            return single(x * np.eye(extent), df, whole)
        if np.ndim(x) == 1 and extent > 1:
            return single(np.diag(x), df, whole)
        if np.ndim(x) == 2:
            return single(x, df, whole)
        several = np.reshape(x, (extent, extent, -1))
        return np.squeeze(np.stack([single(several[:, :, k], df, whole) for k in range(np.shape(several)[2])]))[()]

    return density


def _wishart_of_one(x, df, scale):
    extent = np.shape(scale)[0]
    trace = np.trace(np.linalg.solve(completed(scale, True), x))
    size = 0.5 * df * (extent * LOG_TWO + _log_determinant(scale)) + special.multigammaln(0.5 * df, extent)
    return 0.5 * (df - extent - 1) * _log_determinant(x) - 0.5 * trace - size


definition(
    stats.dirichlet_multinomial.mean,
    lambda alpha, n: n * alpha / np.sum(alpha),
    arrays=("alpha",),
    cases=[case(ALPHA, 6)],
)
_wishart_logpdf = _of_matrices(_wishart_of_one)
MATRICES = [
    case(DEFINITE, 4.5, DEFINITE),
    case(1.7, 4.5, 0.7),
    case(np.array([0.7, 1.9]), 4.5, 0.7),
    case(np.stack([2.0 * np.eye(2), np.array([[1.5, 0.3], [0.3, 1.0]])], axis=-1), 4.5, np.array([0.7, 1.2])),
]
definition(stats.wishart.logpdf, _wishart_logpdf, cases=MATRICES)
definition(stats.wishart.pdf, lambda x, df, scale: np.exp(_wishart_logpdf(x, df, scale)), cases=MATRICES)


definition(stats.wishart.mean, lambda df, scale: df * np.asarray(scale), cases=[case(4.5, DEFINITE)])


def _refuse_few(are_few):
    if are_few:
        raise ValueError("with so few degrees of freedom there is no such moment: SciPy returns None")


def _wishart_mode(df, scale):
    whole = _whole(scale)
    _refuse_few(df < np.shape(whole)[0] + 1)
    return np.squeeze((df - np.shape(whole)[0] - 1) * whole)[()]


def _wishart_var(df, scale):
    whole = _whole(scale)
    return np.squeeze(df * (whole * whole + np.outer(np.diagonal(whole), np.diagonal(whole))))[()]


def _sum_of_psi(df, extent):
    return np.sum(special.psi(0.5 * (df - np.arange(extent))))


def _wishart_entropy(df, scale):
    whole = _whole(scale)
    extent = np.shape(whole)[0]
    found = 0.5 * (extent + 1) * (_log_determinant(whole) + extent * LOG_TWO) + special.multigammaln(0.5 * df, extent)
    return found - 0.5 * (df - extent - 1) * _sum_of_psi(df, extent) + 0.5 * df * extent


OF_FREEDOM = [case(7.5, DEFINITE), case(7.5, 0.7)]
definition(stats.wishart.mode, _wishart_mode, cases=OF_FREEDOM)
definition(stats.wishart.var, _wishart_var, cases=OF_FREEDOM)
definition(stats.wishart.entropy, _wishart_entropy, cases=OF_FREEDOM)


def _inverse_wishart_of_one(x, df, scale):
    extent = np.shape(scale)[0]
    trace = np.trace(np.linalg.solve(completed(x, True), completed(scale, True)))
    size = 0.5 * df * (_log_determinant(scale) - extent * LOG_TWO) - special.multigammaln(0.5 * df, extent)
    return size - 0.5 * (df + extent + 1) * _log_determinant(x) - 0.5 * trace


_inverse_wishart_logpdf = _of_matrices(_inverse_wishart_of_one)
definition(stats.invwishart.logpdf, _inverse_wishart_logpdf, cases=MATRICES)
definition(stats.invwishart.pdf, lambda x, df, scale: np.exp(_inverse_wishart_logpdf(x, df, scale)), cases=MATRICES)


def _inverse_wishart_mean(df, scale):
    whole = _whole(scale)
    least = df - np.shape(whole)[0] - 1
    _refuse_few(least <= 0)
    return np.squeeze(whole / least)[()]


def _inverse_wishart_mode(df, scale):
    whole = _whole(scale)
    return np.squeeze(whole / (df + np.shape(whole)[0] + 1))[()]


def _inverse_wishart_var(df, scale):
    whole = _whole(scale)
    left = df - np.shape(whole)[0]
    _refuse_few(left <= 3)
    products = np.outer(np.diagonal(whole), np.diagonal(whole))
    found = (left + 1) * whole * whole + (left - 1) * products
    return np.squeeze(found / (left * (left - 1) ** 2 * (left - 3)))[()]


def _inverse_wishart_entropy(df, scale):
    whole = _whole(scale)
    extent = np.shape(whole)[0]
    found = 0.5 * (extent + 1) * (_log_determinant(whole) - LOG_TWO) + special.multigammaln(0.5 * df, extent)
    return found - 0.5 * (df + extent + 1) * _sum_of_psi(df, extent) + 0.5 * df * extent


definition(stats.invwishart.mean, _inverse_wishart_mean, cases=OF_FREEDOM)
definition(stats.invwishart.mode, _inverse_wishart_mode, cases=OF_FREEDOM)
definition(stats.invwishart.var, _inverse_wishart_var, cases=OF_FREEDOM)
definition(stats.invwishart.entropy, _inverse_wishart_entropy, cases=OF_FREEDOM)


def _matrix_logpdf(X, mean=None, rowcov=1, colcov=1):
    rowcov, colcov = matrix_of(rowcov, np.shape(X)[-2]), matrix_of(colcov, np.shape(X)[-1])
    if np.ndim(X) == 2:
        return _logpdf_of_matrix(X, mean, rowcov, colcov)
    several = np.reshape(X, (-1, *np.shape(X)[-2:]))
    found = [_logpdf_of_matrix(several[k], mean, rowcov, colcov) for k in range(len(several))]
    return np.squeeze(np.reshape(np.stack(found), np.shape(X)[:-2]))[()]


def _logpdf_of_matrix(X, mean, rowcov, colcov):
    rows, columns = np.shape(X)
    off = X if mean is None else X - mean
    scaled = np.linalg.solve(completed(rowcov, True), off)
    found = np.sum(off * np.transpose(np.linalg.solve(completed(colcov, True), np.transpose(scaled))))
    size = rows * columns * LOG_TWO_PI + columns * _log_determinant(rowcov) + rows * _log_determinant(colcov)
    return -0.5 * (size + found)


OF_MATRICES = [
    case(sample(3, 2), sample(3, 2), DEFINITE, sample(2, 2, kind="definite")),
    case(sample(3, 3), rowcov=DEFINITE, colcov=DEFINITE),
    case(sample(4, 3, 2), sample(3, 2), DEFINITE, 1.7),
]
definition(stats.matrix_normal.logpdf, _matrix_logpdf, cases=OF_MATRICES)
definition(
    stats.matrix_normal.pdf,
    lambda X, mean=None, rowcov=1, colcov=1: np.exp(_matrix_logpdf(X, mean, rowcov, colcov)),
    cases=OF_MATRICES[:1],
)


def _matrix_entropy(rowcov=1, colcov=1):
    rows, columns = np.shape(rowcov)[0], np.shape(colcov)[0]
    sizes = columns * _log_determinant(rowcov) + rows * _log_determinant(colcov)
    return 0.5 * (rows * columns * (LOG_TWO_PI + 1.0) + sizes)


definition(stats.matrix_normal.entropy, _matrix_entropy, cases=[case(DEFINITE, PAIR)])


def _matrix_t_logpdf(X, mean=None, row_spread=1, col_spread=1, df=1):
    """By determinants of two matrices, as Gupta and Nagar (2000), theorem 4.2.1."""
    if np.ndim(X) != 2 or np.ndim(row_spread) != 2 or np.ndim(col_spread) != 2:
        raise NotImplementedError("several matrices, or spreads that are numbers")
    rows, columns = np.shape(X)
    off = X if mean is None else X - mean
    scaled = np.transpose(off) @ np.linalg.solve(completed(row_spread, True), off)
    grown = np.eye(columns) + np.transpose(np.linalg.solve(completed(col_spread, True), scaled))
    half = 0.5 * (df + columns - 1)
    size = special.multigammaln(half + 0.5 * rows, columns) - special.multigammaln(half, columns)
    size = size - 0.5 * (rows * columns * LOG_PI + columns * _log_determinant(row_spread))
    return size - 0.5 * rows * _log_determinant(col_spread) - (half + 0.5 * rows) * np.linalg.slogdet(grown)[1]


if hasattr(stats, "matrix_t"):  # since SciPy 1.17
    OF_SPREADS = [case(sample(3, 2), sample(3, 2), DEFINITE, sample(2, 2, kind="definite"), 3.5)]
    definition(stats.matrix_t.logpdf, _matrix_t_logpdf, cases=OF_SPREADS)
    definition(
        stats.matrix_t.pdf,
        lambda X, mean=None, row_spread=1, col_spread=1, df=1: np.exp(
            _matrix_t_logpdf(X, mean, row_spread, col_spread, df)
        ),
        cases=OF_SPREADS,
    )
    freezable(stats.matrix_t)
# --- objects from outside ---------------------------------------------------------------------------------------------

_CLASS = type(stats.multivariate_normal())


def _frozen_logpdf(self, x):
    return _normal_logpdf(x, self.mean, self.cov_object)


definition(_CLASS.logpdf, _frozen_logpdf, arrays=("x",))
definition(_CLASS.pdf, lambda self, x: np.exp(_frozen_logpdf(self, x)), arrays=("x",))
_FAMILIES = (
    *(stats.multivariate_normal, stats.multivariate_t, stats.dirichlet, stats.wishart, stats.invwishart),
    *(stats.matrix_normal, stats.dirichlet_multinomial),
)
for dist in _FAMILIES:
    freezable(dist)
