"""``python -m adjoint.cli``."""

import sys

from adjoint.cli.main import main

sys.exit(main())
