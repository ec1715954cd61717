"""Sentences as HTML: symbols become formulas where they are symbols, and texts are never markup."""

from __future__ import annotations

import pytest

from odesys.papers.hypotheses import Symbol
from odesys.report.mathml import mathml
from odesys.report.prose import finding, letters, plain_names, says_more, strong, with_symbols

SYMBOLS = {
    s.name: s for s in (Symbol("a", "a", "a number", "positive"), Symbol("omega", r"\omega", "scale", "positive"))
}


def test_short_names_are_symbols_in_front_of_a_relation_only() -> None:
    said = with_symbols("at a = 1 a large <b> omega fits", SYMBOLS)
    assert said == f"at {mathml('a')} = 1 a large &lt;b&gt; {mathml(chr(92) + 'omega')} fits"


def test_a_symbol_keeps_its_power() -> None:
    assert with_symbols("a start of size omega^2 m", SYMBOLS) == "a start of size ω<sup>2</sup> m"


def test_formulas_between_dollar_signs_stay_formulas() -> None:
    assert with_symbols("where $x_1$ is", {}) == f"where {mathml('x_1')} is"


def test_strong() -> None:
    assert strong("**<x>** & y") == "<b>&lt;x&gt;</b> &amp; y"


def test_letters_get_their_shape_and_words_stay_words() -> None:
    assert letters("alpha_*^-2 < T_4^-") == "α<sub>*</sub><sup>−2</sup> &lt; T<sub>4</sub><sup>−</sup>"
    assert letters("m_k >= 2, c eta^(-3/5)") == "m<sub>k</sub> ≥ 2, c η<sup>−3/5</sup>"
    assert letters("exp(-x^2/2)") == "exp(−x<sup>2</sup>/2)"  # a power ends before a fraction
    assert letters("1/sqrt(m), sqrt2, 2 sqrt(n l), C_p sqrt M") == "1/√m, √2, 2 √(n l), C<sub>p</sub> √M"
    assert letters("m_v^(-1/2) e^(-Lambda) (x)^(1/2)") == (
        "m<sub>v</sub><sup>−1/2</sup> e<sup>−Λ</sup> (x)<sup>1/2</sup>"
    )
    assert "<b>" not in letters("e^(<b>) (x)^(<b>)")  # texts are never markup
    assert letters("c0^4 N^2M^2/8") == "c<sub>0</sub><sup>4</sup> N<sup>2</sup>M<sup>2</sup>/8"
    for plain in ("a mean_field, beta1x and W^(0)", "verify.json of theta2x", "a <b> & c", "sub-Gamma"):
        assert "<su" not in letters(plain) and not set(letters(plain)) & set("βθΓ")


def test_a_hypothesis_is_said_once() -> None:
    assert not says_more("sigma <= 1/M", r"\sigma \le 1 / M")
    assert not says_more("C_p = 5 sqrt M", r"C_p = 5\sqrt{M}")
    assert not says_more("M < m_a and M < m_b", "M<m_a,m_b") and not says_more("m >= M^2 log N", r"m\gtrsim M^2\log N")
    assert says_more("d >= n^9", r"d \ge n") and says_more("n >= m^4", r"n = \Omega(m^4)")  # the name is the reading
    assert says_more("small start", r"\omega \le 1") and says_more("N >= log(d) / 8", r"N = \Omega(\log d)")


def test_greek_names_with_a_number_and_powers_of_ten() -> None:
    assert letters("mu1 and beta2") == "μ<sub>1</sub> and β<sub>2</sub>"
    assert letters("h1, T1x, me2, E.5/T1, P1-steps") == "h<sub>1</sub>, T1x, me2, E.5/T1, P1-steps"
    assert letters("at 2.197e+16, -1e-05") == "at 2.197 × 10<sup>16</sup>, −10<sup>−5</sup>"
    assert letters("x2e5 and 1e-9.json") == "x2e5 and 1e-9.json"


