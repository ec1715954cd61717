"""Versions of what odesys needs: ``lowest`` as pyproject.toml allows, ``tested`` as they are installed here.

    python .ci/bounds.py lowest
    python .ci/bounds.py tested > .ci/constraints.txt

`tested` walks through all that the extras `sweep` and `dev` need, so it is run where these are installed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lowest() -> list[str]:
    """What is needed to run, each at its floor."""
    return [requirement.replace(">=", "==", 1) for requirement in PROJECT["dependencies"]]


def tested() -> list[str]:
    """All packages that odesys with its extras comes with, at the versions that are installed."""
    wanted = [
        *PROJECT["dependencies"],
        *(name for extra in ("sweep", "dev") for name in PROJECT["optional-dependencies"][extra]),
    ]
    found: dict[str, str] = {}
    while wanted:
        requirement = wanted.pop()
        name = re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0].lower().replace("_", "-")
        if name in found or "extra ==" in requirement.replace("'", '"'):
            continue
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # of another system or Python
            continue
        found[name] = package.version
        wanted += package.requires or []
    return sorted(f"{name}=={version}" for name, version in found.items())


if __name__ == "__main__":
    choices = {"lowest": lowest, "tested": tested}
    print("\n".join(choices[sys.argv[1]]()))
