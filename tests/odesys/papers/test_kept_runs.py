"""Measured values on disk: read the second time, measured again where anything they depend on is different."""

from __future__ import annotations

import importlib
import json
import math
import os
import stat
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from odesys import BaseLaboratory, Draw, Mutation, laboratory_part, measure, over_seeds, with_high_probability
from odesys.papers import kept_runs, sources

calls: list[Any] = []


class Laboratory(BaseLaboratory):
    """A laboratory of this file: the folder of the file is the paper's."""

    mutations = (Mutation("doubled", "twice the rate"),)

    @laboratory_part
    def rate(self, size: int = 1) -> float:
        return 2.0 * size if self.mutation.name else 1.0 * size


def run(lab: Laboratory, point: Any, factor: Any = 1) -> float:
    calls.append(point)
    return float(lab.rate(3) * point["x"] * factor)


def seen(lab: Laboratory, points: Any = ({"x": 0.1}, {"x": 0.2}), factor: Any = 1) -> list[float]:
    calls.clear()
    return [row[0] for row in measure("x", points, lambda p: run(lab, p, factor)).values.tolist()]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    monkeypatch.delenv("ODESYS_MEASUREMENTS", raising=False)
    monkeypatch.setattr(kept_runs, "source_hash", lambda roots: "this source")
    monkeypatch.setattr(kept_runs, "STARTED", float("inf"))
    return tmp_path / "measurements"


def test_the_second_run_reads_values_and_what_was_read(folder: Path) -> None:
    first, second = Laboratory(), Laboratory()
    values = seen(first)
    assert len(calls) == 2 and len(list(folder.iterdir())) == 1
    assert seen(second) == values and not calls
    assert second.reads == first.reads and [str(part) for part in second.reads] == ["rate(3)"]


@pytest.mark.parametrize(
    "other",
    [
        lambda: seen(Laboratory(), ({"x": 0.1}, {"x": 0.3})),
        lambda: seen(Laboratory(), ({"x": 0.1}, {"y": 0, "x": 0.2})),
        lambda: seen(Laboratory(), factor=2),
        lambda: seen(Laboratory(), factor=1.0),
        lambda: seen(Laboratory(), factor=np.ones(())),
        lambda: seen(Laboratory("doubled")),
        lambda: seen(Laboratory(draw=Draw(number=1))),
    ],
)
def test_another_point_captured_value_mutation_or_draw_is_measured(other: Callable[[], Any]) -> None:
    seen(Laboratory())
    other()
    assert len(calls) == 2
    other()
    assert not calls


def test_two_observables_of_one_line_are_two() -> None:
    lab = Laboratory()
    pair = [lambda p: run(lab, p) + p["a"], lambda p: run(lab, p) + p["b"]]
    found = [measure("x", [{"x": 1.0, "a": 1.0, "b": 2.0}], each).values.tolist() for each in pair]
    assert found == [[[4.0]], [[5.0]]]


def test_another_source_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    seen(Laboratory())
    monkeypatch.setattr(kept_runs, "source_hash", lambda roots: "that source")
    seen(Laboratory())
    assert len(calls) == 2


def test_a_changed_file_is_another_source(tmp_path: Path) -> None:
    hashes = []
    for text in ("rate = 1", "rate = 2", "rate = 1"):
        (tmp_path / "model.py").write_text(text)
        hashes.append(SOURCES.__wrapped__((tmp_path,)))
    assert hashes[0] == hashes[2] != hashes[1]


SOURCES = kept_runs.source_hash


def test_what_runs_while_the_source_changes_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_runs, "STARTED", 0.0)  # all files are newer than this process
    seen(Laboratory())
    assert not list(folder.glob("*"))


def test_other_seeds_are_measured() -> None:
    lab, used = Laboratory(), []

    def observable(point: Any, seeds: tuple[int, ...]) -> list[float]:
        return [run(lab, point) + seed for seed in seeds]

    for seeds in ((0, 1), (0, 1), (0, 2)):
        calls.clear()
        used.append((over_seeds("x", [{"x": 1.0}], observable, seeds).values.tolist(), len(calls)))
    assert used == [([[3.0, 4.0]], 2), ([[3.0, 4.0]], 0), ([[3.0, 5.0]], 2)]


