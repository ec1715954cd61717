"""Check certificates again: ``python -m odesys.check FILE ...`` runs the checker for each, alone in its own process.

The checkers are single files (`tools/check_*.py` of the sources, ``share/odesys`` of an installation) that share no
code with the engine and need only python-flint: ``python -I check_region.py FILE`` does the same without odesys.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

CHECKERS = {"odesys-region-bound": "check_region.py", "odesys-enclosure": "check_enclosure.py"}


def checker_folder() -> Path:
    """Where the checkers are: beside the sources, or where the installation put them."""
    source = Path(__file__).parents[1] / "tools"
    return source if (source / "check_region.py").is_file() else Path(sysconfig.get_path("data")) / "share" / "odesys"


def check(file: str) -> int:
    """0 if all checks of the file passed, 1 if one failed, 2 if it is no certificate."""
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"))
        checker = checker_folder() / CHECKERS[data["format"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
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
