"""Programs in TeX as a theorist would write them."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from odesys import Space, Units, Words, cross_entropy, function, maps, norm, relu, softmax, sym
from odesys.program.expressions import Expr, as_expr, tokens
from odesys.report.mathml import mathml
from odesys.tex.formula import formula, letter_tex

WORDS, M, R = Words("a b c", positions=4), Space("m"), Units("r", 3)
X = tokens(WORDS, 4)
w, (W_K, W_Q) = maps("w", 1, WORDS), maps("W_K W_Q", M, WORDS, of="p")
Z, V, U, u = maps("Z", WORDS, WORDS), maps("V", R, WORDS), maps("U", R, R), maps("u", 1, R)
Y9, z = maps("Y", Units("k", 9), WORDS), sym("z")

CASES = {
    "head": (
        (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum(),
        r"w^\top X \operatorname{softmax}\big(X^\top W_{K+}^\top W_{Q+} X\big) \mathbf{1}",
    ),
    "last token": (
        w @ X[:-1] @ softmax(X[:-1].T @ Z @ X[-1]),
        r"w^\top X_{<L} \operatorname{softmax}\big(X_{<L}^\top Z x_{L}\big)",
    ),
    "columns": (
        w @ (X[0] + X[-2]) + (w @ X[1:3]).sum() + (w @ X[1:]).sum() + (w @ X[:2]).sum() + w @ X[1:][-1],
        r"w^\top \big(x_{1} + x_{L-1}\big) + w^\top X_{2:3} \mathbf{1} + w^\top X_{>1} \mathbf{1} "
        r"+ w^\top X_{\le 2} \mathbf{1} + w^\top x_{L}",
    ),
    "positions and words": (
        WORDS.all.T @ X @ softmax(X.positions.T @ Z @ X[-1].positions),
        r"E^\top X \operatorname{softmax}\big(P^\top Z p_{L}\big)",
    ),
    "transposes": ((X.T @ Z @ X).T @ (V @ X).T, r"X^\top Z^\top X X^\top V^\top"),
    "a mean": ((u @ relu(V @ X)).mean(), r"\frac{u^\top \operatorname{relu}\big(V X\big) \mathbf{1}}{L}"),
    "a quotient": (
        (w @ X[0]) * (w @ X[1]) / (1 + w @ X[2]),
        r"\frac{w^\top x_{1}\, w^\top x_{2}}{w^\top x_{3} + 1}",
    ),
    "entries": (
        u @ ((V @ X) * (U @ V @ X) + [[1], [2], ["c"]]),
        r"u^\top \big(\big(V X\big) \odot \big(U V X\big) "
        r"+ \begin{pmatrix} 1 \\ 2 \\ c \end{pmatrix} \mathbf{1}^\top\big)",
    ),
    "powers": (
        u @ (V @ X[0]) ** 2 - (w @ X[0]) ** 3,
        r"u^\top \big(V x_{1}\big)^{\odot 2} - \big(w^\top x_{1}\big)^{3}",
    ),
    "columns of length one": (
        w @ (Z @ X / norm(Z @ X)).sum(1),
        r"w^\top Z X \operatorname{diag}\big(\operatorname{norms}\big(Z X\big)\big)^{-1} \mathbf{1}",
    ),
    "a length": (norm(Z @ X[0]), r"\Vert Z x_{1} \Vert"),
    "zero is left out": (w @ X[0] + 0, r"w^\top x_{1}"),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_written_as_on_paper(name: str) -> None:
    expr, tex = CASES[name]
    assert formula(expr).tex == tex and mathml(tex).startswith("<math")


def test_what_is_used_twice_gets_a_letter() -> None:
    H = X + Z @ X @ softmax(X.T @ X)
    found = formula(w @ H @ softmax(H.T @ H[-1]))
    assert found.tex == r"w^\top H \operatorname{softmax}\big(H^\top h_{L}\big)"
    assert found.beside == (("part", r"H = X + Z X \operatorname{softmax}\big(X^\top X\big)"),)


def test_activations_are_said_once() -> None:
    tanh, own = function(z**3 - z), function(z**2 + z, name="bump")
    found = formula(u @ (tanh(V @ X) + tanh(U @ V @ X) + own(V @ X)))
    assert found.tex.count(r"\sigma") == 2 and r"\operatorname{bump}\big(V X\big)" in found.tex
    assert [what for what, _ in found.beside] == ["activation", "activation"]


@pytest.mark.parametrize(
    ("mask", "word", "said"),
    [
        (lambda key, query: key <= query, "causal", "up to its own position"),
        (lambda key, query: key < query or query == 0, "past", "the first sees all"),
        (lambda key, query: key != query, "others", "all keys but its own"),
        (lambda key, query: abs(key - query) < 2, "masked", "1 sees 1 2, 2 sees 1 2 3"),
    ],
)
def test_masks_are_said_in_words(mask, word: str, said: str) -> None:
    found = formula(w @ X @ softmax(X.T @ X, mask=mask))
    ((what, sentence),) = found.beside
    assert rf"\operatorname{{softmax}}_{{\mathrm{{{word}}}}}" in found.tex and what == "mask" and said in sentence


def test_large_tables_and_long_sums_are_shortened() -> None:
    table = [[1] * 9]
    assert r"C_{1 \times 9}" in formula(table @ Y9 @ X[0]).tex
    long = sum((w @ X[k % 4] for k in range(1, 20)), w @ X[0])
    assert formula(long).tex == r"w^\top x_{1} + w^\top x_{2} + w^\top x_{3} + \dots + w^\top x_{4}"


def test_powers_of_numbers_are_roots_quotients_and_exponents() -> None:
    number = w @ X[0]
    for power, tex in (
        (Fraction(1, 2), r"\sqrt{w^\top x_{1}}"),
        (-1, r"\frac{1}{w^\top x_{1}}"),
        (Fraction(1, 3), r"\big(w^\top x_{1}\big)^{1/3}"),
        (-2, r"\big(w^\top x_{1}\big)^{-2}"),
    ):
        assert formula(number**power).tex == tex


# ---- what each place, sum, product and function looks like ---------------------------------------------------------

LONG, X5 = Words("a b c", positions=5), tokens(Words("a b c", positions=5), 5)
w5, Z5, V5, v5 = maps("w", 1, LONG), maps("Z", LONG, LONG), maps("V", R, LONG), maps("v", LONG, 1)
B, s = sym("b"), maps("s", 1, 1)
ONE, TWO, FIRST = w5 @ X5[0], w5 @ X5[1], V5 @ X5[0]


@pytest.mark.parametrize(
    ("item", "index"),
    [
        (slice(None), ""),
        (slice(0, 5), ""),
        (slice(None, 1), r"_{\le 1}"),
        (slice(None, 4), r"_{\le 4}"),
        (slice(None, -1), "_{<L}"),
        (slice(None, -2), r"_{\le L-2}"),
        (slice(None, -4), r"_{\le L-4}"),
        (slice(1, None), "_{>1}"),
        (slice(4, None), "_{>4}"),
        (slice(-2, None), "_{>3}"),
        (slice(1, 3), "_{2:3}"),
        (slice(1, 5), "_{2:5}"),
        (slice(1, 2), "_{2:2}"),
        (slice(1, -1), "_{2:L-1}"),
        (slice(2, -2), "_{3:L-2}"),
        (slice(None, None, 2), "_{1,3,5}"),
        (slice(None, None, -1), "_{5,4,3,2,1}"),
    ],
)
def test_columns_say_which_tokens_they_are(item: slice, index: str) -> None:
    """Counted from the end where the program does so; the same behind a bracket, and turned."""
    assert formula(w5 @ X5[item]).tex == rf"w^\top X{index}"
    assert formula((V5 @ X5)[item].T @ U).tex == rf"\big(V X\big){index}^\top U"
    assert formula(X5[item].T @ Z5 @ X5).tex == rf"X{index}^\top Z X"


@pytest.mark.parametrize(("place", "index"), [(0, "1"), (3, "4"), (4, "5"), (-1, "L"), (-2, "L-1"), (-5, "L-4")])
def test_one_column_has_a_small_letter(place: int, index: str) -> None:
    assert formula(w5 @ X5[place]).tex == rf"w^\top x_{{{index}}}"
    assert formula((V5 @ X5)[place]).tex == rf"\big(V X\big)_{{{index}}}"
    assert formula(X5[place].T @ v5).tex == rf"x_{{{index}}}^\top v"


TABLE: dict[str, tuple[Expr, str]] = {
    "columns of columns": (w5 @ X5[1:][1] + w5 @ X5[1:][-1], r"w^\top x_{3} + w^\top x_{L}"),
    "columns of columns as one": (w5 @ X5[1:][1:], r"w^\top X_{>2}"),
    "positions": (X5[:2].positions.T @ Z5 @ X5[3].positions, r"P_{\le L-2}^\top Z p_{L}"),
    "positions beside tokens": ((w5 @ X5).sum() + w5 @ X5[1].positions, r"w^\top X \mathbf{1} + w^\top p_{2}"),
    "a token that is the only one": (w5 @ tokens(LONG, 1)[0], r"w^\top x_{1}"),
    "words": ((w5 @ LONG.all).T, r"E^\top w"),
    "one word": (maps("Q", 1, Words("q", name="q")) @ Words("q", name="q").all, r"Q^\top q"),
    "columns of words are no tokens": (
        (w5 @ X5).sum() + w5 @ LONG.all[-1] + w5 @ LONG.all[0] + (w5 @ LONG.all[1:]).sum() + (w5 @ LONG.all[:2]).sum(),
        r"w^\top X \mathbf{1} + w^\top e_{3} + w^\top e_{1} + w^\top E_{2:3} \mathbf{1} + w^\top E_{1:2} \mathbf{1}",
    ),
    "some of the words": (
        (w5 @ LONG.all[::2]).sum() + w5 @ LONG.all[1:2] + (w5 @ LONG.all[:]).sum(),
        r"w^\top E_{1,3} \mathbf{1} + w^\top E_{2} + w^\top E \mathbf{1}",
    ),
    "columns of a map": (U[0].T @ U[1:], r"u_{1}^\top U_{2:3}"),
    "columns of a map with an index": (maps("W_a", R, R)[1].T, r"{W_{a}}_{2}^\top"),
    "columns of a transpose": (U.T[0], r"\big(U^\top\big)_{1}"),
    "a map from numbers, turned": ((Z5 @ v5).T @ X5, r"v^\top Z^\top X"),
    "how many": ((w5 @ X5).sum() / X5.count, r"\frac{w^\top X \mathbf{1}}{L}"),
    "all but the first": ((w5 @ X5).sum() / X5[1:].count, r"\frac{w^\top X \mathbf{1}}{L - 1}"),
    "all but the last": ((w5 @ X5).sum() * X5[:-1].count, r"w^\top X \mathbf{1}\, \big(L - 1\big)"),
    "some": (
        (w5 @ X5).sum() / X5[1:4].count + (w5 @ X5).sum() / X5[::2].count,
        r"\frac{w^\top X \mathbf{1}}{3} " + r"+ \frac{w^\top X \mathbf{1}}{3}",
    ),
    "all but one inside": ((w5 @ X5).sum() / (X5[:-2].count + X5[2:].count), r"\frac{w^\top X \mathbf{1}}{3 + 3}"),
    "a mean of one token": ((w5 @ tokens(LONG, 1)).mean(), r"\frac{w^\top X \mathbf{1}}{L}"),
    "columns summed": (X5.sum(1), r"X \mathbf{1}"),
    "rows summed": ((V5 @ X5).sum(0), r"\mathbf{1}^\top V X"),
    "rows summed, turned": ((V5 @ X5).sum(0).T, r"X^\top V^\top \mathbf{1}"),
    "columns summed, turned": ((V5 @ X5).sum(1).T @ U, r"\mathbf{1}^\top X^\top V^\top U"),
    "rows of a transpose summed": ((V5 @ X5).T.sum(0) @ U, r"\mathbf{1}^\top X^\top V^\top U"),
    "all summed": ((V5 @ X5).sum(), r"\mathbf{1}^\top V X \mathbf{1}"),
    "a sum of one": ((w5 @ X5).sum(0) + FIRST.sum(1).sum(0), r"w^\top X + \mathbf{1}^\top V x_{1} \mathbf{1}^\top"),
    "a product turned": ((U @ V5 @ X5).T, r"X^\top V^\top U^\top"),
    "a product turned twice": ((X5.T @ V5.T @ U.T).T, "U V X"),
    "times one": (1 * ONE, r"w^\top x_{1}"),
    "times minus one": (-1 * (V5 @ X5), "-V X"),
    "times minus one, turned": ((-1 * (V5 @ X5)).T @ u.T, r"\big(-X^\top V^\top\big) u"),
    "times a half": (ONE / 2, r"\frac{1}{2}\, w^\top x_{1}"),
    "times a negative": (ONE * Fraction(-1, 2), r"-\frac{1}{2}\, w^\top x_{1}"),
    "times a parameter": ("b" * FIRST, r"b\, V x_{1}"),
    "times a sum": (as_expr(B + 1) * FIRST, r"\big(1 + b\big) V x_{1}"),
    "times a difference": (as_expr(-B - 1) * FIRST, r"\big(-1 - b\big) V x_{1}"),
    "times a product": (as_expr(-2 * B) * FIRST, r"-2b\, V x_{1}"),
    "over a sum of numbers": (ONE / as_expr(B - 1), r"\frac{1}{b - 1}\, w^\top x_{1}"),
    "plus numbers": (ONE + as_expr(-2 * B), r"w^\top x_{1} - 2b"),
    "plus a sum in an exponent": (ONE * as_expr((B + 1) ** -2), r"\frac{1}{(1 + b)^{2}}\, w^\top x_{1}"),
    "a table": (V5 @ X5 @ [[1], [2], [3], [4], ["c"]], r"V X \begin{pmatrix} 1 \\ 2 \\ 3 \\ 4 \\ c \end{pmatrix}"),
    "a table turned": (
        as_expr([[1, 2], [3, 4], [5, 6]]).T @ V5 @ X5,
        r"\begin{pmatrix} 1 & 3 & 5 \\ 2 & 4 & 6 \end{pmatrix} V X",
    ),
    "a table that is just small enough": (
        maps("Y", 1, Units("k", 6)) + as_expr([[1, 2, 3, 4, 5, 6]]),
        r"Y^\top + \begin{pmatrix} 1 & 2 & 3 & 4 & 5 & 6 \end{pmatrix}",
    ),
    "zeros alone": (as_expr(0) * 1 + 0, "0"),
    "zeros between": (0 + ONE + 0 + TWO, r"w^\top x_{1} + w^\top x_{2}"),
    "a zero factor": (V5 @ X5 + as_expr(0) * (V5 @ X5), r"V X + 0\, V X"),
    "a difference": (-ONE - TWO - 2, r"-w^\top x_{1} - w^\top x_{2} - 2"),
    "a sum of eight": (
        sum(((k + 2) * (w5 @ X5[k % 5]) for k in range(1, 8)), 2 * ONE),
        r"2\, w^\top x_{1} + 3\, w^\top x_{2} + 4\, w^\top x_{3} + 5\, w^\top x_{4} + 6\, w^\top x_{5} "
        r"+ 7\, w^\top x_{1} + 8\, w^\top x_{2} + 9\, w^\top x_{3}",
    ),
    "a sum of nine": (
        sum(((k + 2) * (w5 @ X5[k % 5]) for k in range(1, 9)), 2 * ONE),
        r"2\, w^\top x_{1} + 3\, w^\top x_{2} + 4\, w^\top x_{3} + \dots + 10\, w^\top x_{4}",
    ),
    "a sum turned": ((V5 @ X5 + U @ V5 @ X5).T @ U.T, r"\big(X^\top V^\top + X^\top V^\top U^\top\big) U^\top"),
    "a column repeated": (V5 @ X5 + FIRST, r"V X + V x_{1} \mathbf{1}^\top"),
    "a column repeated, turned": ((V5 @ X5 + FIRST).T @ U, r"\big(X^\top V^\top + \mathbf{1} x_{1}^\top V^\top\big) U"),
    "a row repeated": (V5 @ X5 + w5 @ X5, r"V X + \mathbf{1} w^\top X"),
    "a row repeated, turned": ((V5 @ X5 + w5 @ X5).T @ U, r"\big(X^\top V^\top + X^\top w \mathbf{1}^\top\big) U"),
    "a row and a column": (FIRST + w5 @ X5, r"V x_{1} \mathbf{1}^\top + \mathbf{1} w^\top X"),
    "a number is not repeated": (V5 @ X5 + ONE, r"V X + w^\top x_{1}"),
    "a repeated sum": (V5 @ X5 + (FIRST + V5 @ X5[1]), r"V X + V x_{1} \mathbf{1}^\top + V x_{2} \mathbf{1}^\top"),
    "numbers multiplied": (ONE * TWO * (w5 @ X5[2]), r"w^\top x_{1}\, w^\top x_{2}\, w^\top x_{3}"),
    "sums multiplied": ((ONE + 1) * (TWO + 2), r"\big(w^\top x_{1} + 1\big) \big(w^\top x_{2} + 2\big)"),
    "a negative factor": (-ONE * TWO, r"-w^\top x_{1}\, w^\top x_{2}"),
    "a negative second factor": (TWO * -ONE, r"w^\top x_{2}\, \big(-w^\top x_{1}\big)"),
    "a number times a column": (FIRST * TWO, r"w^\top x_{2}\, V x_{1}"),
    "a number times free vectors": (Z5 @ X5 * ONE, r"w^\top x_{1}\, Z X"),
    "one number per column": (Z5 @ X5 * (w5 @ X5), r"Z X \operatorname{diag}\big(w^\top X\big)"),
    "one number per column, turned": (
        (Z5 @ X5 * (w5 @ X5)).T @ v5,
        r"\operatorname{diag}\big(w^\top X\big) X^\top Z^\top v",
    ),
    "one number per column of a table": (V5 @ X5 * (w5 @ X5), r"V X \operatorname{diag}\big(w^\top X\big)"),
    "one number per row": (V5 @ X5 * u.T, r"\operatorname{diag}\big(u\big) V X"),
    "one number per row, first": (u.T * (V5 @ X5), r"\operatorname{diag}\big(u\big) V X"),
    "one number per row, turned": ((V5 @ X5 * u.T).T @ U, r"X^\top V^\top \operatorname{diag}\big(u\big) U"),
    "over one number per row": (V5 @ X5 / u.T, r"\operatorname{diag}\big(u\big)^{-1} V X"),
    "over one number per column, turned": (
        (V5 @ X5 / (w5 @ X5)).T @ U,
        r"\operatorname{diag}\big(w^\top X\big)^{-1} X^\top V^\top U",
    ),
    "a column times a row": (u.T * (w5 @ X5), r"u w^\top X"),
    "a row times a column": ((w5 @ X5) * u.T, r"u w^\top X"),
    "a column times a row, turned": ((u.T * (w5 @ X5)).T @ U, r"X^\top w u^\top U"),
    "entries, turned": (
        ((V5 @ X5) * (U @ V5 @ X5)).T @ U,
        r"\big(\big(X^\top V^\top\big) \odot \big(X^\top V^\top U^\top\big)\big) U",
    ),
    "a quotient of a sum": ((ONE + 1) / TWO, r"\frac{w^\top x_{1} + 1}{w^\top x_{2}}"),
    "a column over a number": (FIRST / TWO, r"\frac{1}{w^\top x_{2}}\, V x_{1}"),
    "one over a number": (1 / TWO, r"\frac{1}{w^\top x_{2}}"),
    "a quotient too long for one line": (
        ONE * TWO * (w5 @ X5[2]) * (w5 @ X5[3]) * (w5 @ X5[4]) / TWO,
        r"\frac{1}{w^\top x_{2}}\, w^\top x_{1}\, w^\top x_{2}\, w^\top x_{3}\, w^\top x_{4}\, w^\top x_{5}",
    ),
    "functions turned": (relu(V5 @ X5).T @ u.T, r"\operatorname{relu}\big(V X\big)^\top u"),
    "a softmax turned": (softmax(X5.T @ Z5 @ X5).T, r"\operatorname{softmax}\big(X^\top Z X\big)^\top"),
    "powers of entries, turned": (((V5 @ X5) ** 2).T @ u.T, r"\big(\big(V X\big)^{\odot 2}\big)^\top u"),
    "powers of powers": ((ONE**2) ** 3, r"\big(\big(w^\top x_{1}\big)^{2}\big)^{3}"),
    "powers of entries of powers": (((V5 @ X5) ** 2) ** 3, r"\big(\big(V X\big)^{\odot 2}\big)^{\odot 3}"),
    "inverses of entries": ((V5 @ X5) ** -1, r"\big(V X\big)^{\odot -1}"),
    "roots of entries": ((V5 @ X5) ** Fraction(1, 2), r"\big(V X\big)^{\odot 1/2}"),
    "a power of a letter": (s**2 + s**-2, "s^{2} + s^{-2}"),
    "a power of a sum": ((ONE + 1) ** 2, r"\big(w^\top x_{1} + 1\big)^{2}"),
    "a multiple of a square is an activation": (
        function(2 * z**2, name="twice")(s),
        r"\operatorname{twice}\big(s\big)",
    ),
    "another letter than z": (function(z * B, name="scaled")(s), r"\operatorname{scaled}\big(s\big)"),
    "a length": (norm(V5 @ X5[0]), r"\Vert V x_{1} \Vert"),
    "lengths turned": (norm(Z5 @ X5).T, r"\operatorname{norms}\big(Z X\big)^\top"),
    "the loss of classes": (
        cross_entropy(FIRST, 2),
        r"\log \sum_{k} e^{\big(V x_{1}\big)_{k}} - \big(V x_{1}\big)_{2}",
    ),
    "a target turned": (Expr("target", (), R, (V5 @ X5).columns).T @ u.T, r"y^\top u"),
    "what is short is written twice": (
        relu(U @ V5 @ X5) * (U @ V5 @ X5),
        r"\operatorname{relu}\big(U V X\big) \odot \big(U V X\big)",
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_it_is_written_so(name: str) -> None:
    expr, tex = TABLE[name]
    assert formula(expr).tex == tex


def test_a_table_with_more_than_six_columns_is_only_named() -> None:
    row = maps("Y", 1, Units("k", 7)) + as_expr([list(range(7))])
    assert formula(row).tex == r"Y^\top + C_{1 \times 7}"
    assert formula(row.T).tex == r"Y + C_{7 \times 1}"


@pytest.mark.parametrize(
    ("rule", "word", "said"),
    [
        (lambda k, q: k <= q, "causal", "a query sees the keys up to its own position"),
        (lambda k, q: k < q or k == q == 0, "past", "a query sees the keys before it; the first sees itself"),
        (lambda k, q: k < q or q == 0, "past", "a query sees the keys before it; the first sees all"),
        (lambda k, q: k >= q, "future", "a query sees the keys from its own position on"),
        (lambda k, q: k != q, "others", "a query sees all keys but its own"),
        (lambda k, q: k == q, "self", "a query sees only itself"),
        (
            lambda k, q: abs(k - q) < 2,
            "masked",
            "by positions of query and keys: 1 sees 1 2, 2 sees 1 2 3, 3 sees 2 3 4, 4 sees 3 4 5, 5 sees 4 5",
        ),
        (
            lambda k, q: k == 0,
            "masked",
            "by positions of query and keys: 1 sees 1, 2 sees 1, 3 sees 1, 4 sees 1, 5 sees 1",
        ),
    ],
)
def test_a_mask_is_said_as_it_is(rule, word: str, said: str) -> None:
    found = formula(w5 @ X5 @ softmax(X5.T @ Z5 @ X5, mask=rule))
    assert found.tex == rf"w^\top X \operatorname{{softmax}}_{{\mathrm{{{word}}}}}\big(X^\top Z X\big)"
    assert found.beside == (("mask", rf"\text{{{said}}}"),)


def test_masks_count_positions_of_the_sample_and_of_units_and_are_said_once() -> None:
    later = X5[1:]
    for rule, word in ((lambda k, q: k <= q, "causal"), (lambda k, q: k > q or k == 4, "masked")):
        found = formula(w5 @ later @ softmax(later.T @ Z5 @ later, mask=rule))
        assert rf"\mathrm{{{word}}}" in found.tex
    assert found.beside == (
        ("mask", r"\text{by positions of query and keys: 2 sees 3 4 5, 3 sees 4 5, 4 sees 5, 5 sees 5}"),
    )
    assert r"\mathrm{causal}" in formula(softmax(U, mask=lambda k, q: k <= q)).tex
    causal = [softmax(scores, mask=lambda k, q: k <= q) for scores in (X5.T @ Z5 @ X5, X5.T @ X5)]
    assert [what for what, _ in formula(w5 @ X5 @ causal[0] + w5 @ X5 @ causal[1]).beside] == ["mask"]
    for length, said in ((8, "8 sees 1 8}"), (9, "the mask has a rule of its own}")):
        X = tokens(LONG, length)
        ((_, sentence),) = formula(w5 @ X @ softmax(X.T @ Z5 @ X, mask=lambda k, q: k in (0, q))).beside
        assert sentence.endswith(said)


def test_activations_have_letters_in_order_and_then_numbers() -> None:
    powers = [function(z**k + z) for k in range(2, 9)]
    found = formula(sum((f(ONE) for f in powers[1:]), powers[0](ONE) + powers[0](TWO)))
    letters = [r"\sigma", r"\phi", r"\psi", r"\rho", r"\tau", r"\sigma_{5}", r"\sigma_{6}"]
    assert found.beside == tuple(
        ("activation", rf"{letter}(z) = z + z^{{{k}}}") for k, letter in enumerate(letters, start=2)
    )
    assert formula(function(z**2 + 1, name="2nd")(ONE)).tex == r"\sigma\big(w^\top x_{1}\big)"
    assert formula(function(z**2 + 1)(V5 @ X5).T).tex == r"\sigma\big(V X\big)^\top"
    named = formula(function(z**2 + z, name="bump")(ONE))
    assert named.beside == (("activation", r"\operatorname{bump}(z) = z + z^{2}"),)


def test_norms_are_explained_once() -> None:
    ((what, tex),) = formula(norm(Z5 @ X5) + norm(V5 @ X5)).beside
    assert what == "norms"
    assert tex == r"\operatorname{norms}(V) = \big(\Vert v_{1} \Vert,\ \Vert v_{2} \Vert,\ \dots\big)"
    assert formula(norm(FIRST)).beside == ()


def test_letters_of_parts_are_those_that_no_map_has_and_small_for_columns_and_numbers() -> None:
    def square(part: Expr) -> Expr:
        return part.T @ part

    found = formula(square(U @ V5 @ X5 + 1) + square(relu(U @ V5 @ X5 + 2) @ (X5.T @ Z5 @ X5)))
    assert found.tex == r"H^\top H + G^\top G"
    assert found.beside == (
        ("part", "H = U V X + 1"),
        ("part", r"G = \operatorname{relu}\big(U V X + 2\big) X^\top Z X"),
    )
    assert formula(square(maps("H", R, R) @ V5 @ X5 + 1)).tex == r"G^\top G"
    every = [maps(c, R, R) @ V5 @ X5 for c in "HGSBDMN"]
    assert formula(square(sum(every[1:], every[0]))).tex == r"H_{1}^\top H_{1}"
    column, number = (V5 @ X5)[0] + [[1], [2], [3]], w5 @ X5[0] + w5 @ X5[1]
    assert formula(square(column)).beside[0][1].startswith("h = ") and formula(square(column)).tex == r"h^\top h"
    assert formula(relu(number) * number).tex == r"\operatorname{relu}\big(h\big) h"
    columns = formula(square((U @ V5 @ X5)[0]))
    assert (columns.tex, columns.beside) == (r"h^\top h", (("part", r"h = \big(U V X\big)_{1}"),))
    for plain in (X5[0], X5[1:]):
        assert formula(plain.T @ Z5 @ plain).beside == ()
    turned = (U @ V5 @ X5 + 1).T
    assert formula(turned @ u.T + turned @ U @ u.T).beside == ()


def test_parts_may_have_names_of_their_own() -> None:
    G = U @ V5 @ X5
    S = G + as_expr([[1], [2], [3]])
    for expr, tex in (
        (relu(G) * G, r"\operatorname{relu}\big(K\big) \odot K"),
        (G.T @ u.T, r"K^\top u"),
        (U @ G, "U K"),
        (G + S, r"K + K + \begin{pmatrix} 1 \\ 2 \\ 3 \end{pmatrix} \mathbf{1}^\top"),
        (G[0], "k_{1}"),
    ):
        assert formula(expr, {G: "K"}).tex == tex
    assert formula(G[0].T, {G: "K_1"}).tex == r"{K_1}_{1}^\top"
    assert formula(S + G, {S: "S"}).tex == "S + U V X"


def test_a_row_is_the_transpose_of_a_vector() -> None:
    assert [letter_tex(letter, turned) for letter in (w5, v5, U) for turned in (False, True)] == [
        r"w^\top", "w", "v", r"v^\top", "U", r"U^\top"
    ]  # fmt: skip


def test_no_text_has_two_superscripts_on_one_thing() -> None:
    """That is an error of TeX."""
    for expr, _ in (*TABLE.values(), *CASES.values()):
        for each in (expr, expr.T, expr.T.T):
            assert not re.search(r"\^(\{[^{}]*\}|\\[a-z]+)\s*\^", formula(each).tex)
