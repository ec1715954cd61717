"""TeX as MathML: every statement of every paper can be read, and what can not is shown as it is."""

from __future__ import annotations

import pytest

from odesys.papers import registry
from odesys.report.mathml import compact, mathml, styled, text_with_formulas


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


SPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'
CLOSE = 'lspace="0" rspace="0"'


def row(inner: str, tag: str = "math") -> str:
    """What is made of MathML, without the outer element."""
    made = compact(f"<{tag}{SPACE if tag == 'math' else ''}>{inner}</{tag}>")
    return made.removeprefix(f"<{tag}>").removesuffix(f"</{tag}>")


def test_what_is_not_understood_is_shown_as_it_was_written() -> None:
    assert mathml(r"a < \unknown{b}") == r'<code class="tex-only">a &lt; \unknown{b}</code>'
    assert (
        mathml("x", block=True) == '<math display="block"><mi>x</mi></math>'
        and mathml("x") == "<math><mi>x</mi></math>"
    )
    with pytest.raises(ValueError, match="was not understood"):
        compact(rf"<math{SPACE}><mi>\odd</mi></math>")
    assert compact(rf"<math{SPACE}><mtext>a\b</mtext></math>") == r"<math><mtext>a\b</mtext></math>"


def test_rows_of_one_thing_are_that_thing() -> None:
    inner = "<mi>a</mi><mo>+</mo><mi>b</mi>"
    assert row(f"<mrow><mrow>{inner}</mrow></mrow>") == inner and row(f"<mrow>{inner}</mrow>") == inner
    assert row("<mfrac><mrow><mi>a</mi></mrow><mrow><mrow><mn>2</mn></mrow></mrow></mfrac>") == (
        "<mfrac><mi>a</mi><mn>2</mn></mfrac>"
    )
    kept = f"<mfrac><mrow>{inner}</mrow><mrow></mrow></mfrac>"
    assert row(kept) == kept, "several things in a fraction, and an empty place, need their row"
    styled_row = f'<mrow class="x"><mi>a</mi></mrow>{inner}'
    assert row(styled_row) == styled_row
    beside = f"<mi>c</mi><mrow>{inner}</mrow>"
    assert row(beside) == beside, "a row beside something else may be one for a reason"


def test_upright_letters_alone_in_a_row_are_a_word() -> None:
    upright = '<mi mathvariant="normal">{}</mi>'
    word = "".join(upright.format(c) for c in "max")
    assert row(f"<msub><mrow>{word}</mrow><mi>i</mi></msub>") == "<msub><mi>max</mi><mi>i</mi></msub>"
    mixed = f"<msub><mrow>{word}<mi>x</mi></mrow><mi>i</mi></msub>"
    assert row(mixed) == mixed


@pytest.mark.parametrize(
    ("inner", "close"),
    [
        ("<msub><mi>K</mi><mrow><mo>+</mo></mrow></msub>", 1),
        ("<msub><mi>K</mi><mrow><mi>k</mi><mo>,</mo><mo>+</mo></mrow></msub>", 1),
        ("<msub><mi>K</mi><mrow><mo>+</mo><mo>,</mo><mi>k</mi></mrow></msub>", 1),
        ("<msub><mi>K</mi><mrow><mo>+</mo><mi>k</mi></mrow></msub>", 0),
        ("<msub><mi>K</mi><mrow><mi>k</mi><mo>+</mo><mn>1</mn></mrow></msub>", 0),
        ("<msub><mi>K</mi><mrow><mo>=</mo><mo>,</mo><mi>k</mi></mrow></msub>", 0),
        ("<msubsup><mi>K</mi><mrow><mo>−</mo></mrow><mrow><mo>+</mo></mrow></msubsup>", 2),
    ],
)
def test_a_sign_that_is_an_index_has_no_space_around_it(inner: str, close: int) -> None:
    assert row(inner).count(CLOSE) == close


@pytest.mark.parametrize(
    ("inner", "spaces"),
    [
        ("<mi>log</mi><mi>m</mi>", 1),
        ("<mi>a</mi><mi>log</mi>", 1),
        ("<mn>2</mn><mi>log</mi><mi>log</mi><mi>m</mi>", 3),
        ("<mi>a</mi><mi>b</mi>", 0),
        ("<mi>log</mi><mo>(</mo><mi>m</mi>", 0),
        ("<msub><mi>log</mi><mn>2</mn></msub><msqrt><mi>m</mi></msqrt>", 1),
        ("<mi>log</mi><mtext>m</mtext>", 0),
        ("<mi>γδ</mi><mi>m</mi>", 0),
    ],
)
def test_words_stand_apart_from_what_they_are_beside(inner: str, spaces: int) -> None:
    assert row(inner).count('<mspace width="0.167em">') == spaces
    fraction = row(f"<mfrac>{'<mi>log</mi><mi>m</mi>'}</mfrac>")
    assert "mspace" not in fraction, "above and below a line nothing is beside"


