"""Names and TeX of the scalars of a program."""

from __future__ import annotations

from odesys import Data, Space, Units, Words, gradient_flow, maps, softmax, squared

WORDS, M, R = Words("c1 mu"), Space("m"), Units("r", 2)


def test_names_and_tex() -> None:
    W_K, W_Q = maps("W_K W_Q", M, WORDS, of="p")
    V, W, w = maps("V", 1, R), maps("W", R, WORDS), maps("w", 1, WORDS)

    def f(X):
        return V @ W @ X @ softmax(X.T @ W_K.T @ W_Q @ X[-1]) + w @ X[0]

    tex = gradient_flow(f, Data(WORDS, [("c1 mu", 1)]), squared).system.tex
    assert tex["KQ_p_c1_mu"] == r"c_{1}^\top W_{K+}^\top W_{Q+} \mu"
    assert tex["w_mu"] == r"w^\top \mu"
    assert tex["V_r2"] == "V_{2}" and tex["W_r1_c1"] == r"e_{1}^\top W c_{1}"


def test_axes_of_two_listed_sets_are_told_apart() -> None:
    U, W, w = maps("U", R, WORDS), maps("W", Units("s", 3), WORDS), maps("w", 1, WORDS)
    data = Data(WORDS, [("c1 mu", 1)])
    tex = gradient_flow(lambda X: (U @ X[0]).sum() + (W @ X[1]).sum() + w @ X[0], data, squared).system.tex
    assert tex["U_r2_mu"] == r"e_{r_{2}}^\top U \mu" and tex["W_s3_c1"] == r"e_{s_{3}}^\top W c_{1}"


def test_a_path_through_two_heads_names_both() -> None:
    A, B = maps("A", 1, M, of="h1"), maps("B", M, WORDS, of="h2")
    names = gradient_flow(lambda X: A @ B @ X[0], Data(WORDS, [("c1", 1)]), squared).system.names
    assert names[:2] == ("Ah1Bh2_c1", "Ah1Bh2_mu")
