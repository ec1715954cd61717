"""Parts of a report on disk, under a hash of all they depend on: what was computed once is read the next time.

A part is plain data and the files that belong to it. Its key is made of the sources of the engine, of `numerics` and of
the paper, the modules from elsewhere that it imports, the libraries these use, and what is given: parameters, widths,
formats of pictures. Pages and commands show results and change none, so their sources are no part of the key. What
loads a further module from elsewhere is not kept, a broken entry is computed again, and
``ODESYS_MEASUREMENTS=anew`` computes everything again and keeps nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import OdesysError
from ..files import json_text, staged
from ..jit.code_store import own_bytes, write_own
from . import registry
from .kept_runs import TROUBLE, is_as_loaded, keep_own, own_folder, program_hash, read_own
from .plain_verdicts import from_plain, to_plain
from .sources import from_elsewhere
from .workers import Answer

MOST_ENTRIES = 400  # where there are more, the oldest quarter goes
_VALUE = "value.json"


@dataclass(frozen=True)
class KeptParts:
    """The parts of one paper; without a folder nothing is kept."""

    folder: Path | None = None
    sources: str = ""
    roots: tuple[Path, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, paper: str) -> KeptParts:
        """The parts of a paper that is found by this name; nothing is kept of one that has no source of its own."""
        folder = own_folder("parts")
        with suppress(OdesysError, *TROUBLE):
            own = registry.source_folder(paper)
            if folder is not None and own is not None:
                engine = Path(__file__).parents[1]
                roots = engine, engine.with_name("numerics"), own
                if is_as_loaded(roots):
                    return cls(folder, program_hash(roots), roots)
        return cls()

    def part(
        self, name: str, given: Mapping[str, Any], target: Path, work: Callable[[Path], Any]
    ) -> tuple[Any, list[Path]]:
        """The data that `work(folder)` returns, and the files it writes, which come to `target`; kept or computed."""
        place = self._place(name, given)
        if place is not None:
            with suppress(OSError, OdesysError, *TROUBLE):
                return _read(place, target)
        others = from_elsewhere(self.roots) if place is not None else {}
        with staged(target) as stage:
            value = json.loads(json_text({"value": work(stage.folder)}))["value"]
            if place is not None and from_elsewhere(self.roots) == others:
                with suppress(OSError, OdesysError, *TROUBLE):
                    _write(place, value, stage.folder)
        return value, stage.files

    def answers(self, paper: str) -> dict[str, Answer]:
        """Answers of claims by their ids."""
        place = self._place("answers", {"paper": paper})
        with suppress(OSError, OdesysError, *TROUBLE):
            if place is not None:
                found, _ = _checked(place)
                return {id: Answer(id, "", from_plain(verdict), seconds) for id, (verdict, seconds) in found.items()}
        return {}

    def keep_answers(self, paper: str, answers: Mapping[str, Answer]) -> None:
        """Keep answers of claims; one that is not plain data is checked anew the next time."""
        place, plain = self._place("answers", {"paper": paper}), {}
        for id, found in answers.items():
            with suppress(ValueError):
                plain[id] = [to_plain(found.verdict), round(found.seconds, 3)]
        if place is not None:
            with suppress(OSError, OdesysError, *TROUBLE):
                _write(place, plain)

    def _place(self, name: str, given: Mapping[str, Any]) -> Path | None:
        if self.folder is None:
            return None
        key = hashlib.sha256(f"{self.sources} {name} {json_text(given)}".encode()).hexdigest()
        return self.folder / key


def _checked(place: Path) -> tuple[Any, dict[str, bytes]]:
    """The data of an entry and its files, if all is as it was written, by this user."""
    data = read_own(place / _VALUE)
    files = {str(name): own_bytes(place / "files" / name) for name in data["files"]}
    whole = {name: found for name, found in files.items() if found is not None and ".." not in Path(name).parts}
    if len(whole) < len(files) or data["hash"] != _hash(place, data["value"], whole):
        raise ValueError(f"{place} was changed")
    os.utime(place)
    return data["value"], whole


def _hash(place: Path, value: Any, files: Mapping[str, bytes]) -> str:
    made = hashlib.sha256(f"{place.name} {json.dumps(value, sort_keys=True)}".encode())
    for name, data in files.items():
        made.update(name.encode() + hashlib.sha256(data).digest())
    return made.hexdigest()


def _read(place: Path, target: Path) -> tuple[Any, list[Path]]:
    value, files = _checked(place)
    with staged(target) as stage:
        for name, data in files.items():  # what was checked, whatever stands at its path by now
            (stage.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (stage.folder / name).write_bytes(data)
    return value, stage.files


def _write(place: Path, value: Any, files: Path | None = None) -> None:
    """Write an entry beside its place and move it there, in place of an older one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        fresh.mkdir(mode=0o700)
        found: dict[str, bytes] = {}
        if files is not None:
            paths = sorted(file for file in files.rglob("*") if file.is_file())
            found = {file.relative_to(files).as_posix(): file.read_bytes() for file in paths}
        for name, data in found.items():
            (fresh / "files" / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_own(fresh / "files" / name, data)
        keep_own(fresh / _VALUE, {"hash": _hash(place, value, found), "value": value, "files": list(found)})
        shutil.rmtree(place, ignore_errors=True)
        fresh.rename(place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    entries = sorted(place.parent.iterdir(), key=lambda entry: entry.stat().st_mtime)
    for old in entries[: MOST_ENTRIES // 4] if len(entries) > MOST_ENTRIES else ():
        shutil.rmtree(old, ignore_errors=True)
