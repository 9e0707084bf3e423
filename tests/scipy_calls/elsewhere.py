"""Images, places, transforms, solvers, special functions, sparse matrices, NumPy."""

# ruff: noqa

import numpy as np
import scipy
import scipy.sparse.linalg
from scipy import integrate, ndimage, spatial, optimize, special, fft, sparse
from scipy.spatial import distance

from scipy_calls.given import Corpus, A8, G, PTS, Q, S16, S3

corpus = Corpus(9)
call, normal, positive = corpus.call, corpus.normal, corpus.positive


IM = normal(6, 7)


@call(IM)
def gaussian_filter(a):
    return ndimage.gaussian_filter(a, 1.0)


@call(IM, 1.2)
def gaussian_filter_sigma(a, s):
    return ndimage.gaussian_filter(a, s)


@call(S16)
def gaussian_filter1d(a):
    return ndimage.gaussian_filter1d(a, 1.0)


@call(IM)
def uniform_filter(a):
    return ndimage.uniform_filter(a, 3)


@call(IM)
def median_filter(a):
    return ndimage.median_filter(a, 3)


@call(IM)
def maximum_filter(a):
    return ndimage.maximum_filter(a, 3)


@call(IM)
def minimum_filter(a):
    return ndimage.minimum_filter(a, size=3)


@call(IM)
def percentile_filter(a):
    return ndimage.percentile_filter(a, 30, 3)


@call(IM)
def sobel(a):
    return ndimage.sobel(a)


@call(IM)
def prewitt(a):
    return ndimage.prewitt(a)


@call(IM)
def laplace(a):
    return ndimage.laplace(a)


@call(IM)
def gaussian_laplace(a):
    return ndimage.gaussian_laplace(a, 1.0)


@call(IM)
def gaussian_gradient_magnitude(a):
    return ndimage.gaussian_gradient_magnitude(a, 1.0)


@call(IM, normal(3, 3))
def nd_convolve(a, k):
    return ndimage.convolve(a, k)


@call(IM, normal(3, 3))
def nd_correlate(a, k):
    return ndimage.correlate(a, k, mode="constant")


@call(S16, normal(3))
def nd_convolve1d(a, k):
    return ndimage.convolve1d(a, k)


@call(IM, np.array([[1.2, 2.3], [2.1, 3.3]]))
def map_coordinates(a, q):
    return ndimage.map_coordinates(a, q, order=1)


@call(IM, np.array([[1.2, 2.3], [2.1, 3.3]]))
def map_coordinates3(a, q):
    return ndimage.map_coordinates(a, q)


@call(IM)
def zoom(a):
    return ndimage.zoom(a, 1.5)


@call(IM)
def rotate(a):
    return ndimage.rotate(a, 20.0)


@call(IM, 0.3)
def shift(a, s):
    return ndimage.shift(a, s)


@call(IM, np.eye(2) + 0.1 * normal(2, 2))
def affine_transform(a, m):
    return ndimage.affine_transform(a, m)


@call(IM)
def center_of_mass(a):
    return ndimage.center_of_mass(a * a)


LAB = np.array([[1] * 7, [1] * 7, [2] * 7, [2] * 7, [0] * 7, [3] * 7])


@call(IM)
def nd_mean(a):
    return ndimage.mean(a, LAB, [1, 2, 3])


@call(IM)
def nd_sum(a):
    return ndimage.sum(a, LAB, [1, 2, 3])


@call(IM)
def nd_sum_labels(a):
    return ndimage.sum_labels(a, LAB, index=np.arange(1, 4))


@call(IM)
def nd_max(a):
    return ndimage.maximum(a, LAB, [1, 2, 3])


@call(IM)
def nd_std(a):
    return ndimage.standard_deviation(a, LAB, [1, 2, 3])


@call(IM)
def nd_median(a):
    return ndimage.median(a, LAB, [1, 2, 3])


@call(IM)
def spline_filter(a):
    return ndimage.spline_filter(a)


@call(IM)
def grey_dilation(a):
    return ndimage.grey_dilation(a, size=3)


@call(IM)
def nd_label(a):
    lab, n = ndimage.label(a > 0)
    return ndimage.sum(a, lab, range(1, n + 1))


