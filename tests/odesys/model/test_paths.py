"""Names and TeX of path scalars."""

from __future__ import annotations

import pytest

from derivations.two_mixture import setting
from odesys import AttentionModel, Dictionary, Head, gradient_flow
from odesys.expr.system import State
from odesys.model.paths import Letter, Path, state_name, word_tex
from tests import toy_models


def test_two_headed_names_and_tex() -> None:
    flow = gradient_flow(setting.model(2), setting.data(2))
    assert flow.system.tex["KQ_p_c1_v1"] == r"c_{1}^\top W_{K+}^\top W_{Q+} v_{1}"
    assert flow.system.tex["KK_m_c1_v2"] == r"c_{1}^\top W_{K-}^\top W_{K-} v_{2}"
    assert flow.system.tex["w_m_v2"] == r"w_{-}^\top v_{2}"


def test_value_chains_and_neurons() -> None:
    toy = toy_models.cooccurrence()
    flow = gradient_flow(toy.model, toy.data, train=toy.train)
    assert {"aWV_a", "VV_a_b", "aWWa", "KQ_c_b"} <= set(flow.system.names)
    assert flow.system.tex["aWV_b"] == r"a^\top W W_{V} b" and flow.system.tex["aWWa"] == r"a^\top W W^\top a"
    toy = toy_models.shallow_vit()
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    assert flow.system.tex["OV_n2_c"] == r"e_{2}^\top W_{O} W_{V} c"


def test_symmetric_paths_store_each_entry_once() -> None:
    toy = toy_models.cooccurrence()
    flow = gradient_flow(toy.model, toy.data, train=toy.train)
    d = 3
    assert flow.system.dimension == 1 + d + d * d + 3 * d * (d + 1) // 2


@pytest.mark.parametrize(("word", "tex"), [("c1", "c_{1}"), ("mu3", r"\mu_{3}"), ("up", r"\mathrm{up}"), ("x", "x")])
def test_word_tex(word: str, tex: str) -> None:
    assert word_tex(word) == tex


def test_names_that_would_clash_are_refused() -> None:
    from odesys.errors import OdesysError

    model = AttentionModel(Dictionary(["a"]), [Head()], value=("K",))
    flow = gradient_flow(model, toy_models.Distribution([toy_models.Sample(["a"], 1)]), train=("K",))
    assert flow.system.dimension == 2
    with pytest.raises(OdesysError, match="would both be called"):
        model = AttentionModel(Dictionary(["a"]), [Head()], value=("KQ",))
        gradient_flow(model, toy_models.Distribution([toy_models.Sample(["a"], 1)]), train=("KQ", "W_K", "W_Q"))


def test_letters_and_paths_are_turned_around() -> None:
    K, Q = Letter("W_K", of="p"), Letter("W_Q", True)
    assert (K.map, str(K), str(K.T), K.T.T) == ("W_K.p", "W_K.p", "W_K.p'", K)
    assert (Q.map, str(Q), Q.T) == ("W_Q", "W_Q'", Letter("W_Q"))
    path = Path("E", (K.T, Letter("W_Q", of="p")), "n")
    assert Path("n", (Letter("W_Q", True, "p"), K), "E") == path.T and path == path.T.T
    assert str(path) == "E'.W_K.p'.W_Q.p.n" and not path.symmetric
    assert Path("E", (K.T, K), "E").symmetric and not Path("E", (K.T, K), "n").symmetric
    assert not Path("E", (K, K), "E").symmetric and Path("E", (), "E").symmetric
    assert str(Path("one", (K,), "one")) == "W_K.p"


def test_names_of_states_leave_out_what_is_empty() -> None:
    assert state_name(State("KQ", "p", "c1", "v1")) == "KQ_p_c1_v1"
    assert state_name(State("w", right="a")) == "w_a" and state_name(State("w")) == "w"
    assert state_name(State("KQ", left="c", right="v", relation="other")) == "KQ_c_v_other"


@pytest.mark.parametrize(
    ("word", "tex"),
    [
        ("up12", r"\mathrm{up}_{12}"),
        ("alpha", r"\alpha"),
        ("x9", "x_{9}"),
        ("a1b", r"\mathrm{a1b}"),
        ("pi0", r"\pi_{0}"),
    ],
)
def test_more_words_in_tex(word: str, tex: str) -> None:
    assert word_tex(word) == tex
