"""Write the ids of all claims that are proofs, by paper, from the JSON of ``odesys verify``: these can be sealed.

Usage: python tools/list_proofs.py verify.json [...] > benchmarks/proofs.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def proofs(files: list[str]) -> dict[str, list[str]]:
    """Ids with evidence ``proof``, in the order of the book."""
    found: dict[str, list[str]] = {}
    for file in files:
        for claim in json.loads(Path(file).read_text("utf-8"))["claims"]:
            if claim["evidence"] == "proof":
                found.setdefault(claim["paper"], []).append(claim["id"])
    return found


if __name__ == "__main__":
    print(json.dumps(proofs(sys.argv[1:]), indent=1, ensure_ascii=False))