def test_a_sign_that_names_a_head_stays_with_it() -> None:
    assert letters("neurons of the - head") == "neurons of the −\N{NO-BREAK SPACE}head"
    assert letters("v, + heads") == "v, +\N{NO-BREAK SPACE}heads"
    assert letters("a - b + c") == "a − b + c"
    assert letters("y = -60/91, to -v_k, (-x)") == "y = −60/91, to −v<sub>k</sub>, (−x)"
    assert letters("self-scores at 1e-3 with --level e^(-2s)") == (
        "self-scores at 10<sup>−3</sup> with --level e<sup>−2s</sup>"
    )


def test_findings_are_no_code() -> None:
    assert finding("w_p**2 - w_m**2 is constant; <b>") == (
        "w<sub>p</sub><sup>2</sup> − w<sub>m</sub><sup>2</sup> is constant; &lt;b&gt;"
    )
    assert finding("(x = 2*pi, y = 0)") == "(x = 2 π, y = 0)" and letters("Z_1 = +-1") == "Z<sub>1</sub> = ±1"


@pytest.mark.parametrize("count", [4, 5])
def test_a_long_name_is_a_symbol_anywhere_and_a_short_one_in_front_of_a_relation(count: int) -> None:
    """From five letters on a name is no word of a sentence; behind a bracket, a power or a hyphen it goes on."""
    name = "width"[:count]
    symbols = {name: Symbol(name, "W", "", "positive")}
    made = mathml("W")
    anywhere = count >= 5
    assert (made in with_symbols(f"the {name} grows", symbols)) is anywhere
    for text in (f"{name} = 1", f"{name} < 1", f"{name} >= 1", f"{name} in (0, 1)", f"{name}: what it is"):
        assert with_symbols(text, symbols).startswith(made)
    for text in (
        f"{name}(2)",
        f"{name}/2",
        f"{name}-half",
        f"{name}s",
        f"x{name} = 1",
        f"x.{name} = 1",
        f"-{name} = 1",
    ):
        assert made not in with_symbols(text, symbols)
    longer = {**symbols, f"{name}_2": Symbol(f"{name}_2", "V", "", "positive")}
    assert with_symbols(f"{name}_2 = 1", longer).startswith(mathml("V")), "the longest name wins"
    assert with_symbols(f"a $x$ {name} = 1", symbols) == f"a {mathml('x')} {made} = 1"
    assert with_symbols(f"5 $ {name} = 1", symbols) == f"5 $ {made} = 1"
    assert with_symbols("a <b>", {}) == "a &lt;b&gt;"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("1e5", "10<sup>5</sup>"),
        ("2e-05", "2 × 10<sup>−5</sup>"),
        ("1.5e+16 m", "1.5 × 10<sup>16</sup> m"),
        ("10e3", "10 × 10<sup>3</sup>"),
        ("a <= b >= c", "a ≤ b ≥ c"),
        ("eps and Omega", "ε and Ω"),
        ("x_alpha,beta", "x<sub>α,β</sub>"),
        ("x_1^2", "x<sub>1</sub><sup>2</sup>"),
        ("x", "x"),
        ("sqrt(x)", "√x"),
        ("x^(alpha)", "x<sup>α</sup>"),
        ("x_{-1}", "x<sub>−1</sub>"),
    ],
)
def test_letters_of_a_sentence(text: str, html: str) -> None:
    assert letters(text) == html


def test_names_of_words_come_apart_and_letters_keep_their_index() -> None:
    given = {"share_at": 1, "x_1": 2, "mu_k": 3, "two words_x": 4, 5: 6, "plain": 7, "a_b": 8, "ab_c": 9}
    wanted = {"share at": 1, "x_1": 2, "mu_k": 3, "two words_x": 4, 5: 6, "plain": 7, "a_b": 8, "ab c": 9}
    assert plain_names(given) == wanted
