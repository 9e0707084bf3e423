"""How SciPy lays out in memory what LAPACK finds: by columns until 1.17, by rows from 1.18 on."""

from typing import Any

import numpy as np
from scipy import linalg

SAMPLE = linalg.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]))[0]
ORDER: Any = "F" if SAMPLE.flags.f_contiguous else "C"