def test_outcomes_per_seed_are_kept() -> None:
    lab, verdicts = Laboratory(), []
    for _ in range(2):
        calls.clear()
        trial = lambda seeds: [run(lab, {"x": seed}) >= 0 for seed in seeds]  # noqa: E731
        verdicts.append((with_high_probability("it is", {}, trial, lab.draw), len(calls)))
    (first, many), (second, none) = verdicts
    assert first == second and first.as_stated == "holds" and (many, none) == (40, 0)


def spoil(text: str) -> str:
    """One digit of a value is another."""
    return text.replace("0.6", "0.7")


@pytest.mark.parametrize(
    "damage",
    [
        spoil,
        lambda text: text[:20],
        lambda text: "",
        lambda text: "[1]",
        lambda text: "[" * 100_000,
        lambda text: json.dumps({"hash": 1}),
    ],
)
def test_a_broken_file_is_measured_again(folder: Path, damage: Callable[[str], str]) -> None:
    values = seen(Laboratory())
    (file,) = folder.iterdir()
    whole = file.read_text()
    assert damage(whole) != whole
    file.write_text(damage(whole))
    assert seen(Laboratory()) == values and len(calls) == 2
    assert file.read_text() == whole


def test_the_file_of_another_key_is_measured_again(folder: Path) -> None:
    seen(Laboratory(), factor=5)
    (foreign,) = folder.iterdir()
    content = foreign.read_bytes()
    values = seen(Laboratory())
    (own,) = set(folder.iterdir()) - {foreign}
    own.write_bytes(content)
    assert seen(Laboratory()) == values and len(calls) == 2


def test_a_method_of_captured_data_and_a_function_that_captures_itself_are_not_kept(folder: Path) -> None:
    lab, look_up = Laboratory(), {"x": 2.0}.get
    measure("x", [{"x": 1.0}], lambda p: run(lab, p) * (look_up("x") or 0))

    def again(point: Any, depth: int = 1) -> float:
        return again(point, depth - 1) if depth else run(lab, point)

    measure("x", [{"x": 1.0}], again)
    assert not list(folder.glob("*"))


@pytest.mark.parametrize("factor", [float("nan"), object, {1: object()}])
def test_what_has_no_place_in_json_or_no_name_is_not_kept(folder: Path, factor: Any) -> None:
    lab = Laboratory()
    measure("x", [{"x": 1.0}], lambda p: run(lab, p, factor if isinstance(factor, float) else 1) if factor else 0.0)
    assert not list(folder.glob("*"))


def test_an_observable_that_changes_what_it_captured_is_not_kept(folder: Path) -> None:
    lab, found = Laboratory(), []

    def observable(point: Any) -> float:
        found.append(point)
        return run(lab, point)

    measure("x", [{"x": 1.0}], observable)
    assert not list(folder.glob("*")) and found


def test_code_from_elsewhere_and_no_laboratory_are_not_kept(folder: Path, tmp_path: Path) -> None:
    made: dict[str, Any] = {"run": run, "__name__": "elsewhere"}
    exec(compile("def of(lab): return lambda p: run(lab, p)", str(tmp_path / "elsewhere.py"), "exec"), made)
    measure("x", [{"x": 1.0}], made["of"](Laboratory()))
    measure("x", [{"x": 1.0}], lambda p: p["x"])
    one, two = Laboratory(), Laboratory()
    measure("x", [{"x": 1.0}], lambda p: run(one, p) + run(two, p))
    assert not list(folder.glob("*"))


def test_everything_is_measured_anew_on_request(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen(Laboratory())
    monkeypatch.setenv("ODESYS_MEASUREMENTS", "anew")
    seen(Laboratory())
    assert len(calls) == 2


def test_the_oldest_files_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_runs, "MOST_FILES", 8)
    for factor in range(12):
        seen(Laboratory(), factor=factor)
        assert len(list(folder.iterdir())) <= 8
    seen(Laboratory(), factor=11)
    assert not calls


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such modes")
def test_a_folder_that_others_can_write_is_not_used(folder: Path) -> None:
    folder.parent.chmod(0o777)
    seen(Laboratory())
    assert not list(folder.glob("*"))


@pytest.mark.parametrize("attack", ["link", "rights", "pipe"])
def test_what_somebody_else_could_have_written_is_measured_again(folder: Path, tmp_path: Path, attack: str) -> None:
    values = seen(Laboratory())
    (path,) = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    if attack == "rights":
        path.chmod(0o666)
    else:
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere") if attack == "link" else os.mkfifo(path)
    assert seen(Laboratory()) == values and len(calls) == 2
    assert not path.is_symlink() and stat.S_ISREG(path.stat().st_mode)  # mended


