"""The packages beside this one, `numerics` and `derivations`: found where they belong, or a sentence that says what is.

Their names are common ones. A folder of that name where Python was started, or another distribution, may come first.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

from .errors import OdesysError

MARKS = {"numerics": "sweeps/cells.py", "derivations": "two_mixture/setting.py"}  # a file that only ours has


def find_neighbours() -> None:
    """Put the folder of this package first on the path where another package would be taken for ours."""
    here = Path(__file__).resolve().parents[1]
    wrong = [name for name in MARKS if not _is_ours(name, here)]
    if wrong and all(name not in sys.modules for name in wrong):
        sys.path.insert(0, str(here))
        wrong = [name for name in wrong if not _is_ours(name, here)]
    for name in wrong:
        found = next(iter(_places(name)), "nowhere")
        raise OdesysError(
            f"odesys needs its own package {name}, which belongs beside {here / 'odesys'}, and Python finds {found}: "
            f"another folder or distribution has the same name; remove it, or use an environment of its own"
        )


def _is_ours(name: str, here: Path) -> bool:
    places = _places(name)
    return any((Path(place) / MARKS[name]).is_file() and Path(place).resolve().parent == here for place in places[:1])


def _places(name: str) -> list[str]:
    if name in sys.modules:
        return list(getattr(sys.modules[name], "__path__", ()))
    spec = PathFinder.find_spec(name) or find_spec(name)
    return list(spec.submodule_search_locations or ()) if spec else []
