"""TeX as MathML: one door to the converter, checked, compact, and with the TeX itself where it can not be read."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from functools import cache, lru_cache
from html import escape
from xml.etree import ElementTree

_SPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'
_BIG_BRACE = re.compile(r"\\[bB]igg?[lr]?\s*\\([{}|]|[lr]angle)")
_BRACES = {"{": r"\{", "}": r"\}", "|": r"\Vert ", "langle": r"\langle ", "rangle": r"\rangle "}
_STYLES = {  # of mathvariant, as Unicode names the letters: browsers no longer read the attribute
    "script": "SCRIPT",
    "bold-script": "BOLD SCRIPT",
    "double-struck": "DOUBLE-STRUCK",
    "fraktur": "FRAKTUR",
    "sans-serif": "SANS-SERIF",
    "monospace": "MONOSPACE",
    "bold": "BOLD",
    "italic": "ITALIC",
    "bold-italic": "BOLD ITALIC",
}
_SCRIPTS = ("msub", "msup", "msubsup")
_OPERANDS = ("mi", "mn", "mfrac", "msqrt", *_SCRIPTS)
_ROWS = ("math", "mrow", "mtd", "mstyle", "msqrt", "mpadded", "menclose")  # several children are a row in them anyway
_BARS, _CLOSING, _SIGNS = ("|", "‖", "∥"), (")", "]", "}", "⟩", "!", "′", "⌉", "⌋"), ("−", "-", "+", "±", "∓")
_STRETCHED = set("()[]{}|‖∥⟨⟩⌊⌋⌈⌉∣/∫^~¯←→↔⇐⇒⇔⟶⟵⟹⏟⏞")  # operators that a browser would stretch by itself


@lru_cache(maxsize=4096)
def mathml(tex: str, block: bool = False) -> str:
    """A ``math`` element; TeX that the converter does not read is shown as code."""
    from latex2mathml.converter import convert

    readable = _BIG_BRACE.sub(lambda found: _BRACES[found.group(1)], tex)
    try:
        text = convert(readable, display="block" if block else "inline")
        return compact(text)
    except Exception:  # the converter fails in many ways, and the TeX is the user's
        return f'<code class="tex-only">{escape(tex)}</code>'


def text_with_formulas(text: str) -> str:
    """Text as HTML, with MathML for what stands between dollar signs."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(mathml(part) if k % 2 else escape(part) for k, part in enumerate(parts))


def compact(text: str) -> str:
    """The same MathML with characters instead of entities; refused if TeX is left in it."""
    root = ElementTree.fromstring(text.replace(_SPACE, ""))
    for element in reversed(list(root.iter())):  # what is inside comes first
        if element.get("mathvariant", "normal") != "normal":
            element.text = "".join(styled(c, element.attrib["mathvariant"]) for c in element.text or "")
            del element.attrib["mathvariant"]
        if element.tag in _SCRIPTS:
            for script in list(element)[1:]:
                _tighten(script)
        element.tail = (element.tail or "").strip()
        if element.tag != "mtext" and "\\" in (element.text or ""):
            raise ValueError(f"{element.text!r} was not understood")
        if len(element):
            element.text = (element.text or "").strip()
            _fewer_rows(element)
            _words_apart(element)
            _close_up(element)
        _fewer_words(element)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


@cache
def styled(letter: str, variant: str) -> str:
    """A letter or digit in a style, as one character of its own.

    >>> styled("L", "script"), styled("E", "double-struck"), styled("h", "italic"), styled("+", "bold")
    ('ℒ', '𝔼', 'ℎ', '+')
    """
    style, name = _STYLES.get(variant, variant.upper()), unicodedata.name(letter, "")
    tail = name.removeprefix("LATIN ").removeprefix("GREEK ").replace(" LETTER", "")
    older = {"FRAKTUR": "BLACK-LETTER"}.get(style, style)  # letters that Unicode had before
    for known in (f"MATHEMATICAL {style} {tail}", f"{older} {tail}", "PLANCK CONSTANT" if letter == "h" else ""):
        with suppress(KeyError):
            return unicodedata.lookup(known)
    return letter


