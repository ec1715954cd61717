"""The rows of a sweep in one SQLite file: written as they arrive, safe against a killed process, exported to CSV."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from odesys.errors import OutputError
from odesys.files import json_text, write_text

from .sweep import Plan, PointResult, program_digest

FILE, TABLE = "sweep.sqlite", "sweep.csv"
FORMAT = "odesys sweep 1"
COLUMNS = {
    "about": "key TEXT PRIMARY KEY, value TEXT NOT NULL",
    "points": "number INTEGER PRIMARY KEY, parameters TEXT NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL, "
    "seconds REAL NOT NULL",
}


class SweepStore:
    """An open file of rows; use it as a context. The command that opens it has its folder."""

    def __init__(self, folder: Path, plan: Plan, resume: bool) -> None:
        self.file, self.plan = folder / FILE, plan
        self._open(resume)

    def _open(self, resume: bool) -> None:
        if self.file.is_symlink() or (self.file.exists() and not self.file.is_file()):
            raise OutputError(f"{self.file} is a link or no file; remove it, or give another --out", path=self.file)
        existed = self.file.exists() and self.file.stat().st_size > 0
        try:
            self._base = sqlite3.connect(self.file, isolation_level=None)
            self._refuse_other_tables()
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")  # enough against a killed process
            for name, columns in COLUMNS.items():
                self._base.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
            found = dict(self._base.execute("SELECT key, value FROM about"))
        except sqlite3.Error as error:
            raise OutputError(
                f"{self.file} can not be used for a sweep: {error}; give another --out", path=self.file
            ) from error
        about = {"format": FORMAT, "program": program_digest(self.plan.paper), "plan": json_text(self.plan.identity())}
        if found and found.get("format") == FORMAT and self._is_empty():
            found = {}  # of a sweep that was killed before its first point
        if found:
            _refuse_other(self.file, found, about)
            if not resume:
                count = len(self.have())
                raise OutputError(
                    f"{self.file} has {count} of {len(self.plan.points)} points of this sweep already; "
                    f"go on with --resume, or give another --out",
                    path=self.file,
                )
        elif existed and not self._is_empty():
            raise OutputError(f"{self.file} does not say what was swept; give another --out", path=self.file)
        else:
            with self._base:  # all or nothing
                self._base.execute("BEGIN")
                self._base.execute("DELETE FROM about")
                self._base.executemany("INSERT INTO about VALUES (?, ?)", about.items())

    def _refuse_other_tables(self) -> None:
        """A file with other tables than ours, or with triggers and views that change what is kept, is not ours."""
        ours: set[tuple[str, str, str | None]] = {("index", "sqlite_autoindex_about_1", None)}
        ours |= {("table", name, f"CREATE TABLE {name} ({columns})") for name, columns in COLUMNS.items()}
        for kind, name, text in self._base.execute("SELECT type, name, sql FROM sqlite_master"):
            if (kind, name, text) not in ours:
                raise OutputError(
                    f"{self.file} can not be used for a sweep: it has the {kind} {name}, which no sweep has; give "
                    f"another --out",
                    path=self.file,
                )

    def _is_empty(self) -> bool:
        return self._base.execute("SELECT 1 FROM points LIMIT 1").fetchone() is None

    def have(self) -> set[int]:
        """Numbers of the points that are there, failed ones too."""
        return {row["number"] for row in self.rows()}

    def forget_failed(self) -> int:
        """Drop the failed points, so that they are computed again."""
        return self._base.execute("DELETE FROM points WHERE error != ''").rowcount

    def keep(self, number: int, row: PointResult) -> None:
        """Store one row; when this returns it is on disk."""
        parameters = self.plan.points[number]
        try:
            self._base.execute(
                "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?)",
                (number, json.dumps(parameters), json.dumps(row.result), row.error, row.seconds),
            )
        except sqlite3.Error as error:
            raise OutputError(
                f"{self.file} can not be written: {error}; what is there is kept", path=self.file
            ) from error

    def rows(self) -> list[dict[str, Any]]:
        """All rows in the order of the grid; one that is not of this plan is refused."""
        query = "SELECT number, parameters, result, error FROM points ORDER BY number"
        try:
            found = [
                {"number": n, "parameters": json.loads(p), "result": json.loads(r), "error": e}
                for n, p, r, e in self._base.execute(query)
            ]
        except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
            raise OutputError(f"{self.file} is damaged: {error}; give another --out", path=self.file) from error
        points = self.plan.points
        for row in found:
            number, result = row["number"], row["result"]
            if not 0 <= number < len(points) or row["parameters"] != json.loads(json.dumps(points[number])):
                raise OutputError(
                    f"row {number} of {self.file} belongs to other parameters than this sweep has there; give "
                    f"another --out",
                    path=self.file,
                )
            if not _is_result(result) or not isinstance(row["error"], str):
                raise OutputError(f"row {number} of {self.file} is no result; give another --out", path=self.file)
        return found

    def close(self) -> None:
        """Fold the log into the file and let others in."""
        with suppress(sqlite3.Error):
            self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._base.close()

    def discard(self) -> None:
        """Remove a file into which no point came."""
        self.close()
        self.file.unlink(missing_ok=True)

    def __enter__(self) -> SweepStore:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _is_result(found: Any) -> bool:
    """True for what `run_point` may have given: tables of numbers, the drift of invariants, a note."""
    if not isinstance(found, dict) or not isinstance(found.get("note") or "", str):
        return False
    tables = [found.get(key, {}) for key in ("final", "time", "cost")]
    if not all(isinstance(table, dict) for table in tables):
        return False
    values = [*(value for table in tables for value in table.values()), found.get("invariant_drift")]
    return all(
        value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**1023)
        for value in values
    )


def _refuse_other(file: Path, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    if found.get("format") != FORMAT:
        raise OutputError(f"{file} is not the file of a sweep; give another --out", path=file)
    if found.get("program") != wanted["program"]:
        raise OutputError(
            f"{file} was computed by odesys {found.get('program')}, this is {wanted['program']}: their "
            f"results are not mixed; give another --out",
            path=file,
        )
    if found.get("plan") != wanted["plan"]:
        try:
            old, new = json.loads(found["plan"]), json.loads(wanted["plan"])
        except (KeyError, ValueError, TypeError, RecursionError):
            old = None
        if not isinstance(old, dict):
            raise OutputError(f"{file} does not say what was swept; give another --out", path=file)
        differs = [key for key in new if old.get(key) != new[key]]
        shown = "; ".join(f"{key} {json.dumps(old.get(key))} instead of {json.dumps(new[key])}" for key in differs)
        raise OutputError(f"{file} holds another sweep: {shown[:400]}; give another --out", path=file)


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Results of a row by column name: final observables bare, times of stages, cost."""
    result = row["result"]
    columns = dict(result.get("final", {}))
    columns |= {f"time_{name}": value for name, value in result.get("time", {}).items()}
    columns |= {f"cost_{name}": value for name, value in result.get("cost", {}).items()}
    return columns | {key: result[key] for key in ("invariant_drift", "note") if key in result}


def write_table(folder: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """All rows as CSV: parameters, results, error; the digits read back exactly."""
    table = list(rows)
    parameters = list(table[0]["parameters"]) if table else []
    flats = [flat(row) for row in table]
    results = list(dict.fromkeys(name for columns in flats for name in columns))
    names = {name: name if name not in parameters else f"final_{name}" for name in results}
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*parameters, *(names[name] for name in results), "error"])
    for row, columns in zip(table, flats, strict=True):
        values = [*(row["parameters"][name] for name in parameters), *(columns.get(name) for name in results)]
        lines.writerow(["" if value is None else value for value in values] + [row["error"]])
    return write_text(folder / TABLE, text.getvalue())
