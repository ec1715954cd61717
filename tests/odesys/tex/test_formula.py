"""Programs in TeX as a theorist would write them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from odesys import Space, Units, Words, function, maps, norm, relu, softmax, sym
from odesys.program.expressions import tokens
from odesys.report.mathml import mathml
from odesys.tex.formula import formula

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