@call(normal(4, 3), normal(5, 3))
def cdist(a, b):
    return distance.cdist(a, b)


@call(normal(4, 3), normal(5, 3))
def cdist_cos(a, b):
    return distance.cdist(a, b, "cosine")


@call(normal(4, 3))
def pdist(a):
    return distance.pdist(a)


@call(normal(4, 3))
def squareform(a):
    return distance.squareform(distance.pdist(a, "sqeuclidean"))


@call(normal(4, 3), normal(5, 3))
def cdist_mink(a, b):
    return distance.cdist(a, b, "minkowski", p=3)


@call(normal(4, 3), normal(5, 3), positive(3))
def cdist_se(a, b, v):
    return distance.cdist(a, b, "seuclidean", V=v)


@call(normal(4, 3), normal(5, 3), S3)
def cdist_mahal(a, b, v):
    return distance.cdist(a, b, "mahalanobis", VI=v)


@call(normal(4, 3), normal(5, 3))
def distance_matrix(a, b):
    return spatial.distance_matrix(a, b)


@call(normal(3), normal(3))
def d_euclidean(a, b):
    return distance.euclidean(a, b) + distance.cosine(a, b) + distance.cityblock(a, b) + distance.sqeuclidean(a, b)


@call(normal(3), normal(3), S3)
def d_mahalanobis(a, b, v):
    return distance.mahalanobis(a, b, v)


@call(positive(3), positive(3))
def jensenshannon(a, b):
    return distance.jensenshannon(a, b)


@call(positive(3), positive(3))
def braycurtis(a, b):
    return distance.braycurtis(a, b) + distance.canberra(a, b) + distance.correlation(a, b) + distance.chebyshev(a, b)


@call(normal(4, 3), normal(4, 3))
def procrustes(a, b):
    return spatial.procrustes(a, b)[2]


TREE = spatial.cKDTree(PTS)


@call(Q)
def kdtree_query(q):
    return TREE.query(q)[0]


@call(PTS, Q)
def kdtree_query_made(p, q):
    return spatial.cKDTree(p).query(q, k=2)[0]


@call(PTS, Q)
def kdtree_idx(p, q):
    i = spatial.cKDTree(p).query(q)[1]
    return np.sum((p[i] - q) ** 2)


@call(PTS)
def hull_volume(p):
    return spatial.ConvexHull(p).volume


@call(PTS)
def hull_area(p):
    v = spatial.ConvexHull(p).vertices
    return np.sum(p[v, 0] * np.roll(p[v, 1], 1))


@call(PTS)
def delaunay(p):
    t = spatial.Delaunay(p).simplices
    return np.sum(p[t] ** 2)


@call(normal(4), normal(3))
def rotation_apply(q, v):
    return spatial.transform.Rotation.from_quat(q).apply(v)


@call(normal(3), normal(3))
def rotation_rotvec(q, v):
    return (spatial.transform.Rotation.from_rotvec(q) * spatial.transform.Rotation.from_euler("xyz", v)).as_matrix()


@call(normal(3))
def rotation_euler(v):
    return spatial.transform.Rotation.from_rotvec(v).as_euler("zyx")


@call(np.array([[1.0, 0, 0], [0.1, 0.9, 0.2]]), np.array([0.3, 0.8]))
def geometric_slerp(a, t):
    return spatial.geometric_slerp(a[0] / np.linalg.norm(a[0]), a[1] / np.linalg.norm(a[1]), t)


@call(positive(4, 4))
def linear_sum_assignment(c):
    i, j = optimize.linear_sum_assignment(c)
    return np.sum(c[i, j])


@call(S16)
def f_fft(x):
    return np.abs(fft.fft(x))


@call(S16)
def f_rfft(x):
    return np.abs(fft.rfft(x))


@call(S16)
def f_dct(x):
    return fft.dct(x, norm="ortho")


@call(S16)
def f_hfftn(x):
    return fft.hfftn(x.reshape(4, 4))


@call(0.3)
def brentq(a):
    return optimize.brentq(lambda x: x**3 + a * x - 1, 0, 2)


