"""The gallery: published results as programs, each with its known law or number and a network beside it."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "gallery"


def run(name: str) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = module.main()
    assert result["network"] < 1e-6, "the closed system and a moved network differ"
    _check_picture(module.picture())
    return result


def _check_picture(figure: Any) -> None:
    """Lines of the theory go through the dots of the network."""
    import matplotlib.pyplot as plt

    assert figure.axes and all(ax.get_legend() for ax in figure.axes)
    for ax in figure.axes:
        drawn = [line for line in ax.lines if len(line.get_xdata()) > 2]
        for line, dots in zip(drawn[::2], drawn[1::2], strict=True):
            y = np.interp(dots.get_xdata(), line.get_xdata(), line.get_ydata())
            assert len(dots.get_xdata()) == 13 and np.abs(y - dots.get_ydata()).max() < 0.01
    plt.close(figure)


def test_linear_network() -> None:
    result = run("linear_network")
    assert str(result["proof"]) == "proof" and result["closed form"] < 1e-7


def test_modular_addition() -> None:
    result = run("modular_addition")
    assert (result["law"], str(result["evidence"]), result["wrong"]) == ("holds", "proof", "fails")


def test_xor() -> None:
    result = run("xor")
    assert (result["law"], str(result["evidence"])) == ("holds", "proof") and result["margin"] > 1


def test_lora() -> None:
    result = run("lora")
    assert result["floor"] < 1e-5 and result["second singular value"] < 1e-4 and result["rank two"] < 1e-6


def test_momentum() -> None:
    assert run("momentum")["exponent"] == pytest.approx(2, abs=0.05)


def test_markov_chain() -> None:
    result = run("markov_chain")
    assert 0 < result["excess"] < 1e-3 and result["attention"] > 0.9


def test_position_attention() -> None:
    assert run("position_attention")["pair"] > 0.9


def test_max_margin() -> None:
    result = run("max_margin")
    assert result["last"] < result["first"] < 0.01


def test_multi_head() -> None:
    result = run("multi_head")
    assert result["swap"] > 0 and result["quotient"] < result["states"]


def test_induction_head() -> None:
    assert run("induction_head")["loss"] < 0.1


def test_scan_and_snap() -> None:
    result = run("scan_and_snap")
    assert (result["states"], result["family"], result["growing"]) == (40, 14, True) and result["attention"] > 0.95
    assert result["proved"] and result["loss"] < 0.01, "K as a symbol, proved at K = 3, 4, 5 and run at K = 1000"


def test_in_context_regression() -> None:
    result = run("in_context_regression")
    assert (result["law"], str(result["evidence"])) == ("holds", "proof") and result["limit"] < 1e-7


def test_lines_of_a_docstring_do_not_end_lines_of_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx", reason="Sphinx comes with the dev extra")
    monkeypatch.syspath_prepend(FOLDER.parents[1] / "docs" / "_ext")
    spec = importlib.util.spec_from_file_location("examples", FOLDER.parents[1] / "docs" / "_ext" / "examples.py")
    assert spec is not None and spec.loader is not None
    examples = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(examples)
    assert examples.quoted("One\n two.\n\nThree\nfour.\n") == "> One two.\n>\n> Three four."


def test_every_example_is_tested_and_short() -> None:
    names = {path.stem for path in FOLDER.glob("*.py")}
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert names <= tested
    assert max(map(_lines, FOLDER.glob("*.py"))) <= 60


def _lines(path: Path) -> int:
    """Lines with something on them, but for imports."""
    text = path.read_text(encoding="utf-8")
    imports = [node for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    skipped = {line for node in imports for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    return sum(bool(line.strip()) for k, line in enumerate(text.splitlines(), 1) if k not in skipped)
