"""Check certificates again: ``python -m odesys.check FILE ...`` runs the checker for each, alone in its own process.

The checkers are single files (`tools/check_*.py` of the sources, ``share/odesys`` of an installation) that share no
code with the engine and need only python-flint: ``python -I check_region.py FILE`` does the same without odesys.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

CHECKERS = {"odesys-region-bound": "check_region.py", "odesys-enclosure": "check_enclosure.py"}
LARGEST = 2**30  # bytes of a certificate


def checker_folder() -> Path:
    """Where the checkers are: beside the sources, or where the installation put them."""
    source = Path(__file__).parents[1] / "tools"
    return source if (source / "check_region.py").is_file() else Path(sysconfig.get_path("data")) / "share" / "odesys"


def read(file: str) -> Any:
    """What is in a regular file of bounded size; pipes and devices, which may have no end, are not read."""
    wait = getattr(os, "O_NONBLOCK", 0)
    with open(file, "rb", opener=lambda path, flags: os.open(path, flags | wait)) as opened:
        state = os.fstat(opened.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
            raise ValueError(f"it is no regular file of at most {LARGEST // 2**20} MB")
        return json.loads(opened.read(LARGEST).decode("utf-8"))


def check(file: str) -> int:
    """0 if all checks of the file passed, 1 if one failed, 2 if it is no certificate."""
    try:
        data = read(file)
        checker = checker_folder() / CHECKERS[data["format"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, MemoryError) as problem:
        print(f"{file}: REJECTED, not a certificate: {problem!r}")
        return 2
    done = subprocess.run([sys.executable, "-I", str(checker), file], capture_output=True, text=True, check=False)
    print(f"{file}: {done.stdout.strip() or done.stderr.strip()[-500:]}", flush=True)
    return done.returncode


def main(files: list[str]) -> int:
    """Check all files; the worst answer is the exit code."""
    if not files:
        print(__doc__)
        return 2
    return max(map(check, files))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
