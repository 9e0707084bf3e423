"""Rules of the module ``bisect``."""

import bisect

from adjoint.rules.declare import no_derivative

no_derivative(bisect.bisect_left, bisect.bisect_right)
