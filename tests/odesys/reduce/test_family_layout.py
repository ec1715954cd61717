"""Orbit variables of a family: every entry of the enumerated flow has one; symmetries permute them with signs."""

from __future__ import annotations

import numpy as np
import pytest

from derivations.two_mixture import dynamics, setting
from odesys.model.orbit_algebra import PairSpace
from odesys.model.paths import WORDS
from odesys.reduce.family_layout import on_states, orbit_layout, pair_table, pin_of


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
