"""The setting of a program, written from the function, the data, the loss and the rule of training."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from odesys import (
    Data,
    Gaussian,
    Sample,
    Space,
    Units,
    Words,
    cross_entropy,
    gradient_descent,
    gradient_flow,
    heavy_ball,
    maps,
    sign_descent,
    softmax,
    squared,
    sym,
)
from odesys.errors import OdesysError
from odesys.papers.paper import Setting
from odesys.report.mathml import mathml
from odesys.report.setting import data_rows, setting_formulas
from tests.random_programs import random_program

GALLERY = sorted((Path(__file__).resolve().parents[3] / "examples" / "gallery").glob("*.py"))
WORDS, M = Words("a b"), Space("m")
w, (W_K, W_Q), Y = maps("w", 1, WORDS), maps("W_K W_Q", M, WORDS), maps("Y", Units("y", 3), WORDS)


def f(X):
    return (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum()


def found(setting: Setting) -> dict[str, str]:
    """The formulas by what they are; every one and every row can be shown."""
    formulas = setting_formulas(setting)
    rows = [tex for row in data_rows(setting) for tex in (row.tokens, row.label, row.weight)]
    assert not [tex for tex in (*(f.tex for f in formulas), *rows) if not mathml(tex).startswith("<math")]
    return {formula.what: formula.tex for formula in formulas}


def test_a_head() -> None:
    said = found(Setting(f, Data(WORDS, [("a b", +1), ("b a", -1)]), "W_K w"))
    assert said["output"].startswith(r"f(X) = w^\top X \operatorname{softmax}")
    assert said["map"] == r"w \in \mathbb{R}^{d}"
    assert said["maps"] == r"W_{K},\ W_{Q} \ :\ \mathbb{R}^{d} \to \mathbb{R}^{m}"
    assert r"\theta \in \{w,\ W_{K}\}, \quad \text{frozen: } W_{Q}" in said["training"]
    assert r"\ell(z) = \log(1 + e^{-z})" in said["loss"] and "orthonormal" in said["words"]


def test_targets_of_every_kind() -> None:
    two = [("a", 0), ("b", 2)]
    assert [r.kind for r in data_rows(Setting(lambda X: Y @ X[0], Data(WORDS, two), loss=cross_entropy))] == [
        "class"
    ] * 2
    vectors = Data(WORDS, [("a", [1, Fraction(1, 2), 0])])
    (row,) = data_rows(Setting(lambda X: Y @ X[0], vectors, loss=squared))
    assert (row.label, row.kind) == (r"\big(1,\ \frac{1}{2},\ 0\big)", "target")
    samples = [Sample(["a", "-b"], 1.5, counts=[1, "n"]), ([[1, 2], {"a": "alpha", "b": Fraction(-1, 2)}], 2)]
    rows = data_rows(Setting(lambda X: w @ X[0], Data.proportional(WORDS, samples), loss=squared))
    assert [row.label for row in rows] == ["1.5", "2"]
    assert rows[0].tokens == r"1\times a,\ n\times (-b)"
    assert rows[1].tokens == r"a + 2\, b,\ \alpha\, a -\frac{1}{2}\, b"


def test_losses() -> None:
    data = Data(WORDS, [("a b", 1)])
    assert found(Setting(f, data, loss=squared))["loss"].endswith(r"\frac{1}{2} \big(f(X) - y\big)^{2}")
    own = found(Setting(f, data, loss=lambda f, y: (f - y) ** 4 + f))["loss"]
    assert own.endswith(r"\ell(f, y) = \big(f - y\big)^{4} + f")
    classes = found(Setting(lambda X: Y @ X[0], data, loss=cross_entropy))["loss"]
    assert r"\log \sum_{k} e^{f_{k}(X)} - f_{y}(X)" in classes


def test_rules_of_training() -> None:
    data, name = Data(WORDS, [("a", 1)]), lambda X: w @ X[0]
    assert r"\frac{d \theta}{d t}" in found(Setting.of(gradient_flow(name, data, squared)))["training"]
    step = found(Setting.of(gradient_descent(name, data, squared, decay="lam", rates={"w": 2})))["training"]
    assert step == r"w^{+} = \big(1 - \eta\,\mathrm{lam}\big)\, w - 2\, \eta\,\frac{\partial \mathcal{L}}{\partial w}"
    ball = [x.tex for x in setting_formulas(Setting.of(heavy_ball(name, data, squared, friction="gamma")))]
    assert r"\frac{d \mathrm{dw}}{d t} = -\gamma\, \mathrm{dw} - \frac{\partial \mathcal{L}}{\partial w}" in ball
    assert r"\operatorname{sign}" in found(Setting.of(sign_descent(name, data, squared)))["training"]


def test_a_population_names_its_normals() -> None:
    data = Gaussian(WORDS, [{"a": sym("x"), "b": sym("s") * sym("v")}], target=3 * sym("x"), parameters="s")
    setting = Setting(lambda X: w @ X[0], data, loss=squared)
    assert found(setting)["population"] == r"v,\ x \sim \mathcal{N}(0, 1) \quad \text{independent}"
    (row,) = data_rows(setting)
    assert (row.label, row.tokens) == ("3x", r"x\, a + v\,s\, b")


def test_a_program_that_differs_with_the_length_is_written_for_each() -> None:
    data = Data(WORDS, [("a", 1), ("a b", 1), ("a b b", 1)])
    said = found(Setting(lambda X: sum((w @ x for x in X), w @ X[0]), data))
    assert [what for what in said if "output" in what] == [f"output, L = {n}" for n in (3, 2, 1)]
    assert "output" in found(Setting(f, Data(WORDS, [("a", 1), ("a b", 1)])))


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_the_gallery_can_be_shown(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Seen(Exception):
        pass

    def stop(*program: Any) -> None:
        raise Seen(*program)

    monkeypatch.setattr("odesys.derive.training.read_program", stop)
    spec = importlib.util.spec_from_file_location(f"shown_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(Seen) as seen:
        module.main()
    function, data, loss, _ = seen.value.args
    assert found(Setting(function, data, loss=loss))["output"]


def test_random_programs_can_be_shown() -> None:
    shown = 0
    for seed in range(150):
        case = random_program(seed)
        try:
            found(Setting(case.function, case.data, loss=case.loss))
            shown += 1
        except OdesysError:  # programs that are refused with a sentence
            continue
    assert shown > 120