def test_a_kept_file_under_another_name_is_not_read(tmp_path: Path) -> None:
    kept_runs.keep_own(tmp_path / "one.json", [1])
    assert kept_runs.read_own(tmp_path / "one.json") == [1]
    (tmp_path / "one.json").rename(tmp_path / "two.json")
    with pytest.raises(ValueError, match="not what was kept"):
        kept_runs.read_own(tmp_path / "two.json")


def test_names_tell_values_apart() -> None:
    """Each of these is another value than every other; a name is the same the next time."""
    values = [
        *(None, True, False, 0, 1, 0.0, 1.0, "1", Fraction(1, 2), np.float64(1.0), np.int64(1), (1,), [1], (), [], {}),
        *((1, 2), (2, 1), ((1,), 2), {"a": 1}, {"a": 2}, {"b": 1}, np.zeros(2), np.zeros(3), np.zeros((2, 1))),
        *(np.zeros(2, dtype=int), np.ones(2), len, max, run, seen, Laboratory(), Laboratory("doubled"), math.sin),
        Laboratory(draw=Draw(1, 1)),
    ]
    names = [kept_runs._name(value, {}, set()) for value in values]
    assert len(set(names)) == len(values) and names == [kept_runs._name(value, {}, set()) for value in values]
    for value in (object(), {1}, [].append, np.array([object()]), "x".join):
        with pytest.raises(ValueError, match="does not name it"):
            kept_runs._name(value, {}, set())


def test_a_laboratory_with_more_in_it_is_another_one() -> None:
    labs, files = dict[int, BaseLaboratory](), set[str]()
    plain, more = Laboratory(), Laboratory()
    vars(more)["size"] = 3
    assert kept_runs._name(plain, labs, files) != kept_runs._name(more, labs, files)
    assert set(labs) == {id(plain), id(more)} and files == set()
    plain.rate(3)
    assert kept_runs._name(plain, {}, set()) == kept_runs._name(Laboratory(), {}, set()), "what was read says nothing"
    kept_runs._name([run, lambda p: p], {}, files)
    assert files == {__file__}


def test_functions_differ_by_place_captured_values_and_defaults() -> None:
    def made(value: Any, default: Any = 1, *, word: Any = 2) -> Any:
        def inner(point: Any, default: Any = default, *, word: Any = word) -> Any:
            return value

        return inner

    names = {kept_runs._name(made(*given), {}, set()) for given in ((1,), (2,), (1, 2))}
    names.add(kept_runs._name(made(1, word=3), {}, set()))
    assert len(names) == 4 and kept_runs._name(made(1), {}, set()) in names


def test_values_that_are_kept_belong_to_one_name_and_one_kind(folder: Path) -> None:
    """Also numbers that JSON has no place for are measured each time."""
    lab = Laboratory()
    for factor in (float("inf"), float("nan")):
        for _ in range(2):
            seen(lab, factor=1)
            measure("x", [{"x": 1.0}], lambda p, factor=factor: run(lab, p) * factor)
        assert len(list(folder.iterdir())) == 1
    assert isinstance(kept_runs.kept(lambda p: run(lab, p), ({"x": 1.0},), lambda: [3]), np.ndarray)


def test_what_was_read_before_stays_read(folder: Path) -> None:
    """Of a measurement only what it reads itself is kept."""
    lab = Laboratory()
    lab.rate(7)
    seen(lab)
    assert sorted(map(str, lab.reads)) == ["rate(3)", "rate(7)"]
    again = Laboratory()
    seen(again)
    assert [str(part) for part in again.reads] == ["rate(3)"] and not calls
    (file,) = folder.iterdir()
    assert json.loads(file.read_text())["kept"]["reads"] == [["rate", "(3,)"]]


def test_an_error_while_measuring_leaves_what_was_read(folder: Path) -> None:
    lab = Laboratory()
    lab.rate(7)
    with pytest.raises(KeyError):
        measure("x", [{}], lambda p: run(lab, p))
    assert sorted(map(str, lab.reads)) == ["rate(3)", "rate(7)"] and not list(folder.glob("*"))


