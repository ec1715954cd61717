"""The examples run, and say what they should."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tools.count_lines import code_lines

FOLDER = Path(__file__).resolve().parents[1] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_own_model() -> None:
    result = load("own_model").main()
    assert (result["states"], result["order"], result["quotient"]) == (60, 2, 40)
    assert result["gap"] < 1e-7 and 0 < result["loss"] < 0.1


def test_value_map() -> None:
    result = load("value_map").main()
    assert result["states"] == 3 + 9 + 6 + 6 and result["loss"] < 0.2


def test_three_maps_are_refused() -> None:
    error = load("three_maps").main()
    assert str(error.path) == "E'.V'.W'.W.V.E"


def test_own_claims_from_nothing_to_verdicts() -> None:
    first, second, third = load("own_claims").main()
    assert [str(done.verdict.evidence) for done in (first, second, third)] == ["proof", "certificate", "measurement"]
    assert all(done.as_expected for done in (first, second, third))
    assert second.verdict.corrected.as_stated == "holds" and str(second.verdict.corrected.evidence) == "proof"
    assert len(code_lines((FOLDER / "own_claims.py").read_text(encoding="utf-8"))) < 60


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.stem)
def test_every_example_is_tested(file: Path) -> None:
    assert f'load("{file.stem}")' in Path(__file__).read_text(encoding="utf-8")