def _tighten(script: ElementTree.Element) -> None:
    """A sign that is an index, as in K+ or X_{k,+,-}, is no operator and gets no space around it."""
    for k, sign in enumerate(script):
        alone = k == len(script) - 1 or (sign.text in ("+", "−", "-", "±", "∓") and script[k + 1].text == ",")
        if sign.tag == "mo" and alone:
            sign.attrib |= {"lspace": "0", "rspace": "0"}


def _words_whole(element: ElementTree.Element) -> None:
    r"""Upright letters alone in a row, as of \mathrm{ReLU}, are one word, which is upright by itself."""
    letters = list(element)
    if element.tag == "mrow" and letters and all(each.tag == "mi" and each.get("mathvariant") for each in letters):
        letters[0].text = "".join(each.text or "" for each in letters)
        for each in letters[1:]:
            element.remove(each)
        _fewer_words(letters[0])


def _fewer_rows(element: ElementTree.Element) -> None:
    """Rows of one thing, and rows in rows, are that thing; an empty row holds a place and stays."""
    for k, child in reversed(list(enumerate(element))):
        _words_whole(child)
        inner = list(child) if child.tag == "mrow" and not child.attrib else []
        while len(inner) == 1 and inner[0].tag == "mrow" and not inner[0].attrib:
            inner = list(inner[0])
        if len(inner) == 1 or (inner and len(element) == 1 and element.tag in _ROWS):
            element[k : k + 1] = inner


def _words_apart(element: ElementTree.Element) -> None:
    r"""A thin space between a word, as \log or \mathrm{SNR}, and the letters beside it."""
    if element.tag in _ROWS:
        for k in range(len(element) - 1, 0, -1):
            pair = element[k - 1], element[k]
            if any(map(_is_word, pair)) and all(each.tag in _OPERANDS for each in pair):
                element.insert(k, ElementTree.Element("mspace", width="0.167em"))


def _close_up(element: ElementTree.Element) -> None:
    r"""No wide spaces: a bar inside of a row is one side of a norm, a minus after a sign belongs to a number, a slash
    stands close, and a word such as \max belongs to what follows it."""
    for k, child in enumerate(element if element.tag in _ROWS else ()):
        base = child[0] if child.tag in (*_SCRIPTS, "munder", "mover", "munderover") and len(child) else child
        if base.tag == "mo" and base.text in (*_BARS, "/") and 0 < k < len(element) - 1:
            base.attrib |= {"lspace": "0", "rspace": "0"}
        before = element[k - 1] if k else child
        if (
            child.tag == "mi"
            and child.text in ("±", "∓")
            and before.tag not in ("mo", "mspace")
            and before is not child
        ):
            child.tag = "mo"
        if child.tag == before.tag == "mo" and child.text in _SIGNS and before.text not in (*_BARS, *_CLOSING):
            child.set("form", "prefix")
        if base.tag == "mo" and len(base.text or "") > 1 and (base.text or "").isalpha():
            opens = child is not element[-1] and element[k + 1].text in ("(", "[", "{")
            base.attrib |= {"lspace": "0", "rspace": "0" if opens else "0.167em"}


def _is_word(element: ElementTree.Element) -> bool:
    base = element[0] if element.tag in _SCRIPTS and len(element) else element
    return base.tag == "mi" and len(base.text or "") > 1 and (base.text or "").isascii()


def _fewer_words(element: ElementTree.Element) -> None:
    """Leave out what is so without being said."""
    said, text = element.attrib, element.text or ""
    if said.get("display") == "inline":
        del said["display"]
    if element.tag == "mi" and len(text) > 1:
        said.pop("mathvariant", None)
    if element.tag == "mo" and text == "∞":  # a number, not an operator
        element.tag = "mi"
    if element.tag == "mo":
        said.pop("fence", None)
        if said.get("stretchy") == "false" and not set(text) & _STRETCHED:
            del said["stretchy"]
