"""Papers by name or by folder: announced by an installed package, part of a source checkout, or a folder on disk."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import OdesysError
from .paper import Paper

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

GROUP = "odesys.papers"
ATTRIBUTE = "PAPER"
SOURCE_PACKAGE = "derivations"  # next to this package in a source checkout; its papers need no installation


def find_paper(text: str) -> Paper:
    """The paper of that name; or, if there is none, the one in the folder of that name."""
    return _paper_in(*_find(text))


def documentation(text: str) -> str:
    """What the package of a paper says about itself: its docstring, with the table of symbols."""
    return inspect.cleandoc(_find(text)[0].__doc__ or "")


def source_folder(text: str) -> Path | None:
    """The folder with the source of a paper, if it has one."""
    file = getattr(_find(text)[0], "__file__", None)
    return Path(file).parent if file and Path(file).name == "__init__.py" else None


def known_names() -> list[str]:
    """Names of all papers that can be found, without importing one."""
    return sorted({*announced(), *source_modules()})


def is_taken(name: str) -> bool:
    """True if a package of that name can be imported, so that a folder could not be."""
    return name in sys.modules or _origin(name) is not None


def _find(text: str) -> tuple[ModuleType, str, str]:
    """The module a paper is in, how to speak of it, and the attribute with the paper."""
    points, modules = announced(), source_modules()
    if text in points:
        return _from_entry_point(points[text])
    if text in modules:
        return importlib.import_module(modules[text]), modules[text], ATTRIBUTE
    if os.path.isdir(text):
        return _from_folder(Path(os.path.abspath(text)))
    if os.sep in text or text in ("", os.curdir, os.pardir):
        raise OdesysError(f"there is no folder {text!r}; give the name of a paper or a folder with one", name=text)
    raise OdesysError(f"there is no paper {text!r}{hint(text, known_names())}", name=text)


def all_papers() -> list[Paper]:
    """All papers that can be found by name, in alphabetical order of the names."""
    found = {name: _paper_in(*_from_entry_point(point)) for name, point in announced().items()}
    for name, module in source_modules().items():
        paper = found.get(name) or getattr(importlib.import_module(module), ATTRIBUTE, None)
        if isinstance(paper, Paper):  # a package beside the papers, such as shared helpers, is no mistake
            found[name] = paper
    return [found[name] for name in sorted(found)]


def hint(text: str, known: Iterable[str]) -> str:
    """How a sentence about an unknown name goes on: what there is, and what may have been meant."""
    import difflib

    names = list(known)
    close = difflib.get_close_matches(text, names)
    return f"; there is {', '.join(names) or 'none'}" + (f"; did you mean {' or '.join(close)}?" if close else "")


def pick(paper: Paper, kind: str, name: str, table: Mapping[str, T]) -> T:
    """One of a paper's systems, protocols or figures by name."""
    if not table:
        raise OdesysError(f"{paper.name} has no {kind}s")
    if name not in table:
        raise OdesysError(f"{paper.name} has no {kind} {name!r}{hint(name, table)}", name=name)
    return table[name]


def describe(paper: Paper) -> dict[str, Any]:
    """What a paper offers, as ``odesys list --json`` writes it."""
    return {
        "name": paper.name,
        "title": paper.title,
        "reference": paper.reference,
        "parameters": [
            {"name": p.name, "default": p.default, "type": p.kind.__name__, "help": p.help} for p in paper.parameters
        ],
        "systems": list(paper.systems),
        "system_meanings": dict(paper.meanings),
        "default_system": paper.default,
        "protocols": list(paper.protocols),
        "claims": paper.claims(),
        "figures": [{"id": name, "title": figure.title} for name, figure in paper.figures.items()],
    }


def announced() -> dict[str, EntryPoint]:
    """Entry points of installed packages by name; the first one found wins, as in imports."""
    from importlib import metadata

    found: dict[str, EntryPoint] = {}
    for point in metadata.entry_points(group=GROUP):
        found.setdefault(point.name, point)
    return found


def source_modules() -> dict[str, str]:
    """Paper names and module names of the packages beside this one, without importing them."""
    import pkgutil

    spec = importlib.util.find_spec(SOURCE_PACKAGE)
    here = Path(__file__).resolve().parents[2]
    folders = [f for f in (spec.submodule_search_locations or () if spec else ()) if Path(f).resolve().parent == here]
    return {m.name: f"{SOURCE_PACKAGE}.{m.name}" for m in pkgutil.iter_modules(folders) if m.ispkg}


def _from_entry_point(point: EntryPoint) -> tuple[ModuleType, str, str]:
    try:
        module = importlib.import_module(point.module)
    except ModuleNotFoundError as error:
        if f"{point.module}.".startswith(f"{error.name}."):  # not when something it imports is missing
            raise OdesysError(f"the paper {point.name} is announced as {point.value}, which is missing") from error
        raise
    return module, point.module, point.attr or ATTRIBUTE


def _from_folder(folder: Path) -> tuple[ModuleType, str, str]:
    """Import the package that a folder is, or the only one it has."""
    inner = sorted(file.parent for file in folder.glob("*/__init__.py"))
    packages = [folder] if (folder / "__init__.py").is_file() else inner
    if not packages:
        raise OdesysError(f"the folder {folder} has no paper: it needs an __init__.py with {ATTRIBUTE} = Paper(...)")
    if len(packages) > 1:
        raise OdesysError(f"the folder {folder} has several packages, choose one: {', '.join(map(str, packages))}")
    return _import_folder(packages[0]), str(packages[0]), ATTRIBUTE


def _import_folder(package: Path) -> ModuleType:
    """Import a package from its folder under the name of the folder, unless that name is taken."""
    name = re.sub(r"\W", "_", package.name)
    init = package / "__init__.py"
    loaded = sys.modules.get(name)
    taken = getattr(loaded, "__file__", None) or "one of Python's own" if loaded else _origin(name)
    if taken and not (os.path.exists(taken) and os.path.samefile(taken, init)):
        raise OdesysError(f"the folder {package} has the name of another package, {taken}; rename it")
    if loaded:
        return loaded
    spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(package)])
    assert spec is not None and spec.loader is not None  # a file that ends in .py always has a loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _origin(name: str) -> str | None:
    """The file a name would be imported from; None for a folder without __init__.py, which is only a namespace."""
    spec = importlib.util.find_spec(name)
    return spec.origin if spec else None


def _paper_in(module: ModuleType, where: str, attribute: str) -> Paper:
    paper = getattr(module, attribute, None)
    if not isinstance(paper, Paper):
        raise OdesysError(f"{where} is not a paper: it needs {attribute} = Paper(...)")
    return paper
