"""The examples run, and say what they should."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

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


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.stem)
def test_every_example_is_tested(file: Path) -> None:
    assert f'load("{file.stem}")' in Path(__file__).read_text(encoding="utf-8")