@call(0.3)
def root_scalar(a):
    return optimize.root_scalar(lambda x: x**3 + a * x - 1, bracket=(0, 2)).root


@call(0.3)
def newton(a):
    return optimize.newton(lambda x: x**3 + a * x - 1, 1.0)


@call(normal(2))
def fsolve(a):
    return optimize.fsolve(lambda x: x**3 + x - a, np.ones(2))


@call(normal(2))
def minimize(a):
    return optimize.minimize(lambda x: np.sum((x - a) ** 4 + (x - 1) ** 2), np.ones(2), tol=1e-12).x


@call(0.3)
def minimize_scalar(a):
    return optimize.minimize_scalar(lambda x: (x - a) ** 2 + x**4).x


@call(normal(6))
def curve_fit(y):
    return optimize.curve_fit(lambda x, a, b: a * x + b, np.arange(6.0), y)[0]


@call(normal(6))
def least_squares(y):
    return optimize.least_squares(lambda p: p[0] * np.arange(6.0) + p[1] - y, np.zeros(2)).x


@call(positive(4, 3), positive(4))
def nnls(a, b):
    return optimize.nnls(a, b)[0]


@call(0.3)
def fixed_point(a):
    return optimize.fixed_point(lambda x: np.cos(x * a), 0.7, xtol=1e-12)


@call(normal(3))
def approx_fprime(x):
    return optimize.approx_fprime(x, lambda z: np.sum(z**3), 1e-06)


@call(normal(3))
def rosen(x):
    return optimize.rosen(x) + np.sum(optimize.rosen_der(x))


@call(positive(3))
def kolmogorov(x):
    return special.kolmogorov(x)


@call(positive(3))
def multigammaln(x):
    return special.multigammaln(x + 2, 2)


@call(np.array([0.3, 0.5]))
def legendre(x):
    return special.legendre(3)(x) + special.eval_legendre(3, x)


@call(np.array([0.3, 0.5]))
def legendre_by_its_slope(x):
    p = special.legendre(3)
    return x - p(x) / p.deriv()(x) + special.hermite(3).integ()(x) * special.chebyt(2).coef[0]


@call(np.array([0.3, 0.5]))
def root_of_complex_numbers(x):
    turned = np.sqrt(x - 0.4, dtype=complex) * (1.0 + 2.0j)
    return np.real(turned) + np.imag(np.log(x, dtype=np.complex128) * turned)


@call(np.array([0.3, 0.5]))
def genlaguerre(x):
    return special.genlaguerre(3, 1.0)(x)


@call(0.3)
def diric(x):
    return special.diric(x, 5)


@call(0.3)
def bernpoly(x):
    return special.lpmv(1, 2, x)


@call(np.array([0.3, 0.5]))
def logsumexp(x):
    return special.logsumexp(x, b=np.array([1.0, 2.0]))


@call(0.3)
def lambertw(x):
    return np.real(special.lambertw(x))


@call(3.3)
def zeta(x):
    return special.zeta(x)


@call(0.3)
def exprel(x):
    return special.exprel(x)


@call(normal(3))
def sp_dot(x):
    return sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 1]])) @ x


@call(positive(4), normal(3))
def sp_diags(d, x):
    return sparse.diags([d[:3], d[:2]], [0, 1]) @ x


@call(positive(3), normal(3))
def sp_solve(d, b):
    return scipy.sparse.linalg.spsolve(sparse.diags(d).tocsc(), b)


@call(normal(6, 2))
def whiten(a):
    from scipy.cluster.vq import whiten

    return whiten(a)


@call(A8)
def np_where_sum(a):
    return np.sum(a, where=a > 0)


@call(A8)
def np_divide_where(a):
    return np.divide(1.0, a, where=a > 0, out=np.zeros(8))


@call(normal(5, 3), normal(5))
def lsq_linear(a, b):
    return optimize.lsq_linear(a, b).x


@call(normal(5, 3), normal(5), 0.2)
def lsq_linear_within(a, b, high):
    found = optimize.lsq_linear(a, b, bounds=(-0.1, high))
    return found.x, found.cost, found.fun


