"""What the tests of this package share."""

from collections.abc import Callable
from typing import Any

import adjoint as ad
from sampling import check_grads


def right_or_refused(f: Callable[..., Any], *args: Any, **options: Any) -> bool:
    """Checks that ``f`` is differentiated rightly or refused for a reason; True where it is differentiated."""
    try:
        check_grads(f, args, **options)
    except ad.DifferentiationError as refusal:
        assert all(problem.code != "AD0901" for problem in refusal.diagnostics), refusal
        return False
    return True
