"""Laboratories: what is read is noted as parts, what is computed is computed once for each mutation."""

from __future__ import annotations

import numpy as np
import pytest

from odesys.errors import IntegrationError, OdesysError
from odesys.expr.graph import sym
from odesys.expr.system import System
from odesys.papers.draw import Draw
from odesys.papers.laboratory import BaseLaboratory, Part, computed_once, laboratory_part
from odesys.papers.mutation import Mutation, PathSpeeds
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


def test_parts_are_compared_by_what_they_say() -> None:
    """Systems by names, equations and observables, also where something has one; arrays by entries."""

    class Holder:
        def __init__(self, system: System) -> None:
            self.system = system

    class Lab(BaseLaboratory):
        mutations = (Mutation("other", "another name", model=lambda name: "z"),)

        @laboratory_part
        def system(self) -> System:
            return System.from_equations({self.mutation.model("x"): sym("k")}, ["k"])

        @laboratory_part
        def held(self) -> Holder:
            return Holder(self.system())

        @laboratory_part
        def array(self, size: int = 2) -> np.ndarray:
            return np.arange(size)

        @laboratory_part
        def word(self) -> str:
            return "word"

    plain, broken, again = Lab(), Lab("other"), Lab("")
    system, held = Part(Lab.system), Part(Lab.held)
    names, nodes, observables = system.of(plain)
    assert names == ("x",) and nodes == plain.system().nodes and observables == dict(plain.system().observables)
    assert held.of(plain) == system.of(plain) == system.of(again) != system.of(broken)
    assert Part(Lab.array, (3,)).of(plain) == [0, 1, 2] and Part(Lab.word).of(plain) == "word"
    broken = Lab("other")
    assert broken.changes(system) and broken.changes(held) and not broken.changes(Part(Lab.array, (3,)))
    assert not plain.changes(system) and broken.reads == set(), "what is compared counts as read by nobody"
    broken.array(), broken.array(3), broken.array(size=4)
    assert sorted(map(str, broken.reads)) == ["array(2)", "array(3)", "array(4)"]


def test_a_laboratory_has_the_speeds_of_its_mutation() -> None:
    fast = PathSpeeds({"KQ": 2})

    class Lab(BaseLaboratory):
        mutations = (Mutation("fast", "twice", equations=fast), Mutation("other", "not speeds", equations=len))

    assert [Lab(name).speeds for name in ("fast", "other", "")] == [fast, PathSpeeds(), PathSpeeds()]
    with pytest.raises(OdesysError, match="the mutation 'fast' is not known; there are none"):
        BaseLaboratory("fast")


def test_what_is_aside_keeps_mutation_and_draw_and_is_not_drawn() -> None:
    draw = Draw(3, 2)
    lab = Oscillator("late", draw)
    aside = lab.unrecorded()
    assert (aside.mutation.name, aside.draw_given) == ("late", draw) and not lab.drawn
    assert lab.draw is draw and lab.drawn and not aside.drawn and Oscillator().draw_given == Draw()


def test_a_part_is_compared_in_the_same_draw() -> None:
    class Lab(BaseLaboratory):
        mutations = (Mutation("same", "nothing is broken"),)

        @laboratory_part
        def seeds(self) -> tuple[int, ...]:
            return self.draw.seeds(2)

    assert not Lab("same", Draw(5, 1)).changes(Part(Lab.seeds))
    lab = Lab("same", Draw(5, 1))
    assert lab.seeds() == Draw(5, 1).seeds(2) and lab.drawn and lab.reads == {Part(Lab.seeds)}


def test_an_error_that_is_no_sentence_is_not_remembered() -> None:
    calls: list[int] = []

    @computed_once
    def wrong(lab: BaseLaboratory) -> None:
        calls.append(1)
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            wrong(BaseLaboratory())
    assert len(calls) == 2


def test_a_remembered_error_is_raised_where_it_is_asked_for() -> None:
    """Its way through the first call is left out."""
    depths = []
    for _ in range(2):
        with pytest.raises(IntegrationError) as caught:
            Oscillator("stiff").system(+3)
        depths.append(len(caught.traceback))
    assert depths[0] == depths[1] == 2


def test_laboratories_of_two_papers_do_not_share() -> None:
    class One(BaseLaboratory):
        pass

    class Two(BaseLaboratory):
        pass

    @computed_once
    def name(lab: BaseLaboratory, *rest: int, key: int = 0) -> str:
        return f"{type(lab).__name__} {rest} {key}"

    asked = [name(One()), name(Two()), name(One(), 1), name(One(), 1, 2), name(One(), key=1), name(One(), 1, key=2)]
    assert asked == ["One () 0", "Two () 0", "One (1,) 0", "One (1, 2) 0", "One () 1", "One (1,) 2"]
