"""How large the packages are: files, lines, and the longest module of each."""

import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "adjoint"


def main() -> None:
    rows: dict[str, list[tuple[int, str]]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        package = place.parts[0] if len(place.parts) > 1 else "."
        rows.setdefault(package, []).append((len(path.read_text().splitlines()), place.as_posix()))
    every = [row for package in rows.values() for row in package]
    for package, found in sorted(rows.items(), key=lambda item: -sum(lines for lines, _ in item[1])):
        longest, name = max(found)
        total = sum(lines for lines, _ in found)
        sys.stdout.write(f"{package:16} {len(found):4} files {total:7,} lines   longest {longest:4}  {name}\n")
    sys.stdout.write(f"{'':16} {len(every):4} files {sum(lines for lines, _ in every):7,} lines\n")


if __name__ == "__main__":
    main()