def test_the_oldest_quarter_goes_where_there_are_more_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_runs, "MOST_FILES", 8)
    counts = []
    for factor in range(10):
        seen(Laboratory(), factor=factor)
        files = list(folder.iterdir())
        counts.append(len(files))
        for file in files:
            past = file.stat().st_mtime - 10
            os.utime(file, (past, past))
    assert counts == [1, 2, 3, 4, 5, 6, 7, 8, 7, 8]
    seen(Laboratory(), factor=0)
    assert calls, "the first was measured again"


def test_sources_are_those_of_the_roots_but_for_pages_and_commands(tmp_path: Path) -> None:
    engine = Path(kept_runs.__file__).parents[1]
    for name in ("report/a.py", "cli/b.py", "__pycache__/c.pyc", "d.py", "sub/e.json", "sub/__pycache__/f.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = [file.relative_to(tmp_path).as_posix() for file in kept_runs._files_of(tmp_path)]
    assert found == ["cli/b.py", "d.py", "report/a.py", "sub/e.json"], "rooms of the engine only are left out"
    own = {file.relative_to(engine).parts[0] for file in kept_runs._files_of(engine)}
    assert "papers" in own and not own & {"report", "cli", "__pycache__"}
    assert [root.name for root in kept_runs._roots(Laboratory())] == ["odesys", "numerics", Path(__file__).parent.name]


def test_a_kept_file_is_where_its_name_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_runs, "own_folder", lambda what: tmp_path / what)
    asked: list[Any] = []
    monkeypatch.setattr(kept_runs, "program_hash", lambda roots: asked.append(roots) or "a hash")
    file = kept_runs.kept_file("sizes", tmp_path / "toy", "K = 2")
    assert file == tmp_path / "sizes" / f"{kept_runs._hash('a hash', 'K = 2')}.json"
    engine, numbers, own = asked[0]
    assert (engine.name, numbers.name, own) == ("odesys", "numerics", tmp_path / "toy")
    monkeypatch.setattr(kept_runs, "own_folder", lambda what: None)
    assert kept_runs.kept_file("sizes", tmp_path, "K = 2") is None


def test_a_module_from_elsewhere_that_the_paper_imports_counts(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is on the path and outside of the paper's folder; imports inside of functions count as well."""
    paper, elsewhere = tmp_path / "paper", tmp_path / "elsewhere"
    for place in (paper, elsewhere):
        place.mkdir()
    monkeypatch.syspath_prepend(elsewhere)
    (paper / "claims.py").write_text("def observable():\n    import shared_rate\n")
    hashes, files = [], []
    monkeypatch.setattr(kept_runs, "own_folder", lambda what: tmp_path)
    for text in ("RATE = 1", "RATE = 1", "RATE = 2"):
        (elsewhere / "shared_rate.py").write_text(text)
        forget()
        hashes.append(kept_runs.program_hash((paper,)))
        files.append(kept_runs.kept_file("sizes", paper, "toy []"))
    assert hashes[0] == hashes[1] != hashes[2] and files[0] == files[1] != files[2]
    assert kept_runs.is_as_loaded((paper,))
    monkeypatch.setattr(kept_runs, "STARTED", (elsewhere / "shared_rate.py").stat().st_mtime)
    os.utime(paper / "claims.py", (0, 0))
    assert not kept_runs.is_as_loaded((paper,))
    forget()


def forget() -> None:
    """Forget what was read of modules from elsewhere."""
    importlib.invalidate_caches()
    sources.imported.cache_clear()


def test_values_are_measured_again_where_a_loaded_module_from_elsewhere_is_another(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it was imported; and what loads one while it runs is not kept."""
    counts = []
    for text in ("RATE = 1", "RATE = 1", "RATE = 2"):
        (tmp_path / "loaded_rate.py").write_text(text)
        made = ModuleType("loaded_rate")
        made.__file__ = str(tmp_path / "loaded_rate.py")
        monkeypatch.setitem(sys.modules, "loaded_rate", made)
        forget()
        seen(Laboratory())
        counts.append(len(calls))
    assert counts == [2, 0, 2]
    before, lab = len(list(folder.iterdir())), Laboratory()
    more = ModuleType("more_rate")
    more.__file__ = made.__file__

    def observable(point: Any) -> float:
        monkeypatch.setitem(sys.modules, "more_" + "rate", more)
        return run(lab, point)

    measure("x", [{"x": 3.0}], observable)
    assert len(list(folder.iterdir())) == before
    forget()
