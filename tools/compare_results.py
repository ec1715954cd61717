"""What differs between two results of `odesys verify --json`, claim by claim; times are left out.

    python tools/compare_results.py BEFORE.json AFTER.json

Exit code 1 if anything differs beyond rounding. Numbers that agree to nine digits are counted, not listed.
"""

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROUNDING = 1e-9
IGNORED = {"seconds"}
MISSING = "(missing)"


def differences(before: Any, after: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Places at which two JSON values differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after} - IGNORED):
            yield from differences(before.get(key, MISSING), after.get(key, MISSING), f"{where}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{where}/{place}")
    elif before != after:
        yield where, before, after


def rounding(before: Any, after: Any) -> bool:
    """True for two numbers that agree to nine digits."""
    both = isinstance(before, float) and isinstance(after, float)
    return both and math.isclose(before, after, rel_tol=ROUNDING, abs_tol=ROUNDING**1.5)


def claims(file: str) -> dict[str, Any]:
    """The claims of a result by paper and id."""
    return {f"{claim['paper']} {claim['id']}": claim for claim in json.loads(Path(file).read_text("utf-8"))["claims"]}


def main(before: str, after: str) -> int:
    found = list(differences(claims(before), claims(after)))
    listed = [(where, one, other) for where, one, other in found if not rounding(one, other)]
    for where, one, other in listed:
        print(f"{where[1:]}: {str(one)[:120]} -> {str(other)[:120]}")
    print(f"{len(listed)} differences beyond rounding, {len(found) - len(listed)} within")
    return 1 if listed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
