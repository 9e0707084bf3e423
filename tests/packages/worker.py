"""``python -m packages.worker MODULE RESULTS``: goes on with the functions of a package that have no result yet.

Each line of the results says what is being done, or what came of it: whoever watches knows what hangs or crashes.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

MOST_MEMORY = 6 << 30


def main() -> None:
    from packages.checking import checked  # Adjoint's own import may take a while
    from packages.functions import public_functions

    follow(public_functions(sys.argv[1]), checked)


def follow(functions: Iterable[tuple[str, Any]], checked: Callable[..., Any]) -> None:
    """Writes what comes of each function that has no result in the file that ``sys.argv[2]`` names."""
    results = Path(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    done = {json.loads(line)["name"] for line in results.read_text().splitlines() if '"kind"' in line}
    with results.open("a") as out:
        sys.stdout = sys.stderr = open(os.devnull, "w")

        def write(**line: str) -> None:
            out.write(json.dumps(line) + "\n")
            out.flush()

        for name, function in functions:
            if name in done:
                continue
            write(name=name, doing="called")
            kind, reason = checked(name, function, lambda doing: write(name=name, doing=doing))
            write(name=name, kind=kind, reason=reason)
        write(name="", kind="end")


if __name__ == "__main__":
    main()
