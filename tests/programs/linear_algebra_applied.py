"""Linear algebra as it is used: complex matrices, rectangular ones, eigenvalues of any matrix, norms of any order."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def hermitian(real, imaginary):
    z = real + 1j * imaginary
    return z + z.conj().T


@program(normal(3, 3), normal(3, 3))
def thermal_state(real, imaginary):
    """A function of a Hermitian matrix through its eigenvectors."""
    levels, states = np.linalg.eigh(hermitian(real, imaginary))
    weights = np.exp(-levels) / np.sum(np.exp(-levels))
    density = states * weights @ states.conj().T
    return np.sum(np.abs(density) ** 2 * np.arange(3.0)) - np.sum(weights * np.log(weights))


@program(normal(3, 3), normal(3, 3))
def levels_of_a_hermitian_matrix(real, imaginary):
    return np.linalg.eigvalsh(hermitian(real, imaginary))


@program(normal(3, 3), normal(3, 3))
def complex_factorisations(real, imaginary):
    z = real + 1j * imaginary
    lower = np.linalg.cholesky(z @ z.conj().T + np.eye(3))
    q, r = np.linalg.qr(z)
    return np.sum(np.abs(lower)) + np.sum((q * r).real) + np.linalg.slogdet(z).logabsdet


@program(normal(3, 4), normal(3, 4))
def complex_singular_values(real, imaginary):
    z = real + 1j * imaginary
    u, s, vh = np.linalg.svd(z, full_matrices=False)
    low_rank = u[:, :2] * s[:2] @ vh[:2]
    return np.sum(np.abs(low_rank) ** 2 * np.arange(4.0)) + np.sum(np.abs(np.linalg.pinv(z)) ** 2)


@program(normal(3, 3), normal(3, 3))
def complex_determinants(real, imaginary):
    z = real + 1j * imaginary
    sign, logarithm = np.linalg.slogdet(z)
    return np.abs(np.linalg.det(z)) + sign.real + logarithm**2 + np.linalg.norm(np.linalg.inv(z))


@program(normal(3, 3))
def stability_of_a_linear_system(a):
    rates = np.linalg.eigvals(a - 0.5 * np.eye(3))
    return np.max(rates.real) + np.sum(np.abs(rates) ** 2)


@program(lambda rng: np.array([[0.0, 1.0, 0.2], [-1.0, 0.1, 0.3], [0.4, -0.2, 0.5]]))
def modes_of_an_oscillator(a):
    rates, modes = np.linalg.eig(a)
    return np.sum(rates.imag**2) + np.sum(modes.real**3) + np.sum(modes.imag**3)


@program(normal(2, 3, 3))
def modes_of_several_systems(a):
    values, vectors = np.linalg.eig(a)
    return np.sum(np.abs(values * vectors[:, 0]))


@program(lambda rng: np.array([1.0, -2.5, 0.7, 3.0, -0.4]))
def poles_of_a_filter(coefficients):
    poles = np.roots(coefficients)
    return np.sum(np.abs(poles) * poles.real)


@program(normal(7, 3), normal(7))
def regression(design, target):
    solution, residuals, _, singular = np.linalg.lstsq(design, target, rcond=None)
    return np.sum(solution**3) + residuals[0] + singular[0] / singular[-1]


@program(normal(3, 5), normal(3, 2))
def least_norm_solutions(design, targets):
    return np.linalg.lstsq(design, targets)[0]


@program(normal(3, 5))
def wide_factorisation(a):
    q, r = np.linalg.qr(a)
    return np.sum(q**3) + np.sum(np.linalg.qr(a, mode="r") * np.arange(5.0)) + np.sum(r**2)


@program(normal(4, 3))
def norms_of_matrices(a):
    largest = np.linalg.norm(a, 2) * np.linalg.norm(a, "nuc") / np.linalg.norm(a, ord=-2)
    sums = np.linalg.norm(a, 1) + np.linalg.norm(a, np.inf) + np.linalg.norm(a, -1) * np.linalg.matrix_norm(a)
    return largest + sums + np.linalg.cond(a) + np.linalg.cond(a[:3] + 4 * np.eye(3), "fro")


@program(normal(2, 4, 3), normal(5))
def norms_along_axes(stack, x):
    by_rows = np.linalg.vector_norm(stack, axis=-1, ord=3)
    by_matrix = np.linalg.norm(stack, 2, axis=(2, 1), keepdims=True)
    return np.sum(by_rows / by_matrix[..., 0]) + np.linalg.norm(x, 2.5) * np.linalg.norm(x, -np.inf)


@program(normal(3, 4, 2), normal(3, 4), normal(4))
def stacks_of_products(a, b, c):
    along = np.matvec(np.linalg.matrix_transpose(a), b)
    across = np.vecmat(c, a) + np.vecdot(b, c)[:, None]
    return np.sum(along * across) + np.linalg.trace(np.linalg.matmul(a, along.T)).sum()


@program(lambda rng: (np.eye(6) + 0.2 * rng.normal(size=(6, 6))).reshape(2, 3, 6), normal(2, 3))
def tensor_equations(a, b):
    return np.linalg.tensorsolve(a, b) * np.sum(np.linalg.tensorinv(a) ** 2)
