"""A model and its data in formulas, written from the objects the systems are derived from."""

from __future__ import annotations

from fractions import Fraction

from odesys import AttentionModel, Dictionary, Distribution, Head, Neurons, Sample, Value
from odesys.papers.paper import Setting
from odesys.report.mathml import mathml
from odesys.report.setting import data_rows, setting_formulas


def test_the_setting_is_written_from_the_model() -> None:
    words = Dictionary(["c1", "v1"], [[2, 1], [1, 2]])
    data = Distribution([Sample(["c1", "-v1"], 1 if k % 2 else -1, Fraction(1, 40), f"s{k}") for k in range(40)])
    heads = [Head(+1, "relu", "b"), Head(-1, "linear", Fraction(-1, 2))]
    model = AttentionModel(words, heads, Value(("W_O", "W_V"), Neurons((1, -1))), pooling="mean", scale=Fraction(1, 2))
    found = {f.what: f.tex for f in setting_formulas(Setting(model, data, ("W_O", "W_K"), "hinge", step=True))}
    assert found["output"] == r"f(X) = \mathrm{relu}\big(H_{+}(X) + b\big) - \big(H_{-}(X) -\frac{1}{2}\big)"
    assert r"\frac{1}{L}\sum" in found["head"] and r"\sum_{i=1}^{2} a_i\, \mathrm{relu}" in found["head"]
    assert r"\frac{1}{2}\, x_{h}^\top" in found["attention"] and r"\eta" in found["training"]
    assert r"\text{frozen: } W_{V},\ W_{Q}" in found["training"] and "pmatrix" in found["words"]
    rows = data_rows(Setting(model, data, ("W_O",)))
    assert len(rows) == 16 and {row.label for row in rows} == {"+1", "-1"} and rows[0].weight == r"\frac{1}{40}"
    assert all(mathml(tex).startswith("<math") for tex in found.values())


def test_a_token_that_stands_for_several_is_written_with_its_number() -> None:
    data = Distribution([Sample(["a", "-b"], label=+1, weight=1, counts=["alpha", 3])])
    (row,) = data_rows(Setting(AttentionModel(Dictionary(["a", "b"]), [Head()]), data, ("w",)))
    assert row.tokens == r"\alpha\times a,\ 3\times (-b)"
