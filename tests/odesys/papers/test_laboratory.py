"""Laboratories: what is read is noted as parts, what is computed is computed once for each mutation."""

from __future__ import annotations

import numpy as np
import pytest

from odesys.errors import IntegrationError, OdesysError
from odesys.expr.graph import sym
from odesys.expr.system import System
from odesys.papers.draw import Draw
from odesys.papers.laboratory import BaseLaboratory, Part, computed_once, laboratory_part
from odesys.papers.mutation import Mutation
from odesys.papers.workers import process_pool

CALLS: list[str] = []


class Oscillator(BaseLaboratory):
    """A spring whose stiffness, or whose start, may be broken."""

    mutations = (
        Mutation("stiff", "the spring is four times as stiff", model=lambda k: 4 * k),
        Mutation("late", "it starts at rest", start=lambda state: 0 * state),
    )

    @laboratory_part
    def stiffness(self) -> int:
        return self.mutation.model(1)

    @laboratory_part
    def system(self, sign: int = -1) -> System:
        CALLS.append(self.mutation.name)
        if sign > 0:
            raise IntegrationError("it flies away", time=0.0)
        return System.from_equations({"x": sym("v"), "v": sign * self.stiffness() * sym("x")})

    @laboratory_part
    def start(self) -> np.ndarray:
        return self.mutation.start(np.array([1.0, 0.0]))

    @computed_once
    def both(self, times: int) -> int:
        CALLS.append("both")
        return times * (self.system().dimension + len(self.start()))


STIFFNESS, SYSTEM, START = Part(Oscillator.stiffness), Part(Oscillator.system, (-1,)), Part(Oscillator.start)


def test_a_part_is_read_as_a_whole_and_computed_once_for_each_mutation() -> None:
    CALLS.clear()
    labs = [Oscillator(), Oscillator(), Oscillator("stiff")]
    assert [lab.system(-2).dimension for lab in labs] == [2, 2, 2] and CALLS == ["", "stiff"]
    assert labs[0].system(sign=-2) is labs[1].system(-2), "the same arguments, however they are given"
    assert all(lab.reads == {Part(Oscillator.system, (-2,))} for lab in labs), "not the stiffness it is computed from"


def test_what_is_shared_is_read_by_everyone_who_uses_it() -> None:
    CALLS.clear()
    labs = [Oscillator("late"), Oscillator("late")]
    assert [lab.both(3) for lab in labs] == [12, 12] and CALLS.count("both") == 1
    assert all(lab.reads == {SYSTEM, START} for lab in labs)


def test_an_error_is_remembered_too() -> None:
    CALLS.clear()
    for lab in (Oscillator(), Oscillator()):
        with pytest.raises(IntegrationError, match="it flies away"):
            lab.system(+2)
    assert CALLS == [""]


def test_which_parts_a_mutation_changes() -> None:
    changed = {m: {p for p in (STIFFNESS, SYSTEM, START) if Oscillator(m).changes(p)} for m in ("", "stiff", "late")}
    assert changed == {"": set(), "stiff": {STIFFNESS, SYSTEM}, "late": {START}}
    assert Oscillator("late").changes(Part(Oscillator.system, (1,))), "what can not be computed counts as changed"


def test_what_is_asked_aside_and_what_is_only_noted() -> None:
    lab = Oscillator("stiff")
    assert lab.unrecorded().stiffness() == 4 and lab.reads == set()
    lab.read(Oscillator.start)
    assert lab.reads == {START}


def test_parts_have_names_and_travel_between_processes() -> None:
    assert [str(p) for p in (STIFFNESS, SYSTEM)] == ["stiffness", "system(-1)"]
    with process_pool(1) as pool:
        assert pool.submit(tuple, [SYSTEM]).result() == (SYSTEM,)


def test_an_unknown_mutation_is_refused() -> None:
    with pytest.raises(OdesysError, match="'soft' is not known; there are stiff, late"):
        Oscillator("soft")


def test_what_asks_for_no_draw_is_computed_once_for_all_draws() -> None:
    calls: list[str] = []

    @computed_once
    def derived(lab: BaseLaboratory) -> int:
        calls.append("derived")
        return 1

    @computed_once
    def seeded(lab: BaseLaboratory) -> tuple[int, ...]:
        calls.append("seeded")
        return lab.draw.seeds(derived(lab))

    @computed_once
    def above(lab: BaseLaboratory) -> tuple[int, ...]:
        calls.append("above")
        return seeded(lab)

    first, second = BaseLaboratory(), BaseLaboratory(draw=Draw(7, 1))
    assert above(first) != above(second) and above(first) == above(BaseLaboratory())
    assert sorted(calls) == ["above", "above", "derived", "seeded", "seeded"]
    assert first.drawn and not (derived(third := BaseLaboratory()) and third.drawn)
    above(BaseLaboratory(draw=Draw(7, 2)))
    above(second)
    above(first)
    assert calls.count("above") == 4, "what an earlier draw computed is given up, but the book's own is kept"
