"""Quantization of vectors by ``scipy.cluster.vq``: which code is nearest counts as given."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy.cluster import vq

from adjoint import ir
from adjoint.rules.declare import case, definition, no_derivative, sample
from adjoint.rules.helpers.solvers import unknown
from adjoint.runtime.numerical_methods.of_scipy.choices import nearest_codes

no_derivative(nearest_codes, typed=lambda arguments: (ir.Array(np.dtype(np.int32), ("any",)),))


def _vq(obs, code_book, check_finite=True):
    codes = nearest_codes(obs, code_book)
    apart = obs - np.take(code_book, codes, axis=0)
    return codes, np.linalg.norm(apart, axis=-1) if np.ndim(obs) == 2 else np.abs(apart)


definition(
    vq.vq,
    _vq,
    arrays=("obs", "code_book"),
    cases=[case(sample(6, 2), sample(3, 2)), case(sample(6), sample(2))],
)
for _search in (vq.kmeans, vq.kmeans2):
    definition(_search, unknown, only=True, arrays=())
