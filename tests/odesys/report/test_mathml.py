"""TeX as MathML: every statement of every paper can be read, and what can not is shown as it is."""

from __future__ import annotations

from odesys.papers import registry
from odesys.report.mathml import mathml, text_with_formulas


def test_every_statement_of_every_paper_becomes_mathml() -> None:
    count = 0
    for paper in registry.all_papers():
        for claim in paper.book() if paper.book else ():
            text = mathml(claim.statement, True)
            assert text.startswith("<math") and "\\" not in text, (paper.name, claim.id, claim.statement)
            count += 1
    assert count > 200


def test_mathml_details() -> None:
    assert 'rspace="0"' in mathml("W_{K+}") and 'rspace="0"' not in mathml("a+b")
    assert "\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ONE}" in mathml(r"\mathbb{1}[h>0]")
    assert "<mo" in mathml(r"\Big\{x\Big\}") and "tex-only" not in mathml(r"\Big\{x\Big\}")


def test_text_with_formulas() -> None:
    assert text_with_formulas("a < b, $x_1$ & more") == f"a &lt; b, {mathml('x_1')} &amp; more"
    assert text_with_formulas("3 $ < 4") == "3 $ &lt; 4"  # one dollar sign is money


def test_rows_and_words_that_say_nothing_are_left_out() -> None:
    assert mathml("d") == "<math><mi>d</mi></math>"
    assert mathml(r"\mathrm{ReLU}_{ij}") == "<math><msub><mi>ReLU</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub></math>"
    assert mathml(r"{}_1") == "<math><msub><mrow></mrow><mn>1</mn></msub></math>"
    assert '<mo stretchy="false">(</mo>' in mathml("(x)") and 'mathvariant="normal"' in mathml(r"\mathrm d x")


def test_words_are_whole_and_apart_from_the_letters_beside_them() -> None:
    space = '<mspace width="0.167em"></mspace>'
    assert mathml(r"a\log m") == f"<math><mi>a</mi>{space}<mi>log</mi>{space}<mi>m</mi></math>"
    assert mathml(r"X\mathrm{softmax}(x)").startswith(f"<math><mi>X</mi>{space}<mi>softmax</mi><mo")
    assert mathml(r"N\mathrm{SNR}^2") == f"<math><mi>N</mi>{space}<msup><mi>SNR</mi><mn>2</mn></msup></math>"
    assert mathml(r"x\,\mathrm{SNR}").count("<mspace") == 1 and "<mspace" not in mathml(r"\exp(\dot x y_1)")


def test_signs_stand_as_in_print() -> None:
    close = 'lspace="0" rspace="0"'
    assert mathml("a=|x|+b").count(close) == 2 and close not in mathml("|x|") and close not in mathml(r"a\mid b")
    assert f"<mo {close}>/</mo>" in mathml("a/b") and "<mi>∞</mi>" in mathml(r"t\to\infty:x")
    assert '<mo lspace="0" rspace="0.167em">max</mo>' in mathml(r"\max_i x_i") and f"<mo {close}>max</mo>" in mathml(
        r"\max(a,b)"
    )
    assert mathml("a=-b").count('<mo form="prefix">−</mo>') == 1 and "prefix" not in mathml("(a)-b")
    assert "<mo>±</mo>" in mathml(r"a\pm b") and "<mi>±</mi>" in mathml(r"\pm b") and close in mathml(r"W_{K\pm}")
    assert mathml("X_{k,+,-}").count(close) == 2
