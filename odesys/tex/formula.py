r"""A program in TeX, as a theorist would write it: :math:`w^\top X \operatorname{softmax}(X^\top W_K^\top W_Q X)`.

Tokens are X with the columns :math:`x_1, \dots, x_L`, their positions P, all words E, sums products with
:math:`\mathbf 1`. A part that is used twice gets a letter, an activation that has no name of its own :math:`\sigma`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..expr.graph import ZERO, Node, sym
from ..model.paths import Letter, word_tex
from ..program.expressions import Expr
from ..program.naming import Naming
from ..program.order import parts
from ..program.spaces import Space, Tokens, Words
from .latex import node_latex

LARGEST_TABLE = 6  # rows and columns of a table that is written out
MOST_TERMS = 8  # of a sum; of more, the first and the last are shown
MOST_QUERIES = 8  # of a mask that is said query by query
LONGEST_FRACTION = 60  # of a text that is written above a line
SUM, PRODUCT, FACTOR = range(3)  # how tightly a text is bound

_PARTS, _ACTIVATIONS = "HGSBDMN", (r"\sigma", r"\phi", r"\psi", r"\rho", r"\tau")
_ONES = r"\mathbf{1}"


@dataclass(frozen=True)
class ProgramTex:
    """The TeX of an expression, and what stands beside it: pairs of a word such as ``mask`` and TeX."""

    tex: str
    beside: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class _Text:
    tex: str
    level: int = FACTOR

    def inside(self, level: int) -> str:
        return self.tex if self.level >= level else rf"\big({self.tex}\big)"


def formula(expr: Expr, names: Mapping[Expr, str] | None = None) -> ProgramTex:
    r"""An expression in TeX; `names` are letters for some of its parts.

    >>> from odesys import Space, Words, maps, softmax
    >>> words, m = Words("a b"), Space("m")
    >>> w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", m, words, of="p")
    >>> print(formula(w @ words.all @ softmax(words.all.T @ W_K.T @ W_Q @ words.all)).tex)
    w^\top E \operatorname{softmax}\big(E^\top W_{K+}^\top W_{Q+} E\big)
    """
    writer = _Writer(expr, names or {})
    tex = writer.text(expr).tex
    return ProgramTex(tex, tuple(writer.beside))


def letter_tex(expr: Expr, turned: bool = False) -> str:
    r"""A map in TeX: a row is the transpose of a vector, as in :math:`w^\top X`."""
    letter: Letter = expr.data
    return Naming({}, {letter.map: expr}).letter(Letter(letter.name, turned, letter.of))


def _size(side: Any) -> int | None:
    return None if isinstance(side, Space) else side.size


def _scalar(expr: Expr) -> bool:
    return _size(expr.rows) == _size(expr.columns) == 1


class _Writer:
    """Writes one expression; notes in `beside` what letters and masks mean, in the order in which they are met."""

    def __init__(self, expr: Expr, names: Mapping[Expr, str]) -> None:
        self.names = dict(names)
        self.beside: list[tuple[str, str]] = []
        self.functions: dict[Node, str] = {}
        all_parts = list(parts(expr))
        ends = [p.columns.positions[-1] for p in all_parts if isinstance(p.columns, Tokens)]
        self.length = max((p.columns.size for p in all_parts if p.op == "tokens"), default=max(ends, default=0) + 1)  # type: ignore[union-attr]
        used = {letter_tex(p)[0] for p in all_parts if p.op == "map"}
        self.letters = iter([c for c in _PARTS if c not in used] + [f"H_{{{k}}}" for k in range(1, 1000)])
        self._name_shared(all_parts)

    def _name_shared(self, all_parts: list[Expr]) -> None:
        uses: dict[Expr, int] = {}
        for part in all_parts:
            for a in part.args:
                uses[a] = uses.get(a, 0) + 1
        for part in all_parts:
            plain = part.op == "columns" and not part.args[0].args
            if uses.get(part, 0) < 2 or not part.args or part.op == "transpose" or plain or part in self.names:
                continue
            tex = self.text(part).tex
            if len(re.sub(r"\\[a-z]+|[{}_^ ]", "", tex)) > 4:  # a short product is as good as a letter
                letter = next(self.letters)
                small = _scalar(part) or _size(part.columns) == 1
                self.names[part] = letter.lower() if small else letter
                self.beside.append(("part", f"{self.names[part]} = {tex}"))

    # ---- one expression --------------------------------------------------------------------------------------------

    def text(self, expr: Expr, turned: bool = False) -> _Text:
        turned = turned and not _scalar(expr)
        if expr in self.names:
            return _Text(self.names[expr] + (r"^\top" if turned else ""))
        write: Callable[[Expr, bool], _Text] | None = getattr(self, f"_{expr.op}", None)
        assert write is not None, expr.op
        return write(expr, turned)

    def _transpose(self, expr: Expr, turned: bool) -> _Text:
        return self.text(expr.args[0], not turned)

    def _map(self, expr: Expr, turned: bool) -> _Text:
        return _Text(letter_tex(expr, turned))

    def _tokens(self, expr: Expr, turned: bool) -> _Text:
        return _Text("X" + r"^\top" * turned)

    def _words(self, expr: Expr, turned: bool) -> _Text:
        assert isinstance(expr.rows, Words)
        one = word_tex(expr.rows.words[0]) if len(expr.rows) == 1 else expr.rows.name
        return _Text(one + r"^\top" * turned)

    def _positions(self, expr: Expr, turned: bool) -> _Text:
        assert isinstance(expr.columns, Tokens)
        return self._chosen("P", expr.columns.positions, None, turned)

    def _target(self, expr: Expr, turned: bool) -> _Text:
        return _Text("y" + r"^\top" * turned)

    def _count(self, expr: Expr, turned: bool) -> _Text:
        missing = self.length - expr.data.size
        ends = missing < 2 and expr.data.positions in (tuple(range(self.length - 1)), tuple(range(1, self.length)))
        return _Text("L") if not missing else _Text("L - 1", SUM) if ends else _Text(str(expr.data.size))

    def _constant(self, expr: Expr, turned: bool) -> _Text:
        entries = expr.data.T if turned else expr.data
        if entries.size == 1:
            tex = node_latex(entries[0, 0], {})
            return _Text(tex, SUM if re.search(r"[+-]", _outside_braces(tex)) else PRODUCT)
        if max(entries.shape) > LARGEST_TABLE:
            return _Text(rf"C_{{{entries.shape[0]} \times {entries.shape[1]}}}")
        rows = r" \\ ".join(" & ".join(node_latex(node, {}) for node in row) for row in entries)
        return _Text(rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}")

    def _columns(self, expr: Expr, turned: bool) -> _Text:
        base, (places, item) = expr.args[0], expr.data
        if base.op == "columns" and isinstance(expr.columns, Tokens):
            base = base.args[0]
        size = None if isinstance(expr.columns, Tokens) else _size(base.columns)
        if isinstance(expr.columns, Tokens):
            places = expr.columns.positions
        stem = self.text(base)
        if base.op not in ("tokens", "positions", "words", "map") and base not in self.names:
            return _Text(rf"\big({stem.tex}\big){self._place(places, item, size)}" + r"^\top" * turned)
        return self._chosen(stem.tex, places, item, turned, size)

    def _chosen(self, stem: str, places: tuple[int, ...], item: Any, turned: bool, size: int | None = None) -> _Text:
        """Columns of a matrix with a letter: a single one has the small letter."""
        index = self._place(places, item, size)
        if len(places) == 1 and index and not isinstance(item, slice) and re.fullmatch(r"[A-Z]", stem):
            stem = stem.lower()
        elif index and "_" in stem:
            stem = f"{{{stem}}}"
        return _Text(stem + index + r"^\top" * turned)

    def _place(self, places: tuple[int, ...], item: Any, size: int | None) -> str:
        """Columns of tokens, whose last is L; of `size` columns that are listed, by their numbers."""
        last = self.length - 1
        if places == tuple(range(self.length if size is None else size)) and not isinstance(item, int):
            return ""
        if size is not None and places != tuple(range(places[0], places[0] + max(len(places), 2))):
            return "_{" + ",".join(str(p + 1) for p in places) + "}"
        if size is not None:
            return f"_{{{places[0] + 1}:{places[-1] + 1}}}"
        if len(places) == 1 and not isinstance(item, slice):
            from_end = (isinstance(item, int) and item < 0) or (item is None and places[0] == last)
            return f"_{{{_from_end(last - places[0])}}}" if from_end else f"_{{{places[0] + 1}}}"
        first, end = places[0], places[-1]
        if places != tuple(range(first, end + 1)):
            return "_{" + ",".join(str(p + 1) for p in places) + "}"
        fixed = isinstance(item, slice) and item.stop is not None and item.stop >= 0
        if first == 0:
            return rf"_{{\le {end + 1}}}" if fixed else "_{<L}" if end == last - 1 else rf"_{{\le L-{last - end}}}"
        if end == last and not fixed:
            return f"_{{>{first}}}"
        return f"_{{{first + 1}:{end + 1 if fixed else _from_end(last - end)}}}"

    # ---- products and sums -----------------------------------------------------------------------------------------

    def _matmul(self, expr: Expr, turned: bool) -> _Text:
        return _Text(" ".join(self._chain(expr, turned)), PRODUCT)

    def _chain(self, expr: Expr, turned: bool) -> list[str]:
        """The factors of a product, in the order in which they are read."""
        if expr in self.names:
            return [self.text(expr, turned).tex]
        if expr.op == "transpose":
            return self._chain(expr.args[0], not turned)
        if expr.op == "matmul":
            out = [self._chain(a, turned) for a in expr.args]
            return [*out[1], *out[0]] if turned else [*out[0], *out[1]]
        if expr.op == "sum":
            inner = self._chain(expr.args[0], turned)
            if self._is_single(expr):
                return inner
            return [*inner, _ONES] if (expr.data == 1) != turned else [rf"{_ONES}^\top", *inner]
        return [self.text(expr, turned).inside(PRODUCT)]

    def _sum(self, expr: Expr, turned: bool) -> _Text:
        if self._is_single(expr):
            return self.text(expr.args[0], turned)
        return _Text(" ".join(self._chain(expr, turned)), PRODUCT)

    def _is_single(self, expr: Expr) -> bool:
        """True of a sum over one axis; a sum over all tokens stays one, however short the sample is."""
        side = (expr.args[0].rows, expr.args[0].columns)[expr.data]
        return _size(side) == 1 and not (isinstance(side, Tokens) and self.length == 1)

    def _add(self, expr: Expr, turned: bool) -> _Text:
        kept = [term for term in self._terms(expr) if not (_scalar(term) and _is_zero(term))]
        terms = [self._repeated(term, expr, turned) for term in kept or [expr.args[0]]]
        if len(terms) > MOST_TERMS:
            terms = [*terms[:3], r"\dots", terms[-1]]
        out = terms[0]
        for term in terms[1:]:
            out += f" - {term[1:].lstrip()}" if term.startswith("-") else f" + {term}"
        return _Text(out, SUM) if len(kept) > 1 else self.text((kept or expr.args)[0], turned)

    def _terms(self, expr: Expr) -> list[Expr]:
        if expr.op != "add" or expr in self.names:
            return [expr]
        return [term for a in expr.args for term in self._terms(a)]

    def _repeated(self, term: Expr, whole: Expr, turned: bool) -> str:
        """A term of a sum; a row or a column that is repeated says so, a number does not."""
        text = self.text(term, turned)
        sizes = [(_size(a), _size(b)) for a, b in ((term.rows, whole.rows), (term.columns, whole.columns))]
        rows, columns = (a == 1 and b != 1 for a, b in sizes)
        if rows == columns:
            return text.tex
        return f"{_ONES} {text.inside(PRODUCT)}" if rows != turned else rf"{text.inside(PRODUCT)} {_ONES}^\top"

    def _times(self, expr: Expr, turned: bool) -> _Text:
        factor, matrix = expr.args
        if not _scalar(factor) and _scalar(matrix):
            factor, matrix = matrix, factor
        if _scalar(matrix) and factor.op != "constant" and _inverted(factor) is None:
            factor, matrix = matrix, factor  # a * b is kept as (b, a)
        left, right = self.text(factor, turned), self.text(matrix, turned)
        if _scalar(factor):
            below = _inverted(factor)
            if below is not None and _scalar(matrix) and len(right.tex) < LONGEST_FRACTION:
                return _Text(rf"\frac{{{right.tex}}}{{{self.text(below).tex}}}", PRODUCT)
            if left.tex == "1":
                return right
            if left.tex == "-1":
                return _Text(f"-{right.inside(PRODUCT)}", SUM)
            lead = left.inside(PRODUCT) if not re.fullmatch(r"-[^+-]*", left.tex) else left.tex
            space = r"\, " if re.search(r"[\w}]$", lead) else " "
            return _Text(lead + space + right.inside(PRODUCT), SUM if lead.startswith("-") else PRODUCT)
        if _shape(factor) == _shape(matrix):
            return _Text(rf"{right.inside(FACTOR)} \odot {left.inside(FACTOR)}", SUM)
        if 1 in _shape(factor) and 1 in _shape(matrix):
            column, row = (left, right) if _size(factor.columns) == 1 else (right, left)
            return _Text(" ".join(a.inside(PRODUCT) for a in ((row, column) if turned else (column, row))), PRODUCT)
        if None not in _shape(matrix) and (1 in _shape(matrix)) and 1 not in _shape(factor):
            factor, matrix, left, right = matrix, factor, right, left
        per_column = _size(factor.rows) == 1
        below = _inverted(factor)
        diagonal = rf"\operatorname{{diag}}\big({self.text(factor if below is None else below).tex}\big)" + (
            "" if below is None else "^{-1}"
        )
        pair = [right.inside(PRODUCT), diagonal] if per_column != turned else [diagonal, right.inside(PRODUCT)]
        return _Text(" ".join(pair), PRODUCT)

    # ---- functions -------------------------------------------------------------------------------------------------

    def _apply(self, expr: Expr, turned: bool) -> _Text:
        (node, name), inner = expr.data, self.text(expr.args[0])
        mark = r"^\top" if turned else ""
        power = _power_of_z(node)
        if power is not None:
            return self._power(inner, power, _scalar(expr), mark)
        if name == "relu":
            return _Text(rf"\operatorname{{relu}}\big({inner.tex}\big){mark}")
        if node not in self.functions:
            own = name and re.fullmatch(r"[A-Za-z]\w*", name)
            places = iter(_ACTIVATIONS)
            taken = set(self.functions.values())
            letter = (
                rf"\operatorname{{{name}}}"
                if own
                else next((a for a in places if a not in taken), rf"\sigma_{{{len(taken)}}}")
            )
            self.functions[node] = letter
            self.beside.append(("activation", rf"{letter}(z) = {node_latex(node, {'z': 'z'})}"))
        return _Text(rf"{self.functions[node]}\big({inner.tex}\big){mark}")

    def _power(self, inner: _Text, power: Any, scalar: bool, mark: str) -> _Text:
        if power == -1 and scalar:
            return _Text(rf"\frac{{1}}{{{inner.tex}}}", PRODUCT)
        if power == Fraction(1, 2) and scalar:
            return _Text(rf"\sqrt{{{inner.tex}}}")
        base = inner.inside(FACTOR)
        base = rf"\big({base}\big)" if not base.endswith(r"\big)") and "^" in base else base
        if scalar:
            return _Text(rf"{base}^{{{power}}}", FACTOR)
        entries = rf"{base}^{{\odot {power}}}"
        return _Text(rf"\big({entries}\big){mark}" if mark else entries, PRODUCT)  # TeX knows no two superscripts

    def _softmax(self, expr: Expr, turned: bool) -> _Text:
        mark = "" if expr.data is None else rf"_{{\mathrm{{{self._mask(expr)}}}}}"
        return _Text(
            rf"\operatorname{{softmax}}{mark}\big({self.text(expr.args[0]).tex}\big)" + (r"^\top" if turned else "")
        )

    def _mask(self, expr: Expr) -> str:
        word, said = _said_mask(expr)
        self._note("mask", said)
        return word

    def _note(self, what: str, tex: str) -> None:
        if (what, tex) not in self.beside:
            self.beside.append((what, tex))

    def _norm(self, expr: Expr, turned: bool) -> _Text:
        inner = self.text(expr.args[0]).tex
        if _scalar(expr):
            return _Text(rf"\Vert {inner} \Vert")
        self._note("norms", r"\operatorname{norms}(V) = \big(\Vert v_{1} \Vert,\ \Vert v_{2} \Vert,\ \dots\big)")
        return _Text(rf"\operatorname{{norms}}\big({inner}\big)" + (r"^\top" if turned else ""))

    def _cross_entropy(self, expr: Expr, turned: bool) -> _Text:
        output, target = (self.text(a) for a in expr.args)
        return _Text(
            rf"\log \sum_{{k}} e^{{{output.inside(FACTOR)}_{{k}}}} - {output.inside(FACTOR)}_{{{target.tex}}}", SUM
        )


def _is_zero(expr: Expr) -> bool:
    return expr.op == "constant" and expr.data[0, 0] is ZERO


def _inverted(expr: Expr) -> Expr | None:
    """What is below the line, of an expression 1 / a."""
    return expr.args[0] if expr.op == "apply" and _power_of_z(expr.data[0]) == -1 else None


def _shape(expr: Expr) -> tuple[int | None, int | None]:
    return _size(expr.rows), _size(expr.columns)


def _from_end(steps: int) -> str:
    return f"L-{steps}" if steps else "L"


def _outside_braces(tex: str) -> str:
    """The text without what stands between braces or brackets."""
    depth, out = 0, ""
    for letter in tex:
        depth -= letter in "})"
        out += letter if not depth else ""
        depth += letter in "{("
    return out


def _power_of_z(node: Node) -> Any:
    """The exponent p of a node z^p, else None."""
    if node.op == "mul" and len(node.args) == 1 and node.args[0][0] is sym("z"):
        return node.args[0][1]
    return None


_PREDICATES: tuple[tuple[str, str, Callable[[int, int], bool]], ...] = (
    ("causal", r"\text{a query sees the keys up to its own position}", lambda key, query: key <= query),
    ("past", r"\text{a query sees the keys before it; the first sees itself}", lambda k, q: k < q or k == q == 0),
    (
        "past",
        r"\text{a query sees the keys before it; the first sees all}",
        lambda key, query: key < query or query == 0,
    ),
    ("future", r"\text{a query sees the keys from its own position on}", lambda key, query: key >= query),
    ("others", r"\text{a query sees all keys but its own}", lambda key, query: key != query),
    ("self", r"\text{a query sees only itself}", lambda key, query: key == query),
)


def _said_mask(expr: Expr) -> tuple[str, str]:
    """A mask in a word, and in a sentence."""
    keys, queries = (
        side.positions if isinstance(side, Tokens) else tuple(range(side.size))  # type: ignore[union-attr]
        for side in (expr.rows, expr.columns)
    )
    for word, said, rule in _PREDICATES:
        if (expr.data == np.array([[rule(k, q) for q in queries] for k in keys])).all():
            return word, said
    if len(queries) > MOST_QUERIES:
        return "masked", r"\text{the mask has a rule of its own}"
    seen = [
        f"{query + 1} sees " + " ".join(str(k + 1) for k, visible in zip(keys, expr.data[:, c], strict=True) if visible)
        for c, query in enumerate(queries)
    ]
    return "masked", rf"\text{{by positions of query and keys: {', '.join(seen)}}}"
