"""``python -m namespaces``: looks at the functions of NumPy and SciPy, and prints the table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from namespaces.page import document, row
from namespaces.survey import NAMESPACES
from packages.__main__ import followed
from packages.requirements import ROOT


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m namespaces", description=__doc__)
    parser.add_argument("namespaces", nargs="*", help=f"of {', '.join(NAMESPACES)}; all, where none is named")
    parser.add_argument("--folder", type=Path, default=ROOT / ".namespaces", help="where the results lie")
    parser.add_argument("--write", action="store_true", help="write docs/coverage.md")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True, parents=True)
    for name in given.namespaces or NAMESPACES:
        results = given.folder / f"{name}.jsonl"
        results.write_text("")
        followed(Path(sys.executable), name, results, worker="namespaces.worker")
        print(row(given.folder, name), flush=True)
    if given.write:
        (ROOT / "docs" / "coverage.md").write_text(document(given.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
