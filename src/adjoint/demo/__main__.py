"""``python -m adjoint.demo``."""

import sys

from adjoint.demo.main import main

sys.exit(main())
