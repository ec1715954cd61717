"""Orbit variables of a family: every entry of the enumerated flow has one; symmetries permute them with signs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derivations.two_mixture import dynamics, setting
from odesys import (
    AttentionModel,
    Family,
    Head,
    OtherGroups,
    SampleTemplate,
    Units,
    cross_entropy,
    family_flow,
    maps,
)
from odesys.model.orbit_algebra import PairSpace
from odesys.model.paths import WORDS
from odesys.reduce.family_layout import is_grouped, on_states, orbit_layout, pair_table, pin_of


@pytest.mark.parametrize("K", [2, 3, 5])
def test_entries_of_one_orbit_have_one_number(K: int) -> None:
    """The table of the scores is that of kinds and of same or other group, whatever the number of groups."""
    flow = dynamics.family()
    family = flow.family
    pin = pin_of(family, flow.naming, WORDS)
    space = PairSpace(pin, pin)
    path = next(p for p in flow.closure.paths if (p.left, p.right) == (WORDS, WORDS))
    table = pair_table(family, flow.naming, path, space, K)
    words = setting.words(K).words
    assert pin.grouped == (True, True) and table.shape == (2 * K, 2 * K)
    seen: dict[tuple[str, str, bool], set[int]] = {}
    for i, j in np.ndindex(table.shape):
        seen.setdefault((words[i][0], words[j][0], words[i][1:] == words[j][1:]), set()).add(int(table[i, j]))
    assert all(len(numbers) == 1 for numbers in seen.values())
    assert len(set().union(*seen.values())) == len(seen) == 8


def test_symmetries_act_on_the_variables_as_signed_permutations_that_undo_themselves() -> None:
    flow = dynamics.family()
    spaces = {path: flow.space(path) for path in flow.closure.paths}
    layout, tex, _ = orbit_layout(flow.family, flow.origin.naming, flow.closure, spaces, flow.algebra, 2)
    assert len(layout.names) == 2 * 22 and set(tex) == set(layout.names)  # both heads
    for element in flow.symmetries:
        target, sign = on_states(element, layout, flow.origin, flow.closure, spaces)
        assert sorted(target) == list(range(len(target))) and set(sign.tolist()) <= {1, -1}
        np.testing.assert_array_equal(target[target], np.arange(len(target)))  # the flip is its own inverse
        np.testing.assert_array_equal(sign * sign[target], 1)


def test_names_say_which_pairs_and_no_sum_is_written_where_each_pair_counts_once() -> None:
    flow = dynamics.family()
    spaces = {path: flow.space(path) for path in flow.closure.paths}
    _, tex, structure = orbit_layout(flow.family, flow.origin.naming, flow.closure, spaces, flow.algebra, 2)
    assert not flow.algebra.scaled and not any("others" in name or r"\sum" in tex[name] for name in structure)


HALF = Fraction(1, 2)


def heads(words):
    return AttentionModel(words, [Head(1), Head(-1)])


FAMILIES = {
    "flip": Family(
        ["c", "v"],
        [SampleTemplate(["c", s, OtherGroups(["v", "-v"])], y, HALF) for s, y in (("v", 1), ("-v", -1))],
    ),
    "two types alike": Family(
        ["u", "v"],
        [SampleTemplate([s, OtherGroups(["u", "v"])], y, HALF) for s, y in (("u", 1), ("v", -1))],
    ),
    "shared words": Family(
        ["c"], [SampleTemplate(["c", "a", "-b"], 1, HALF), SampleTemplate(["c", "-a", "b"], -1, HALF)], ["a", "b"]
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_field_commutes_with_every_symmetry(name: str) -> None:
    """F(g z) = g F(z) on the orbit variables of the family, before anything but groups is divided out."""
    flow = family_flow(FAMILIES[name], heads, symmetries=[])
    found = family_flow(FAMILIES[name], heads).symmetries
    spaces = {path: flow.space(path) for path in flow.closure.paths}
    field, rng = flow.compile(K=3), np.random.default_rng(1)
    z = rng.normal(size=flow.system.dimension)
    signs = set()
    assert found
    for element in found:
        target, sign = on_states(element, flow.layout, flow.origin, flow.closure, spaces)

        def act(v: np.ndarray, target: np.ndarray = target, sign: np.ndarray = sign) -> np.ndarray:
            out = np.empty_like(v)
            out[target] = sign * v
            return out

        assert np.allclose(field(0.0, act(z)), act(field(0.0, z)), rtol=1e-12, atol=1e-13)
        signs |= set(sign.tolist())
    assert -1 in signs


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_matrix_of_all_words_has_the_number_of_its_pair(name: str, K: int) -> None:
    """Types, and whether the groups are the same; read-outs and shared words have no group."""
    family = FAMILIES[name]
    flow = family_flow(family, heads, symmetries=[])
    words, count = family.dictionary(K).words, len(family.words)

    def kind(word: str) -> tuple[int, str]:
        stem = word.rstrip("0123456789")
        return family.types.index(stem), word.removeprefix(stem)

    for path in flow.closure.paths:
        space, full = flow.space(path), flow.origin.naming_of(K)
        table = pair_table(family, full, path, space, K)
        rows = words if path.left == WORDS else ("",)
        assert table.shape == (len(rows), len(words))
        for i, a in enumerate(rows):
            for j, b in enumerate(words):
                (left, g), (right, h) = (kind(a) if a else (0, "")), kind(b)
                relation = ("same" if g == h else "other") if g and h else ""
                assert space.pairs[table[i, j]] == (left, right, relation)
    words_pin = pin_of(family, flow.naming, WORDS)
    assert words_pin.grouped == (True,) * count + (False,) * len(family.shared)
    assert pin_of(family, flow.naming, "one").grouped == (False,) and is_grouped(flow.naming, "one") is False
    assert is_grouped(flow.naming, WORDS) is False


def test_names_and_texts_of_pairs_in_plain_and_in_scaled_variables() -> None:
    plain, scaled = (family_flow(FAMILIES["flip"], heads, symmetries=[], scaled=s) for s in (False, True))
    names = [n for n in plain.system.names if n.startswith(("KQ_p", "KK_p"))]
    pairs = [(a, b, r) for a in "cv" for b in "cv" for r in ("same", "other")]
    assert names[:8] == [f"KQ_p_{a}_{b}_{r}" for a, b, r in pairs]
    assert names[8:] == [f"KK_p_{a}_{b}_{r}" for a, b, r in pairs if (a, b) != ("v", "c")]
    assert [n.replace("others", "other") for n in scaled.system.names] == list(plain.system.names)
    for old, new in zip(plain.system.names, scaled.system.names, strict=True):
        tex = plain.system.tex[old]
        if old.endswith("other"):
            assert "_{2}" in tex and scaled.system.tex[new] == rf"\sum_{{j\ne1}}{tex.replace('_{2}', '_{j}')}"
            assert plain.system.structure[old].relation == "other"
            assert scaled.system.structure[new].relation == "others"
        else:
            assert scaled.system.tex[new] == tex and "_{2}" not in tex and new == old
    state = plain.system.structure["KQ_p_c_v_other"]
    assert (state.path, state.head, state.left, state.right) == ("KQ", "p", "c", "v")
    shared = family_flow(FAMILIES["shared words"], heads, symmetries=[])
    assert {"KQ_p_c_a", "KQ_p_a_c", "KQ_p_a_b", "w_p_a", "w_p_c"} <= set(shared.system.names)
    assert len({s.index[k, 0] for s in shared.layout.segments for k in range(len(s.index))}) == shared.system.dimension


@pytest.mark.parametrize("K", [2, 3, 5])
def test_classes_are_grouped_as_words_are(K: int) -> None:
    """A row of Y for each group: pairs of a class and a word of the same group, of another, and with a shared word."""
    family = Family(["d"], [SampleTemplate(["d", "q"], "d")], shared=["q"])

    def classes(words):
        Y = maps("Y", Units("y", words), words)
        return lambda X: Y @ X.mean(1)

    flow = family_flow(family, classes, loss=cross_entropy, symmetries=[])
    (path,) = (p for p in flow.closure.paths if flow.naming.leaf(p) == "Y")
    full, space = flow.origin.naming_of(K), flow.space(path)
    assert is_grouped(flow.naming, "y") and pin_of(family, flow.naming, "y").grouped == (True,)
    table = pair_table(family, full, path, space, K)
    assert table.shape == (K, K + 1)
    for i, j in np.ndindex(table.shape):
        wanted = (0, 1, "") if j == K else (0, 0, "same" if i == j else "other")
        assert space.pairs[table[i, j]] == wanted
    names = [n for n in flow.system.names if n.startswith("Y")]
    assert names == ["Y_y_d_same", "Y_y_d_other", "Y_y_q"]
    assert flow.system.structure["Y_y_d_other"].left == "y" and flow.bind(K=K).law().as_stated == "holds"
