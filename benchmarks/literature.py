"""Processor time of the page of each system from the literature: python -m benchmarks.literature [NAME ...].

Exit code 1 if one takes more than a minute.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from odesys.cli.analyse import analysed, write_analysis

FOLDER = Path(__file__).parents[1] / "tests" / "literature"
LIMIT = 60.0  # seconds of processor time for one page


def main(names: list[str]) -> int:
    """Print a line per system."""
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
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
