"""Sentences as HTML: important words in bold, names of the table of symbols as the paper writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from .mathml import mathml

CLEAR = 5  # letters of a name that is no word of a sentence
_SMALL = "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_LARGE = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
GREEK = dict(zip([*_SMALL.split(), *_LARGE.split(), "eps"], "αβγδεζηθκλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩε", strict=True))
_HELD = r"\((?!\d+\))[\w+*/.,-]{1,10}\)|\{[\w +*/.,−-]{1,14}\}"  # a power in brackets
_LETTER = re.compile(
    rf"(?<![\w\\.])(?<![A-Za-z]-)(?P<stem>{'|'.join(sorted(GREEK, key=len, reverse=True))}|[A-Za-z])"
    r"(?P<number>(?<=[a-z]{2})\d+|(?<![/A-Za-z][A-Za-z])\d{1,2}(?![.-]\w))?"
    r"(?:_(?P<index>[A-Za-z0-9]+(?:,[A-Za-z0-9]+)*|\+-(?!\w)|[*#+-](?!\w)|\{[\w+*,−-]{1,8}\}))?"
    r"(?:\^(?P<power>[+-]?1/\d+(?![\w.])|-\d+/\d+(?![\w.])|[+-]?\d+(?![\w.])"
    rf"|{_HELD}|[A-Za-z*](?!\w)|[+-](?![\w(])))?(?![\w^])"
)
_RELATIONS = (("&lt;=", "≤"), ("&gt;=", "≥"))
_POWER = re.compile(  # of a bracket, a word or a number; in N^2M, too
    rf"(?<=[A-Za-z0-9)|\]])\^([+-]?1/\d+(?![\w.])|-\d+/\d+(?![\w.])|[+-]?\d+(?![\d.])|{_HELD})"
)
_TENS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?)0*(\d+)(?![\w.]*\w)")
_HEAD = re.compile(r"(?<!\S)[+-] (?=(?:head|neuron|class|unit)(?:e?s)?\b)")  # which one it is: no line ends between
_PLUS_OR_MINUS = re.compile(r"(?<![\w^_])\+-(?=[\w(])")
_MINUS = re.compile(r"(?<![\w)\]^_-])(?<!\^\()-(?=[\w.(])")  # of a negative number: a line could end after a hyphen
_BETWEEN = re.compile(r"(?<=\S) - (?=\S)")  # a difference
_PRODUCT = re.compile(r"<([A-Za-z|][^<>=]*,[^<>=]*)>")  # an inner product
_ROOT = re.compile(r"(?<![A-Za-z])sqrt(?:\((\w+)\)|(?=[(2-9])| (?=[A-Za-z](?![A-Za-z])))")


def strong(text: str) -> str:
    """Text as HTML, with what stands between pairs of asterisks in bold.

    >>> strong("it **holds** for x < 1")
    'it <b>holds</b> for x &lt; 1'
    """
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))


def letters(text: str) -> str:
    """A title or sentence as HTML: names of Greek letters as letters, indices and powers of one letter in their place.

    >>> letters("T_4^- over alpha_*^-2, m_k >= 2")
    'T<sub>4</sub><sup>−</sup> over α<sub>*</sub><sup>−2</sup>, m<sub>k</sub> ≥ 2'
    >>> letters("N SNR^2 >= (sigma d)^-1 m^1/2 t^2/2")
    'N SNR<sup>2</sup> ≥ (σ d)<sup>−1</sup> m<sup>1/2</sup> t<sup>2</sup>/2'
    >>> letters("sqrt(m_k) at 10^30, e^(-2s), 4N^2M")
    '√m<sub>k</sub> at 10<sup>30</sup>, e<sup>−2s</sup>, 4N<sup>2</sup>M'
    >>> letters("v_mu <= k_s,mu")
    'v<sub>μ</sub> ≤ k<sub>s,μ</sub>'
    >>> letters("mu1 below 9.703e-06 or 1e-9")
    'μ<sub>1</sub> below 9.703 × 10<sup>−6</sup> or 10<sup>−9</sup>'
    >>> letters("T1 = 20 at (c1, -v2), but E.4/T1, H2O and P1-steps")
    'T<sub>1</sub> = 20 at (c<sub>1</sub>, −v<sub>2</sub>), but E.4/T1, H2O and P1-steps'
    >>> letters("Z_1 = +-1, V_+-")
    'Z<sub>1</sub> = ±1, V<sub>±</sub>'
    >>> letters("neurons of the - head").split("of the ")
    ['neurons ', '−\xa0head']
    >>> letters("<v, y_i mu - xi_i>, F_{-1} and e^{2b}")
    '⟨v, y<sub>i</sub> μ − ξ<sub>i</sub>⟩, F<sub>−1</sub> and e<sup>2b</sup>'
    >>> letters("a mean_field in x_1.json")
    'a mean_field in x<sub>1</sub>.json'
    """
    text = _HEAD.sub(lambda found: f"{found[0][0].replace('-', '−')}\xa0", _PRODUCT.sub(r"⟨\1⟩", text))
    text = _PLUS_OR_MINUS.sub("±", text)
    text = _MINUS.sub("−", _BETWEEN.sub(" − ", text))
    text, out, end = _ROOT.sub(lambda found: f"√{found[1] or ''}", text), "", 0
    for found in _LETTER.finditer(text):
        stem, number, index, power = found.group("stem", "number", "index", "power")
        index = ",".join(filter(None, (number, (index or "").strip("{}")))).replace("+-", "±").replace("-", "−")
        if stem in GREEK or index or power:
            out += _relations(text[end : found.start()]) + GREEK.get(stem, stem)
            out += f"<sub>{','.join(GREEK.get(i, i) for i in index.split(','))}</sub>" if index else ""
            out += _raised(power) if power else ""
            end = found.end()
    return out + _relations(text[end:])


def _relations(text: str) -> str:
    made = escape(text, quote=False)
    for ascii_sign, sign in _RELATIONS:
        made = made.replace(ascii_sign, sign)
    return _TENS.sub(_power_of_ten, _POWER.sub(lambda found: _raised(found[1]), made))


def _power_of_ten(found: re.Match[str]) -> str:
    number, sign, power = found.groups()
    factor = "" if number == "1" else f"{number} × "
    return f"{factor}10{_raised(sign.replace('+', '') + power)}"


def _raised(power: str) -> str:
    """An exponent in its place; brackets that held it together are not needed there."""
    inner = power.strip("(){}")
    return f"<sup>{re.sub('[A-Za-z]+', lambda word: GREEK.get(word[0], word[0]), inner).replace('-', '−')}</sup>"


def finding(text: str) -> str:
    """A sentence with expressions as a program writes them, as HTML.

    >>> finding("(x = -3*pi, y = 0) and x**2/2, x -> -x, b < 1")
    '(x = −3 π, y = 0) and x<sup>2</sup>/2, x → −x, b &lt; 1'
    """
    text = text.replace("**", "^").replace("->", "→")
    return letters(re.sub(r"(?<=[\w)])\*(?=[\w(])", " ", text))


def says_more(name: str, tex: str) -> bool:
    r"""True if the name of a hypothesis is more than its formula in plain letters.

    >>> says_more("sigma <= 1/M", r"\sigma \le 1/M"), says_more("small start", r"\omega \le 1")
    (False, True)
    """
    words = set(re.findall(r"[A-Za-z]+|\d+", name.replace("exp", "e"))) - {"and", "log"}
    hidden = re.search(r"\\(?:Omega|Theta|mathrm|text)|(?<![A-Za-z])[oO]\(", tex)  # then the name says how it is read
    return bool(hidden) or not words <= set(re.findall(r"[A-Za-z]+|\d+", tex))


def plain_names(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Values under names for a reader: words of a name apart, letters with an index as they are.

    >>> plain_names({"share_at_0.5": 1, "T_half": 2, "alpha_s": 3})
    {'share at 0.5': 1, 'T_half': 2, 'alpha_s': 3}
    >>> plain_names({"2 sigma_p >= d^-1/4": 1})
    {'2 sigma_p >= d^-1/4': 1}
    """

    def plain(name: Any) -> Any:
        stem = name.partition("_")[0] if isinstance(name, str) else ""
        words = len(stem) > 1 and stem not in GREEK and " " not in stem  # not a sentence
        return name.replace("_", " ") if words else name

    return {plain(name): value for name, value in values.items()}


def with_symbols(text: str, symbols: Mapping[str, Any]) -> str:
    """A sentence as HTML, in which a symbol of the table that has a value is written as a formula.

    A short name is taken for a symbol in front of a relation or a colon only, since many are words or parts of them.
    """
    parts = text.split("$")
    if len(parts) > 1 and len(parts) % 2:  # formulas between dollar signs
        return "".join(mathml(part) if k % 2 else with_symbols(part, symbols) for k, part in enumerate(parts))
    if not symbols:
        return letters(text)
    names = sorted(symbols, key=len, reverse=True)
    clear = [name for name in names if len(name) >= CLEAR]
    short = rf"({'|'.join(map(re.escape, names))})(?=\s(?:=|<|>|<=|>=|in)\s|:\s)"
    long = rf"|({'|'.join(map(re.escape, clear))})(?![\w(/^-])" if clear else ""
    out, end = "", 0
    for found in re.finditer(rf"(?<![\w.^/-])(?:{short}{long})", text):
        out += letters(text[end : found.start()]) + mathml(symbols[found.group()].tex)
        end = found.end()
    return out + letters(text[end:])
