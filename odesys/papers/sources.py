"""The program behind a value that is kept: all files of a folder, and the modules from elsewhere that its files import.

Modules of Python itself and of installed libraries are left out. Names are the same in every clone, contents are what
counts.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from .registry import SOURCE_PACKAGE

ENGINE = Path(__file__).resolve().parents[1]
OWN = (ENGINE, ENGINE.with_name("numerics"))
OWN_NAMES = tuple(root.name for root in OWN)


def content(file: Path) -> str:
    """A hash of what is in a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def files_below(folder: Path) -> list[Path]:
    """All files of a folder but compiled and hidden ones, in order."""
    return [file for file in sorted(folder.rglob("*")) if file.is_file() and not _is_hidden(file.relative_to(folder))]


def _is_hidden(name: Path) -> bool:
    return any(part == "__pycache__" or part.startswith(".") for part in name.parts)


@cache
def own_digest() -> str:
    """A hash of all files of the engine and of `numerics`."""
    return digest({file.relative_to(root.parent).as_posix(): file for root in OWN for file in files_below(root)})


def digest(files: Mapping[str, Path]) -> str:
    """A hash of files by their names."""
    lines = [f"{name}\0{content(file)}\n" for name, file in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def from_elsewhere(roots: Iterable[Path]) -> dict[str, Path]:
    """Files of the modules outside of these folders that were loaded until now, or that their Python files import."""
    roots = tuple(roots)
    return {**loaded(roots), **imported(roots)}


def loaded(roots: Iterable[Path]) -> dict[str, Path]:
    """Files of loaded modules that are outside of these folders and of libraries; other papers do not count."""
    known = [*(root.resolve() for root in roots), *OWN]
    found = {}
    for name, module in list(sys.modules.items()):
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        is_paper = name.startswith(f"{SOURCE_PACKAGE}.")  # counts where it is imported
        is_command = name == "__mp_main__" or (name == "__main__" and not str(file).endswith(".py"))
        if isinstance(file, str) and not is_paper and not is_command:
            place = _outside(Path(file), known)
            if place is not None:
                found[name] = place
    return found


@cache
def imported(starts: tuple[Path, ...]) -> dict[str, Path]:
    """Files of modules outside of these folders (or files) that the Python files there import, and so on from those.

    An import that is written out counts wherever it stands, also inside of a function.
    """
    known = [*(start.resolve() for start in starts), *OWN]
    open_ones: list[tuple[Path, tuple[str, ...]]] = []
    found: dict[str, Path] = {}
    asked: set[tuple[str, ...]] = set()
    seen: set[str] = set()
    for start in starts:
        if start.resolve() not in OWN:
            files = [start] if start.is_file() else [file for file in files_below(start) if file.suffix == ".py"]
            open_ones += [(file, package_of(file.parent)) for file in files]
    while open_ones:
        file, package = open_ones.pop()
        for parts in (package, *_imports(file, package)):
            if parts in asked or not parts or parts[0] in OWN_NAMES:
                continue
            asked.add(parts)
            for name, path, is_package in _places(parts):
                place = None if name in seen else _outside(path, known)
                seen.add(name)
                if place is not None:
                    found[name] = place
                    if place.suffix == ".py":
                        open_ones.append((place, tuple(name.split(".")[: None if is_package else -1])))
    return found


def package_of(folder: Path) -> tuple[str, ...]:
    """The name of the package that a folder is, by parts; empty if it is none."""
    parts: tuple[str, ...] = ()
    while (folder / "__init__.py").is_file():
        parts, folder = (folder.name, *parts), folder.parent
    return parts


def _imports(file: Path, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Names that a file imports, by parts; the last one may be a name in a module."""
    try:
        text = file.read_bytes()
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return  # it can not be imported either
    calls = b"import_module" in text or b"__import__" in text
    for node in ast.walk(tree) if calls else _statements(tree):
        match node:
            case ast.Import():
                yield from (tuple(alias.name.split(".")) for alias in node.names)
            case ast.ImportFrom() if node.level <= len(package):
                base = package[: len(package) - node.level + 1] if node.level else ()
                base += tuple(node.module.split(".")) if node.module else ()
                yield from ((*base, alias.name) for alias in node.names)
            case ast.Call(args=[ast.Constant(value=str() as name), *_]) if _is_import(node.func):
                if name and not name.startswith("."):
                    yield tuple(name.split("."))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node; expressions, which are most of a tree, are not looked into."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, name, ()):
            yield inner
            yield from _statements(inner)


def _is_import(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")


def _places(parts: tuple[str, ...]) -> Iterator[tuple[str, Path, bool]]:
    """The modules on the way to a name: name, file, whether it is a package; nothing is imported."""
    where: list[str] | None = None
    for k in range(1, len(parts) + 1):
        name = ".".join(parts[:k])
        spec: ModuleSpec | None = None
        with suppress(ImportError, ValueError, AttributeError):  # a module that was made by hand has no place
            spec = importlib.util.find_spec(name) if where is None else PathFinder.find_spec(name, where)
        if spec is None:
            return
        if spec.has_location and spec.origin:
            yield name, Path(spec.origin), spec.submodule_search_locations is not None
        if spec.submodule_search_locations is None or (spec.origin and _is_library(Path(spec.origin))):
            return
        where = list(spec.submodule_search_locations)


def _outside(path: Path, known: list[Path]) -> Path | None:
    """The file on disk of a module, or of the archive it is in; None if it is known, a library's or Python's own."""
    if _is_library(path):
        return None
    place = next((each for each in (path, *path.parents) if each.is_file()), None)
    if place is None or any(place.resolve().is_relative_to(each) for each in known):
        return None
    return place


def _is_library(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _library_folders()) or any(
        part in ("site-packages", "dist-packages") for part in path.parts
    )


@cache
def _library_folders() -> tuple[Path, ...]:
    """Where Python's own modules, installed ones and commands are."""
    named = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
    paths = [*(sysconfig.get_path(name) for name in named), *site.getsitepackages(), site.getusersitepackages()]
    return tuple({each for path in paths if path for each in (Path(path), Path(path).resolve())})
