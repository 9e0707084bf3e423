"""Where libraries lie: what stands there is not the user's."""

from __future__ import annotations

import os
import site
import sys

LIBRARY_FOLDERS = tuple(
    {
        os.path.dirname(os.__file__),
        os.path.join(sys.base_prefix, "lib"),
        os.path.join(sys.base_prefix, sys.platlibdir),
        *site.getsitepackages(),
    }
)
