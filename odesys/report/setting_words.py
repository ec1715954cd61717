"""Words, tokens and samples in TeX, for the settings of models and of programs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..expr.graph import Node
from ..model.dictionary import Dictionary
from ..model.distribution import Sample
from ..model.paths import word_tex
from ..papers.paper import Formula
from ..tex.latex import node_latex

LARGEST_GRAM = 8  # words of a Gram matrix that is written out
LARGEST_DIAGONAL = 24
SAMPLES_SHOWN = 16


@dataclass(frozen=True)
class DataRow:
    """One sample: its tokens in TeX, its label or target, its weight in TeX."""

    tokens: str
    label: str
    weight: str
    kind: str = "label"  # what the label is called

    @property
    def plain(self) -> bool:
        """True if the label is a number that needs no formula."""
        return self.label.lstrip("+-").isdigit()


def spread(samples: tuple[Sample, ...]) -> list[Sample]:
    """All samples, or some spread evenly over them."""
    count = min(len(samples), SAMPLES_SHOWN)
    return [samples[k * len(samples) // count] for k in range(count)]


def counted(words: list[str], sample: Sample) -> list[str]:
    """The tokens of a sample in TeX, each with its number where it stands for several."""
    if sample.counts is None:
        return words
    words = [f"({word})" if word.startswith("-") else word for word in words]
    return [rf"{node_latex(count, {})}\times {word}" for count, word in zip(sample.counts, words, strict=True)]


def token_tex(token: str) -> str:
    """A signed word in TeX."""
    return f"-{word_tex(token[1:])}" if token.startswith("-") else word_tex(token)


def fraction_tex(value: Fraction) -> str:
    """An exact number in TeX."""
    return str(value.numerator) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def words_formulas(dictionary: Dictionary) -> list[Formula]:
    """The words, and their inner products where they are not orthonormal."""
    names = [word_tex(word) for word in dictionary.words]
    shown = ",\\ ".join(names if len(names) <= LARGEST_DIAGONAL else [*names[:6], r"\dots", names[-1]])
    if dictionary.orthonormal:
        return [Formula("words", rf"{shown} \quad \text{{orthonormal}}")]
    gram = dictionary.gram_array()
    entries = [[node_latex(v, {}) if isinstance(v, Node) else str(v) for v in row] for row in gram]
    off = any(v != "0" for i, row in enumerate(entries) for j, v in enumerate(row) if i != j)
    if not off and len(names) <= LARGEST_DIAGONAL:
        diagonal = ",\\ ".join(row[i] for i, row in enumerate(entries))
        return [Formula("words", rf"{shown} \quad \text{{orthogonal}}"), Formula("their squared lengths", diagonal)]
    if len(names) <= LARGEST_GRAM:
        rows = r" \\ ".join(" & ".join(row) for row in entries)
        return [Formula("words", rf"{shown} \quad \Gamma = \begin{{pmatrix}} {rows} \end{{pmatrix}}")]
    return [Formula("words", rf"{shown} \quad \text{{with a Gram matrix of their own}}")]
