"""``python -m namespaces.worker NAMESPACE RESULTS``: goes on with the functions that have no result yet."""

from __future__ import annotations

import sys

from namespaces.survey import found_of, public
from packages.worker import follow

if __name__ == "__main__":
    follow(public(sys.argv[1]), found_of)
