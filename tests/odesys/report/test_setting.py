"""The setting of a program, written from the function, the data, the loss and the rule of training."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
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
from odesys.derive.motion import Motion
from odesys.errors import OdesysError
from odesys.expr.graph import ONE, ZERO, num
from odesys.papers.paper import Setting
from odesys.report.mathml import mathml
from odesys.report.setting import _moved, _multiple, _number, _target, _token, data_rows, setting_formulas
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


@pytest.mark.parametrize(("count", "dots"), [(12, False), (13, True)])
def test_up_to_twelve_normals_are_named(count: int, dots: bool) -> None:
    token = {"a": sum(sym(f"x{k:02d}") for k in range(count))}
    data = Gaussian(WORDS, [token], target=sym("x00"))
    said = found(Setting(lambda X: w @ X[0], data, loss=squared))["population"]
    assert (r"\dots" in said) is dots and said.count("x_") == min(count, 12)


@pytest.mark.parametrize(
    ("factor", "tex"),
    [(ONE, "x"), (-ONE, "-x"), (sym("k"), r"k\, x"), (sym("k") + 1, r"\big(1 + k\big)\, x"), (2 * sym("k"), r"2k\, x")],
)
def test_a_multiple_is_written_as_short_as_can_be(factor: Any, tex: str) -> None:
    assert _multiple(factor, "x") == tex


@pytest.mark.parametrize(
    ("value", "tex"),
    [
        (0.25, "0.25"),
        (1 / 3, "0.333333"),
        (np.float64(2.5), "2.5"),
        (3, "3"),
        (np.int64(-3), "-3"),
        (Fraction(1, 2), r"\frac{1}{2}"),
        (num(1 / 3), "0.333333"),
        (num(2), "2"),
        (num(Fraction(1, 3)), r"\frac{1}{3}"),
        (sym("k"), "k"),
        (sym("k") * 2, "2k"),
    ],
)
def test_numbers_are_exact_where_they_are_and_six_digits_where_not(value: Any, tex: str) -> None:
    assert _number(value, {}) == tex
    assert _target((value, [value]), {}) == rf"\big({tex},\ \big({tex}\big)\big)"


def test_a_token_is_a_combination_of_words() -> None:
    words = Words("a b c")
    for token, tex in (
        ({"a": 1}, "a"),
        ({"a": -1}, "-a"),
        ({"a": 1, "b": 1}, "a + b"),
        ({"a": 1, "b": -1}, "a -b"),
        ({"a": -2, "c": Fraction(1, 2)}, r"-2\, a + \frac{1}{2}\, c"),
        ({"b": sym("k") + 1}, r"(1 + k)\, b"),
        ({"b": sym("k"), "c": sym("k") - 1}, None),
        ({"a": 0}, "0"),
        ("-b", "-b"),
    ):
        said = _token(words, token, {})
        assert said == tex or (tex is None and said.startswith(r"k\, b + (") and said.endswith(r")\, c"))


def test_labels_are_signs_and_weights_are_fractions() -> None:
    rows = data_rows(Setting(f, Data.proportional(WORDS, [Sample(["a", "b"], +1), Sample(["b", "a"], -1)])))
    assert [(r.tokens, r.label, r.weight, r.kind) for r in rows] == [
        (r"a,\ b", "+1", r"\frac{1}{2}", "label"),
        (r"b,\ a", "-1", r"\frac{1}{2}", "label"),
    ]
    kinds = {}
    for labels in ((1, 2), (1, -1), (1, Fraction(1, 2)), (0, 1)):
        data = Data(WORDS, [("a", labels[0]), ("b", labels[1])])
        kinds[labels] = {row.kind for row in data_rows(Setting(lambda X: w @ X[0], data, loss=squared))}
    assert kinds == {(1, 2): {"target"}, (1, -1): {"label"}, (1, Fraction(1, 2)): {"target"}, (0, 1): {"target"}}


def test_maps_say_between_which_spaces_they_go() -> None:
    other, d = Words("p q", name="F"), Space("d")
    u, A = maps("u", 1, other), maps("A", d, WORDS)
    row = maps("r", 1, d)
    data = Data(WORDS, [("a", 1)])
    said = [
        x for x in setting_formulas(Setting(lambda X: row @ A @ X[0] + w @ X[0], data, loss=squared)) if "map" in x.what
    ]
    texts = [x.tex for x in said]
    assert r"A \ :\ \mathbb{R}^{D} \to \mathbb{R}^{d}" in texts and r"w \in \mathbb{R}^{D}" in texts
    assert r"r \in \mathbb{R}^{d}" in texts and u is not None
    (only,) = [x.tex for x in setting_formulas(Setting(lambda X: Y @ X[0], data, loss=squared)) if x.what == "map"]
    assert only == r"Y \ :\ \mathbb{R}^{d} \to \mathbb{R}^{3}"


def test_what_is_trained_and_what_is_frozen() -> None:
    data = Data(WORDS, [("a b", 1)])
    for train, moving, frozen in (
        ("", r"w,\ W_{K},\ W_{Q}", ""),
        ("w", "w", r", \quad \text{frozen: } W_{K},\ W_{Q}"),
        (("W_K", "W_Q"), r"W_{K},\ W_{Q}", r", \quad \text{frozen: } w"),
    ):
        for step, motion in ((False, r"\frac{d \theta}{d t} = -"), (True, r"\theta^{+} = \theta - \eta\,")):
            said = found(Setting(f, data, train, step=step))["training"]
            assert said.startswith(motion + r"\frac{\partial \mathcal{L}}{\partial \theta}")
            assert sorted(said.split(r"\in \{")[1].split(r"\}")[0].split(r",\ ")) == sorted(moving.split(r",\ "))
            assert (r"\text{frozen: }" in said) is bool(frozen)
    assert r"\frac{1}{\Vert \nabla \mathcal{L} \Vert} " in _moved("x", Motion(), True, "normalised descent", {})
    assert _moved("x", Motion(force=ZERO), False, "", {}) == r"\frac{d x}{d t} = 0"
    assert _moved("x", Motion(force=ZERO), True, "", {}) == "x^{+} = x"


def test_vectors_have_the_loss_of_their_distance() -> None:
    data = Data(WORDS, [("a", [1, 0, 0])])
    said = found(Setting(lambda X: Y @ X[0], data, loss=squared))["loss"]
    assert said == r"\mathcal{L} = \mathbb{E}\,\frac{1}{2} \Vert f(X) - y \Vert^{2}"
