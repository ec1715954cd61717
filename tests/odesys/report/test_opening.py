"""The first screen: its sentences come out of verdicts, faults and causes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from odesys.papers import registry
from odesys.papers.claims import Outcome
from odesys.papers.survival import causes, score, with_survival
from odesys.report import html
from odesys.report.claim_entry import ClaimEntry, anchor, claim_entries
from odesys.report.content import Content, SystemPart
from odesys.report.opening import FAULT_NAMES, _change, changes, counted, headline, numbers, theorems, verdict_bar
from odesys.verdicts import FAILS, FAULTS, proved, undecided
from tests.report_pages import stand_in, toy

MakeContent = Callable[..., Content]


def test_the_headline_counts_what_was_found(toy_content: MakeContent) -> None:
    said = headline(toy_content())
    assert "Of 2 statements of the paper checked here, **0 hold**" in said and "**1 needs a change**" in said
    assert (
        "1 not yet classified; a form that holds instead is proved" in said
        and "1 undecided" in said
        and "1 long check" in said
    )
    assert headline(toy_content(replace(toy(), book=None))) == "No statement of this paper is registered."


def test_theorems_come_first_and_counts_agree(tmp_path: Path) -> None:
    content = stand_in(registry.find_paper("two_mixture"), tmp_path)
    said, counts, found = headline(content), score(content.outcomes), changes(content)
    assert said.startswith("Theorem") and f"**{counts['fails']} need a change**" in said
    assert [change.fault for change in found] == [
        f for f, by_cause in causes(content.outcomes).items() for _ in by_cause
    ]
    shown = [entry.claim.id for change in found for entry in change.entries]
    assert len(shown) == len(set(shown)) == counts["fails"]
    bar = verdict_bar(claim_entries(content))
    assert len({segment.kind for segment in bar}) == len(bar)
    assert sum(s.count for s in bar) == counts["claims"] + sum(claim.scored for claim in content.not_run)


def test_numbers_are_those_of_the_parts(toy_content: MakeContent) -> None:
    content = toy_content()
    content.systems = [
        SystemPart("full", "flow", 80),
        SystemPart("quotient", "flow", 22),
        SystemPart("small", "flow", 8),
    ]
    content.comparison = {"exponent": {"value": -0.58, "low": -0.76, "high": -0.41}}
    content.simulation = {"invariant_drift": 3.1e-14, "events": [{"kind": "switch"}, {"kind": "slide"}]}
    first, second, third, fourth = numbers(content)
    assert first.value == "80 → 22 → 8" and first.says == "equations: full, quotient, small"
    assert (second.value, second.power) == ("width", "−0.58") and "−0.76 to −0.41" in second.says
    assert (third.value, third.power) == ("3 × 10", "−14") and fourth.value == "1 of 2"
    content.simulation, content.systems = None, content.systems[:1]
    content.comparison |= {"seeds": [0, 1], "deviation": [{}, {}, {}]}
    assert [each.value for each in numbers(content)] == ["80", "width", "1 of 2", "6"]  # there are four


def test_theorems_below_which_something_did_not_run_are_said_last_and_honestly(tmp_path: Path) -> None:
    content = stand_in(registry.find_paper("benign_overfitting"), tmp_path)
    assert content.book is not None
    content.outcomes = with_survival(content.book, [o for o in content.outcomes if o.claim.id != "D.8"])
    mains = {claim.id for claim in content.not_run if claim.main} | {
        o.claim.id for o in content.outcomes if o.claim.main and o.stands is None
    }
    assert mains  # a lemma of its proof did not run
    assert "more (level full); " in theorems(content) and " so far " in theorems(content)
    known = stand_in(registry.find_paper("cooccurrence"), tmp_path)
    assert "level full" not in theorems(known)


def test_what_holds_in_place_of_a_main_theorem_is_on_the_first_screen(tmp_path: Path) -> None:
    content = stand_in(registry.find_paper("shallow_vit"), tmp_path)
    found = {o.claim.id: o for o in content.outcomes}
    fixed = found["Thm.1"].verdict.correcting(r"T=\Theta(\eta^{-1})\ \text{(elsewhere)}", proved(), "a factor was lost")
    for statement, shown in (("x=y", True), ("x=" + "+".join(f"y_{k}" for k in range(40)), False)):
        lemma = found["Lem.4"].verdict.correcting(statement, proved(), "a typo")
        content.outcomes = [replace(found["Thm.1"], verdict=fixed), replace(found["Lem.4"], verdict=lemma)]
        said = {change.first.claim.id: bool(change.instead) for change in changes(content)}
        assert said == {"Thm.1": True, "Lem.4": shown}  # of others where it is short
    assert "(elsewhere)" in html.page(content).split('id="changes"')[0]


def test_slips_are_counted_in_one_way(tmp_path: Path) -> None:
    for paper in registry.all_papers():
        content = stand_in(paper, tmp_path)
        slips = score(content.outcomes)["causes"]
        assert (f"({slips} slips cause them)" in headline(content)) is (slips != score(content.outcomes)["fails"])


def test_headline_and_bar_count_the_same_statements(tmp_path: Path) -> None:
    """A slip that is a constant here and a misprint there is one slip, but each statement has a fault of its own."""
    for paper in registry.all_papers():
        content = stand_in(paper, tmp_path)
        said, bar = headline(content), verdict_bar(claim_entries(content))
        failing = {s.kind.removeprefix("fails f-"): s.count for s in bar if s.kind.startswith("fails")}
        assert failing and all(counted(n, *FAULT_NAMES[fault]) in said for fault, n in failing.items())
        assert f"**{sum(failing.values())} need a change**" in said


def test_a_claim_with_two_slips_is_a_card_and_a_line(tmp_path: Path) -> None:
    content = stand_in(registry.find_paper("two_mixture"), tmp_path)
    failing = next(o for o in content.outcomes if o.claim.scored and o.verdict.as_stated == FAILS)
    part = replace(failing.verdict, fault="misprint", cause="a second one", parts={}, corrected=None)
    verdict = replace(failing.verdict, fault="false", cause="a first one", parts={"other": part})
    content.outcomes = [replace(o, verdict=verdict) if o is failing else o for o in content.outcomes]
    rows = [change for change in changes(content) if failing.claim.id in {e.claim.id for e in change.entries}]
    assert [(row.cause, bool(row.second)) for row in rows] == [("a first one", False), ("a second one", True)]
    assert rows[1].instead == [], "what holds instead is said with the first"
    assert len(changes(content)) == score(content.outcomes)["causes"]
    text = html.page(content)
    assert text.count("has a second slip") == 1 and text.count(f'id="{anchor(failing.claim.id)}"') == 1


def test_the_pieces_of_a_change_stand_in_the_claim_that_they_are_shown_with(tmp_path: Path) -> None:
    first, other = (c.first for c in changes(stand_in(registry.find_paper("two_mixture"), tmp_path))[:2])

    def misprinted(entry: ClaimEntry, printed: str, instead: str) -> tuple[ClaimEntry, Outcome]:
        assert entry.verdict is not None and entry.outcome is not None and entry.verdict.corrected is not None
        claim = replace(entry.claim, statement=printed)
        fixed = replace(entry.verdict.corrected, statement=instead)
        outcome = replace(entry.outcome, claim=claim, verdict=replace(entry.verdict, corrected=fixed))
        return replace(entry, claim=claim, outcome=outcome), outcome

    long = " + ".join(f"x_{k} y^{k}" for k in range(30))
    made = [misprinted(first, long, long.replace("x", "z")), misprinted(other, "w = v_k", "w = c_k")]
    entries, outcomes = {entry.claim.id: entry for entry, _ in made}, [outcome for _, outcome in made]
    both, alone = (_change("slip", some, set(), entries) for some in (outcomes, outcomes[1:]))
    assert len(both.entries) == 2 and both.pieces is None and alone.pieces == ("v_k", "c_k")


def test_a_change_has_the_severest_fault_of_the_displays_that_it_shows(tmp_path: Path) -> None:
    first, other = (c.first for c in changes(stand_in(registry.find_paper("two_mixture"), tmp_path))[:2])
    outcomes = []
    for entry, fault in ((first, "false"), (other, "misprint")):
        assert entry.verdict is not None and entry.outcome is not None
        outcomes.append(replace(entry.outcome, verdict=replace(entry.verdict, fault=fault)))
    entries = {entry.claim.id: entry for entry in (first, other)}
    assert _change("slip", outcomes, set(), entries).fault == "false"
    assert _change("slip", outcomes, {first.claim.id}, entries).fault == "misprint"


def test_changes_stand_severest_first(tmp_path: Path) -> None:
    faults = [FAULTS.index(c.fault) for c in changes(stand_in(registry.find_paper("two_mixture"), tmp_path)) if c.fault]
    assert faults == sorted(faults, reverse=True) and len(set(faults)) > 1


def test_what_holds_instead_is_shown_where_it_is_known_and_once(tmp_path: Path) -> None:
    content = stand_in(registry.find_paper("two_mixture"), tmp_path)
    change = next(change for change in changes(content) if change.instead)
    entry = change.first
    assert entry.verdict is not None and entry.verdict.corrected is not None and entry.outcome is not None
    assert replace(change, second="again").instead == []
    for fixed in (None, replace(entry.verdict.corrected, verdict=undecided("not known"))):
        outcome = replace(entry.outcome, verdict=replace(entry.verdict, corrected=fixed))
        assert replace(change, entries=(replace(entry, outcome=outcome),)).instead == []
