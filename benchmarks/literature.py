"""Processor time of the page of each system from the literature: python -m benchmarks.literature [NAME ...].

Prints a line per system and keeps it in `literature.md`, where rows of other systems stay. Exit code 1 if one takes
more than a minute.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from odesys.cli.analyse import analysed, write_analysis

FOLDER = Path(__file__).parents[1] / "tests" / "literature"
TABLE = Path(__file__).with_name("literature.md")
LIMIT = 60.0  # seconds of processor time for one page
HEAD = """# Pages of systems from the literature

Written by `python -m benchmarks.literature`. Processor time in seconds: of the analysis, and of the whole page with its
pictures and exports; without the second that Python takes to start.

| system | analysis | page | what is found |
| --- | --- | --- | --- |
"""


def main(names: list[str]) -> int:
    """Print a line per system and write the table."""
    slow = 0
    for path in sorted(FOLDER.iterdir()):
        if names and path.stem not in names:
            continue
        began = time.process_time()
        found = analysed(path, [], {}, [], 0)
        looked = time.process_time() - began
        with tempfile.TemporaryDirectory() as folder:
            write_analysis(found, Path(folder), path.stem)
        whole = time.process_time() - began
        slow += whole > LIMIT
        print(f"{path.name:28} analysis {looked:6.1f} s  page {whole:6.1f} s  {found.sentence}", flush=True)
        keep(path.name, f"| {path.name} | {looked:.1f} | {whole:.1f} | {found.sentence} |")
    return int(slow > 0)


def keep(name: str, row: str) -> None:
    """Put a row into the table, in the order of names."""
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ") and "." in line}
    rows[name] = row
    kept = [rows[key] for key in sorted(rows) if (FOLDER / key).exists()]
    TABLE.write_text(HEAD + "\n".join(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
