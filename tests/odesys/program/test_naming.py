"""Names and TeX of the scalars of a program."""

from __future__ import annotations

from odesys import Data, Space, Units, Words, gradient_flow, maps, softmax, squared
from odesys.model.paths import Letter
from odesys.program.naming import Naming, head_mark
from odesys.program.program import read_program

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


EVERY = Words("a mu")
ALONE = Words("q", name="Q")
AXES, OTHER = Units("r", 2), Units("s", 3)


def every_kind():
    """Rows, columns, tables between axes, a vector that stands alone, a path through two heads, a transpose."""
    U, V, L = maps("U_a", AXES, EVERY), maps("V", 1, AXES), maps("L", OTHER, AXES)
    T = maps("Wq", ALONE, EVERY, of="h2")
    B, A = maps("B_x", 1, M, of="h1"), maps("A", M, EVERY, of="h2")
    K, Q = maps("W_K W_Q", M, EVERY, of="m")

    def f(X):
        listed = V @ U @ X[0] + (L @ U @ X[1]).sum() + (maps("LT", AXES, OTHER) @ L)[0].sum()
        free = ALONE.all.T @ T @ X[0] + B @ A @ X[0] + maps("z", EVERY, 1).T @ X[0] + X[0].T @ K.T @ Q @ X[1]
        return listed + free + maps("G", OTHER, 1).T @ maps("H", OTHER, 1) + maps("long", 1, EVERY, of="p") @ X[0]

    return read_program(f, Data(EVERY, [("a mu", 1)]), squared)


def test_every_kind_of_path_has_its_names_and_its_tex() -> None:
    """By path: its matrix, its short name with and without ends, its head, its first and last scalar, also in TeX."""
    program = every_kind()
    naming, found = program.naming, []
    for path in naming.tables(list(program.tables)):
        rows, columns = program.tables[path].shape
        state, tex = naming.state(path), naming.tex(path)
        last = state(rows - 1, columns - 1)
        assert (naming.size(path.left), naming.size(path.right)) == (rows, columns)
        assert (last.path, last.head) == (naming.path(path), naming.head(path))
        names = str(path), naming.leaf(path), naming.chain(path), naming.head(path)
        found.append((*names, last.left, last.right, tex(0, 0), tex(rows - 1, columns - 1)))
    assert found == [
        ("V.r", "V", "V", "", "", "r2", "V_{1}", "V_{2}"),
        ("r'.U_a.E", "Ua", "Ua", "", "r2", "mu", r"e_{r_{1}}^\top U_{a} a", r"e_{r_{2}}^\top U_{a} \mu"),
        ("s'.L.r", "L", "L", "", "s3", "r2", "L_{1,1}", "L_{3,2}"),
        ("r'.LT.s", "LT", "LT", "", "r2", "s3", r"\mathrm{LT}_{1,1}", r"\mathrm{LT}_{2,3}"),
        ("B_x.h1.A.h2.E", "Bxh1Ah2", "Bxh1Ah2", "", "", "mu", r"B_{x1}^\top A_{2} a", r"B_{x1}^\top A_{2} \mu"),
        ("z'.E", "z", "z", "", "", "mu", r"z^\top a", r"z^\top \mu"),
        ("s'.G", "G", "G", "", "s3", "", "G_{1}", "G_{3}"),
        ("s'.H", "H", "H", "", "s3", "", "H_{1}", "H_{3}"),
        ("Q'.Wq.h2.E", "qWq_h2", "Wq", "h2", "", "mu", r"q^\top \mathrm{Wq}_{2} a", r"q^\top \mathrm{Wq}_{2} \mu"),
        ("E'.W_K.m'.W_Q.m.E", "KQ_m", "KQ", "m", "mu", "mu",
         *(rf"{end}^\top W_{{K-}}^\top W_{{Q-}} {end}" for end in ("a", r"\mu"))),
        ("long.p.E", "long_p", "long", "p", "", "mu", r"\mathrm{long}_{+}^\top a", r"\mathrm{long}_{+}^\top \mu"),
    ]  # fmt: skip
    assert [naming.is_alone(pin) for pin in ("Q", "E", "r")] == [True, False, False]
    assert naming.gram("E") is None and naming.gram("r") is None


def test_entries_of_a_transpose_are_those_of_the_map() -> None:
    naming = every_kind().naming
    (path,) = [path for path in every_kind().tables if str(path) == "s'.L.r"]
    assert naming.tex(path.T)(1, 2) == naming.tex(path)(2, 1) == "L_{3,2}"


def test_heads_have_marks_by_sign_or_number() -> None:
    assert [head_mark(head) for head in ("", "p", "m", "h1", "h12", "h", "hx", "h1x")] == [
        "", "+", "-", "1", "12", "h", "hx", "h1x"
    ]  # fmt: skip
    letters = {"W_K.ab": maps("W_K", M, EVERY, of="ab"), "v.ab": maps("v", 1, EVERY, of="ab")}
    naming = Naming({}, letters)
    assert naming.letter(letters["W_K.ab"].data) == "W_{K,ab}" and naming.letter(letters["v.ab"].data) == r"v_{ab}^\top"
    assert (
        naming.letter(letters["v.ab"].data.T) == "v_{ab}"
        and naming.letter(letters["W_K.ab"].data.T) == r"W_{K,ab}^\top"
    )
    assert naming.letter(letters["W_K.ab"].data, ["2", "3"]) == "W_{K,ab,2,3}"
    assert naming.letter(Letter("mu_x"), ["1"]) == r"\mu_{x,1}"
