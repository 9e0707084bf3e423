"""NumPy's statistics: quantiles, variances without what is no number, covariances, histograms."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def single(*shape):
    return lambda rng: rng.normal(size=shape).astype(np.float32)


@program(normal(6), normal(3, 4))
@program(single(6), single(3, 4))
def quantiles(x, m):
    rows = np.percentile(m, [20, 55], axis=0) * np.quantile(m, 0.7, axis=-1, keepdims=True)[0]
    return np.quantile(x, 0.3) ** 2 + np.percentile(x, 100) * np.median(m, axis=(0, 1), keepdims=True), rows


@program(normal(6), 0.37)
def quantile_at_a_place_that_varies(x, q):
    return np.quantile(x, q) * np.quantile(x, np.array([0.1, q]), method="hazen")


@program(normal(3, 4))
@program(single(3, 4))
def quantiles_of_numbers(m):
    holes = np.where(m > 0.8, np.nan, m)
    rows = np.nanquantile(holes, [0.2, 0.5], axis=1) + np.nanpercentile(holes, 30, axis=1)
    return np.nanmedian(holes) * rows, np.nanmedian(holes, axis=1, keepdims=True) ** 2


@program(normal(3, 4))
@program(single(3, 4))
def spread_of_numbers(m):
    holes = np.where(m > 0.8, np.nan, m)
    return np.nanvar(holes) * np.nanstd(holes, axis=1) + np.nanvar(holes, axis=1, ddof=1) * np.nanmean(holes)


@program(normal(5), normal(5), normal(2, 5))
@program(single(5), single(5), single(2, 5))
def covariances(x, y, m):
    table = np.cov(m) @ np.cov(m, bias=True) + np.cov(x, y) * np.corrcoef(x, y)[0, 1]
    return table, np.cov(x) ** 2, np.corrcoef(m, x), np.cov(m.T, rowvar=False, ddof=0)


@program(normal(4), normal(4))
def covariances_of_complex_numbers(x, y):
    return np.cov(np.stack([x + 1j * y, y - 1j * x**2])).imag, np.nanvar(x + 1j * y) * np.nanstd(x + 1j * y)


@program(normal(7), lambda rng: rng.uniform(0.5, 1.5, size=7))
def histograms(x, w):
    counts, edges = np.histogram(x, 3, weights=w)
    shares, _ = np.histogram(x, bins=[-2.0, 0.0, 0.5, 2.0], weights=w, density=True)
    return counts * edges[1:] + np.histogram(x, 3, range=(-1.0, 1.0))[0] * shares, np.histogram_bin_edges(x, 4) ** 2


@program(normal(5, 3))
def covariances_of_columns(table):
    return np.cov(np.transpose(table)) * np.corrcoef(table, rowvar=False)