@pytest.mark.parametrize(
    ("inner", "made"),
    [
        ("<mi>a</mi><mo>/</mo><mi>b</mi>", f"<mi>a</mi><mo {CLOSE}>/</mo><mi>b</mi>"),
        ("<mo>/</mo><mi>b</mi>", "<mo>/</mo><mi>b</mi>"),
        ("<mi>b</mi><mo>/</mo>", "<mi>b</mi><mo>/</mo>"),
        ("<mo>=</mo><mo>−</mo><mi>b</mi>", '<mo>=</mo><mo form="prefix">−</mo><mi>b</mi>'),
        ("<mo>)</mo><mo>−</mo><mi>b</mi>", "<mo>)</mo><mo>−</mo><mi>b</mi>"),
        ("<mi>a</mi><mo>−</mo><mi>b</mi>", "<mi>a</mi><mo>−</mo><mi>b</mi>"),
        ("<mo>=</mo><mo>×</mo><mi>b</mi>", "<mo>=</mo><mo>×</mo><mi>b</mi>"),
        ("<mi>a</mi><mi>±</mi><mi>b</mi>", "<mi>a</mi><mo>±</mo><mi>b</mi>"),
        ("<mo>=</mo><mi>±</mi><mi>b</mi>", "<mo>=</mo><mi>±</mi><mi>b</mi>"),
        ("<mi>±</mi><mi>b</mi>", "<mi>±</mi><mi>b</mi>"),
        ("<mo>max</mo><mo>(</mo><mi>b</mi>", f"<mo {CLOSE}>max</mo><mo>(</mo><mi>b</mi>"),
        ("<mo>max</mo><mi>b</mi>", '<mo lspace="0" rspace="0.167em">max</mo><mi>b</mi>'),
        ("<mi>b</mi><mo>max</mo>", '<mi>b</mi><mo lspace="0" rspace="0.167em">max</mo>'),
        ("<mo>:=</mo><mi>b</mi>", "<mo>:=</mo><mi>b</mi>"),
        (
            "<munder><mo>max</mo><mi>i</mi></munder><mi>b</mi>",
            '<munder><mo lspace="0" rspace="0.167em">max</mo><mi>i</mi></munder><mi>b</mi>',
        ),
        ("<mi>x</mi><mo>∞</mo>", "<mi>x</mi><mi>∞</mi>"),
        ('<mo stretchy="false">+</mo><mi>x</mi>', '<mo form="prefix">+</mo><mi>x</mi>'),
        ('<mi>a</mi><mo stretchy="false">+</mo><mi>x</mi>', "<mi>a</mi><mo>+</mo><mi>x</mi>"),
        ('<mo stretchy="false" fence="true">(</mo><mi>x</mi>', '<mo stretchy="false">(</mo><mi>x</mi>'),
    ],
)
def test_signs_in_a_row(inner: str, made: str) -> None:
    assert row(inner) == made


@pytest.mark.parametrize(
    ("letter", "variant", "made"),
    [
        ("A", "script", "\N{MATHEMATICAL SCRIPT CAPITAL A}"),
        ("B", "script", "\N{SCRIPT CAPITAL B}"),
        ("C", "fraktur", "\N{BLACK-LETTER CAPITAL C}"),
        ("A", "fraktur", "\N{MATHEMATICAL FRAKTUR CAPITAL A}"),
        ("α", "bold", "\N{MATHEMATICAL BOLD SMALL ALPHA}"),
        ("1", "double-struck", "\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ONE}"),
        ("R", "double-struck", "\N{DOUBLE-STRUCK CAPITAL R}"),
        ("x", "bold-italic", "\N{MATHEMATICAL BOLD ITALIC SMALL X}"),
        ("x", "unknown", "x"),
        ("+", "bold", "+"),
    ],
)
def test_letters_in_a_style_are_characters(letter: str, variant: str, made: str) -> None:
    assert styled(letter, variant) == made
    assert row(f'<mi mathvariant="{variant}">{letter}</mi>') == f"<mi>{made}</mi>"