@call(normal(5, 2), normal(5))
def lsq_linear_bounds(a, b):
    return optimize.lsq_linear(a, b, optimize.Bounds([-0.1, -np.inf], [0.2, 0.1]), method="bvls").x


@call(0.7, np.array([0.4, 1.3]))
def tanhsinh(a, b):
    found = integrate.tanhsinh(lambda x, c: np.exp(-c * x**2), 0.0, b, args=(a,))
    return found.integral * found.success


@call(0.7)
def tanhsinh_infinite(a):
    return integrate.tanhsinh(lambda x: np.exp(-a * x**2), -np.inf, np.inf).integral


@call(0.7)
def quadrature_up_to_a_pole(a):
    return integrate.tanhsinh(lambda x: a / np.sqrt(x), 0, 1).integral, integrate.quad(lambda x: a / x**0.25, 0, 1)[0]


@call(normal(3))
def products_with_a_matrix_of_the_older_classes(x):
    matrix = sparse.csr_matrix(np.array([[2.0, 0.3, 0.0], [0.0, 1.5, 0.4], [0.1, 0.0, 1.8]]))
    return (matrix * x, x * matrix, x @ matrix)


@call(normal(3))
def product_of_a_linear_operator_that_does_not_vary(x):
    matrix = sparse.csr_matrix(np.array([[2.0, 0.3, 0.0], [0.0, 1.5, 0.4], [0.1, 0.0, 1.8]]))
    return scipy.sparse.linalg.aslinearoperator(matrix) @ x


@call(normal(3))
def joined_with_directives(x):
    return (np.r_["0,2", x, x**2], np.r_["-1", x, 1.0, 0:2])


# --- functions of one's own, for each window, line or point ----------------------------------------------------------


@call(G, 0.7)
def generic_filter(a, p):
    return ndimage.generic_filter(a, lambda w, p: np.sum(w**2) * p, size=3, mode="nearest", extra_arguments=(p,))


@call(G)
def generic_filter_of_footprint(a):
    return ndimage.generic_filter(a, np.std, footprint=np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]))


def _of_neighbours(line, output):
    output[:] = line[:-2] * line[1:-1] + line[2:]


@call(G)
def generic_filter1d(a):
    return ndimage.generic_filter1d(a, _of_neighbours, 3, axis=0, mode="wrap")


def _second(input, axis, output, mode, cval):
    return ndimage.correlate1d(input, [1, -2, 1], axis, output, mode, cval, 0)


@call(G)
def generic_laplace(a):
    return ndimage.generic_laplace(a, _second, mode=("nearest", "wrap"))


@call(G)
def generic_gradient_magnitude(a):
    return ndimage.generic_gradient_magnitude(a, ndimage.sobel)


@call(G, 0.2)
def geometric_transform(a, s):
    return ndimage.geometric_transform(a, lambda place: (place[0] * 0.9 - s, place[1] * 0.8))


@call(G)
def filters_in_place(a):
    found = a * a
    ndimage.gaussian_filter(found, 1.2, output=found)
    ndimage.median_filter(found, 3, output=found)
    return found * ndimage.sobel(a, output=np.float64)


# --- exponentials and powers of sparse matrices -----------------------------------------------------------------------

BANDED = sparse.csc_matrix(np.diag([0.3, -0.2, 0.5, 0.1]) + np.diag([0.4, 0.7, -0.3], 1))


@call(normal(4), normal(4, 2))
def sparse_exponentials(v, m):
    whole = sparse.linalg.expm(sparse.diags_array(v, format="csc")).toarray()
    return (whole @ m, sparse.linalg.expm_multiply(BANDED, m), sparse.linalg.expm(whole))


@call(normal(4), 0.7)
def sparse_exponential_in_time(v, t):
    return sparse.linalg.expm_multiply(BANDED, v, 0.0, t, 3, endpoint=False)


@call(normal(3, 3))
def sparse_powers(a):
    return sparse.linalg.matrix_power(sparse.csr_matrix(a), 3).toarray()


# --- quadratures -----------------------------------------------------------------------------------------------------


@call(0.3, 0.4)
def shifted_quadrature(p, q):
    x, w = special.roots_sh_jacobi(4, p + 1.5, q + 0.7)
    return (x, w)
