"""The command ``odesys new``: a folder with a small paper that runs at once, to be changed into one's own."""

from __future__ import annotations

import keyword
import os
import re
import sys
from importlib import resources
from pathlib import Path

from .. import files
from ..errors import OutputError, ParameterError
from . import registry
from .paper import MOST_LETTERS

ENDING = ".txt"


def create(path: Path) -> list[Path]:
    """Write the skeleton into a new folder; the last part of `path` is the name of the paper."""
    name = path.name
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise ParameterError(f"{name!r} can not name a paper: use a letter followed by letters, digits and underscores")
    if len(name) > MOST_LETTERS:
        raise ParameterError(f"the name of a paper has at most {MOST_LETTERS} letters, and this one has {len(name)}")
    if os.path.lexists(path):
        raise OutputError(f"{path} exists already; give the name of a folder that does not", path=path)
    if name in registry.known_names():
        raise ParameterError(f"there is a paper {name} already; choose another name")
    if name in sys.stdlib_module_names or registry.is_taken(name):
        raise ParameterError(f"{name} is the name of a Python package that can be imported here; choose another name")
    title = name.replace("_", " ").capitalize()
    with files.new_folder(path) as stage:
        for file in sorted(resources.files(__package__).joinpath("skeleton").iterdir(), key=lambda each: each.name):
            if file.name.endswith(ENDING):
                text = file.read_text(encoding="utf-8").replace("@name@", name).replace("@title@", title)
                files.write_text(stage.folder / file.name.removesuffix(ENDING), text)
    return stage.files
