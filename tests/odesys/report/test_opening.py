"""The first screen: its sentences come out of verdicts, faults and causes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from odesys.papers import registry
from odesys.papers.claims import ClaimBook, Outcome
from odesys.papers.paper import Parameter
from odesys.papers.survival import causes, score, with_survival
from odesys.report import html
from odesys.report.claim_entry import ClaimEntry, anchor, claim_entries
from odesys.report.content import Content, SystemPart
from odesys.report.opening import (
    FAULT_NAMES,
    LINE,
    Figure,
    _change,
    bar_legend,
    changes,
    counted,
    headline,
    listed,
    numbers,
    place,
    sizes,
    symbols,
    theorems,
    verdict_bar,
)
from odesys.verdicts import FAILS, FAULTS, Verdict, certified, measured, proved, refuted, undecided, untested
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


# ---- books made for one sentence -------------------------------------------------------------------------------------


def failing(fault: str, cause: str = "", instead: Verdict | None = None, statement: str = "x = 2") -> Verdict:
    """A failure with its fault, and a form that holds in its place."""
    verdict = refuted({"x": 1})
    verdict = verdict.blaming(fault, cause) if fault else verdict
    return verdict.correcting(statement, instead, "because") if instead is not None else verdict


def made(answers: Mapping[str, Verdict | None], fields: Mapping[str, Mapping[str, Any]] | None = None) -> Content:
    """What a report says about a book with these verdicts; None was not run."""
    book = ClaimBook("toy", laboratory=dict)
    for id in answers:
        known = {"kind": "identity", "statement": "x = 1", "reading": "x is one"}
        book.claim(id, f"claim {id}", **{**known, **(fields or {}).get(id, {})})(lambda lab: proved())
    outcomes = [Outcome(book[id], verdict, 0.0) for id, verdict in answers.items() if verdict is not None]
    content = Content(toy(book=lambda: book), "quick", {}, Path("pages"), book=book)
    content.outcomes = with_survival(book, outcomes)
    return content


SAID = "statements of the paper checked here, "
FORM = "holds instead"
HEADLINES: list[tuple[list[Verdict | None], str]] = [
    ([proved(), measured(True)], f"Of 2 {SAID}**2 hold** as printed; nothing needs a change."),
    (
        [failing("constant", "two", proved())],
        "Of 1 statement of the paper checked here, **0 hold** as printed and **1 needs a change**: 1 constant; "
        "a form that holds instead is proved.",
    ),
    (
        [proved(), failing("false", "two", measured(True))],
        f"Of 2 {SAID}**1 hold** as printed and **1 needs a change**: 1 false statement; a form that {FORM} is given.",
    ),
    (
        [proved(), failing("false", "two")],
        f"Of 2 {SAID}**1 hold** as printed and **1 needs a change**: 1 false statement; no form that {FORM} was found.",
    ),
    (
        [proved(), failing("false", "two", undecided("who knows"))],
        f"Of 2 {SAID}**1 hold** as printed and **1 needs a change**: 1 false statement; no form that {FORM} was found.",
    ),
    (
        [failing("constant", "two", proved())] * 2,
        f"Of 2 {SAID}**0 hold** as printed and **2 need a change**: 2 constants (1 slip causes them); "
        f"each has a form that {FORM}, 2 of these proved.",
    ),
    (
        [failing("constant", "a", measured(True)), failing("constant", "b", proved())],
        f"Of 2 {SAID}**0 hold** as printed and **2 need a change**: 2 constants; each has a form that {FORM}, "
        "1 of these proved.",
    ),
    (
        [failing("constant", "a", measured(True)), failing("constant", "b")],
        f"Of 2 {SAID}**0 hold** as printed and **2 need a change**: 2 constants; "
        f"for 1 of them there is a form that {FORM}.",
    ),
    (
        [
            *(failing(fault, cause) for fault, cause in (("misprint", "a"), ("misprint", "b"), ("constant", "c"))),
            *(failing(fault, cause) for fault, cause in (("proof", "d"), ("proof", "d"), ("proof", "e"))),
            failing("false", "f"),
            failing(""),
        ],
        f"Of 8 {SAID}**0 hold** as printed and **8 need a change**: 1 false statement, 3 steps of proofs, 1 constant, "
        f"2 misprints and 1 not yet classified (7 slips cause them); no form that {FORM} was found.",
    ),
    (
        [proved(), undecided("a"), undecided("b"), untested("c")],
        f"Of 4 {SAID}**1 hold** as printed; nothing needs a change. 2 undecided and 1 out of reach of a test.",
    ),
    ([proved(), untested("c")], f"Of 2 {SAID}**1 hold** as printed; nothing needs a change. 1 out of reach of a test."),
    (
        [proved(), proved(), None],
        f"Of 2 {SAID}**2 hold** as printed; nothing needs a change. 1 long check of level full was not run.",
    ),
    (
        [proved(), proved(), None, None],
        f"Of 2 {SAID}**2 hold** as printed; nothing needs a change. 2 long checks of level full were not run.",
    ),
    ([None], "No statement of this paper is registered."),
]


@pytest.mark.parametrize(("verdicts", "said"), HEADLINES)
def test_a_headline_is_these_sentences(verdicts: list[Verdict | None], said: str) -> None:
    """Definitions, and what the book adds itself, are in none of the numbers."""
    answers = {f"C.{k}": verdict for k, verdict in enumerate(verdicts)}
    assert headline(made(answers)) == said
    if verdicts != [None]:
        more = {"D": proved(), "E": None, "O": failing("false", "ours"), "P": None}
        fields = {id: {"kind": "definition"} if id in "DE" else {"origin": "ours"} for id in more}
        assert headline(made({**answers, **more}, fields)) == said


@pytest.mark.parametrize(
    ("count", "of", "verdict", "said"),
    [
        (1, 1, proved(), "Theorem 1 **stands** as printed."),
        (2, 2, proved(), "Theorem 1 and Theorem 2 **stand** as printed."),
        (4, 4, proved(), "Theorem 1, Theorem 2, Theorem 3 and Theorem 4 **stand** as printed."),
        (5, 5, proved(), "All 5 main theorems **stand** as printed."),
        (5, 6, proved(), "5 of 6 main theorems **stand** as printed; theorem 6 is **open**."),
        (1, 1, undecided("x"), "Theorem 1 is **open**."),
        (2, 2, undecided("x"), "Theorem 1 and Theorem 2 are **open**."),
        (1, 1, failing("false", "a"), "Theorem 1 **falls** as printed."),
        (3, 3, failing("false", "a"), "Theorem 1, Theorem 2 and Theorem 3 **fall** as printed."),
        (1, 1, failing("constant", "a", proved()), "Theorem 1 **stands** with corrected constants."),
    ],
)
def test_theorems_are_named_up_to_four_and_counted_beyond(count: int, of: int, verdict: Verdict, said: str) -> None:
    numbers = range(1, of + 1)
    content = made(
        {f"T.{k}": verdict if k <= count else undecided("x") for k in numbers},
        {f"T.{k}": {"main": True, "where": f"Theorem {k}"} for k in numbers},
    )
    assert theorems(content) == said.replace("theorem 6", "Theorem 6")
    assert headline(content).startswith(theorems(content) + " Of ")


def test_the_last_theorems_of_a_proof_come_first() -> None:
    fields = {"A": {"main": True}, "B": {"main": True, "uses": ["A"]}, "C": {"main": True, "uses": ["B"]}}
    answers = {"A": proved(), "B": failing("constant", "a", proved()), "C": failing("false", "b")}
    content = made(answers, fields)
    assert (
        theorems(content) == "C **falls** as printed; B **stands** with corrected constants; A **stands** as printed."
    )
    assert theorems(made({"A": proved()})) == ""


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("Theorem 4.1", "Theorem 4.1"),
        ("Lemma 2, second bullet", "Lemma 2"),
        ("Corollary 3; see p. 5", "Corollary 3"),
        (" Proposition 7 , (2)", "Proposition 7"),
        ("Section 2, Theorem 1", "X.1"),
        ("", "X.1"),
    ],
)
def test_a_claim_is_called_by_its_place_where_that_is_a_theorem_or_the_like(where: str, name: str) -> None:
    content = made({"X.1": proved()}, {"X.1": {"where": where}})
    assert content.book is not None and place(content.book["X.1"]) == name


def waiting(count: int, below: Mapping[str, Verdict | None], among: int = 0) -> str:
    """What is said of this many theorems that rest on these lemmas, beside others that stand."""
    names = [f"T.{k}" for k in range(1, count + 1)]
    others = [f"U.{k}" for k in range(1, among + 1)]
    fields: dict[str, Any] = {name: {"main": True, "uses": list(below)} for name in names}
    fields |= {name: {"main": True} for name in others}
    return theorems(made({**below, **dict.fromkeys([*names, *others], proved())}, fields))


def test_theorems_that_wait_for_long_checks_say_for_how_many_and_what_the_rest_says() -> None:
    nothing = "nothing that was checked so far brings it down."
    assert waiting(1, {"A": None}) == f"Whether T.1 stands takes 1 long check more (level full); {nothing}"
    assert waiting(1, {"A": None, "B": None, "C": proved()}) == (
        f"Whether T.1 stands takes 2 long checks more (level full); {nothing}"
    )
    assert waiting(2, {"A": None}) == (
        "Whether T.1 and T.2 stand takes 1 long check more (level full); "
        "nothing that was checked so far brings one of them down."
    )
    assert waiting(4, {"A": None}).startswith("Whether T.1, T.2, T.3 and T.4 stand takes")
    assert waiting(5, {"A": None}).startswith("Whether 5 of 5 main theorems stand takes")
    assert waiting(1, {"A": None, "B": undecided("x")}).endswith("; what was checked so far leaves it open.")
    assert waiting(3, {"A": None, "B": undecided("x")}).endswith("; what was checked so far leaves 3 of them open.")
    assert waiting(1, {"A": None}, among=1) == f"U.1 **stands** as printed. {waiting(1, {'A': None})}"
    main: dict[str, Any] = {"main": True}
    content = made({"A": None, "T": failing("false", "a")}, {"T": {**main, "uses": ["A"]}})
    assert theorems(content).endswith("; what was checked so far brings it down.")
    fields = {"T": {**main, "uses": ["A"]}, "U": {**main, "uses": ["A"]}, "V": {**main, "uses": ["A"]}}
    content = made({"A": None, "T": failing("false", "a"), "U": failing("false", "b"), "V": undecided("x")}, fields)
    assert theorems(content).endswith("; what was checked so far brings 2 of them down.")


def test_the_bar_has_a_piece_for_every_kind_in_one_order() -> None:
    answers: dict[str, Verdict | None] = {"a": None, "b": untested("x"), "c": undecided("x")}
    answers |= {"d": failing("")} | {f"e{fault}": failing(fault, fault) for fault in FAULTS}
    answers |= {"f": measured(True), "g": measured(True), "h": certified(), "i": proved(), "j": proved(), "k": proved()}
    more = {"l": proved(), "m": None, "n": failing("false", "x")}
    fields = {"l": {"kind": "definition"}, "m": {"kind": "condition"}, "n": {"origin": "ours"}}
    bar = verdict_bar(claim_entries(made({**answers, **more}, fields)))
    assert [(s.kind, s.letter, s.word, s.count) for s in bar] == [
        ("proof", "P", "proof", 3),
        ("certificate", "C", "certificate", 1),
        ("measurement", "M", "measured", 2),
        ("fails f-false", "✗", "false", 1),
        ("fails f-proof", "✗", "step", 1),
        ("fails f-constant", "✗", "constant", 1),
        ("fails f-misprint", "✗", "misprint", 1),
        ("fails f-", "✗", "fails", 1),
        ("undecided", "?", "undecided", 1),
        ("untested", "–", "untested", 1),
        ("unrun", "·", "not run", 1),
    ]
    legend = bar_legend({segment.kind for segment in bar})
    assert [(kind, letter) for kind, letter, _ in legend] == [(s.kind, s.letter) for s in bar]
    assert bar_legend({"fails f-", "fails f-proof", "unrun"}) == [
        ("fails f-proof", "✗", "a step of a proof fails"),
        ("fails f-", "✗", "fails"),
        ("unrun", "·", "not run"),
    ]


@pytest.mark.parametrize(
    ("known", "value", "says"),
    [
        ({}, None, None),
        ({"full": 0}, None, None),
        ({"full": 66831}, "66,831", "equations"),
        ({"quotient": 22, "full": 80}, "80 → 22", "equations: full, quotient"),
        ({"full": 22, "quotient": 22}, "22", "equations"),
        ({"large_one": 90, "quotient": 22, "small": 8}, "90 → 22 → 8", "equations: large one, quotient, small"),
        ({"full": 80, "larger": 90}, "80", "equations"),
        ({"a": 5, "b": 7, "c": 6}, "7 → 5", "equations: b, a"),
        ({"full": 80, "none": 0, "quotient": 8}, "80 → 8", "equations: full, quotient"),
    ],
)
def test_sizes_go_from_the_whole_system_to_the_smallest(known: dict[str, int], value: str, says: str) -> None:
    content = made({"A": proved()})
    content.systems = [SystemPart(name, "flow", size) for name, size in known.items()]
    assert sizes(content) == ([Figure(value, says)] if value else [])


def test_four_numbers_are_shown_the_first_ones_first() -> None:
    content = made({"A": proved(), "B": certified(), "C": measured(True), "D": proved()}, {"D": {"kind": "definition"}})
    proof = Figure("2 of 3", "statements settled by proof or certificate")
    assert numbers(content) == [proof]
    assert numbers(made({"A": measured(True)})) == []
    content.comparison = {"seeds": [0, 1, 2], "deviation": [{}, {}]}
    networks = Figure("6", "runs of networks, in their weights, compared with the theory")
    assert numbers(content) == [proof, networks]
    content.simulation = {"events": [{"kind": "switch"}, {"kind": "stage"}, {"kind": "slide"}, {"kind": "switch"}]}
    gates = Figure("2 + 1", "switches of gates, and slides along a kink, in the run")
    assert numbers(content) == [proof, gates, networks]
    content.simulation = {"events": [{"kind": "stage"}], "invariant_drift": 0.0}
    assert numbers(content) == [proof, networks]
    content.simulation = {"events": [{"kind": "slide"}], "invariant_drift": 2.4e-9}
    gates = replace(gates, value="0 + 1")
    drift = Figure("2 × 10", "largest drift of the conserved quantities in the run", "−9")
    assert numbers(content) == [drift, proof, gates, networks]
    content.comparison |= {"exponent": {"value": -0.501, "low": -0.6, "high": 0.25}}
    law = Figure("width", "distance of networks to the theory; 95 % interval −0.60 to 0.25", "−0.50")
    assert numbers(content) == [law, drift, proof, gates]
    words = (Parameter("K", 5, "groups", int, words=("symbol",)), Parameter("L", 5, "more", int, words=("symbol",)))
    content.paper = replace(content.paper, parameters=(Parameter("m", 3, "width", int), *words))
    free = Figure("every K", "one system for all: groups")
    assert numbers(content) == [law, free, drift, proof] and symbols(content) == [free]
    content.systems = [SystemPart("full", "flow", 12)]
    assert numbers(content) == [Figure("12", "equations"), law, free, drift]


def test_pieces_are_short_where_both_stand_on_one_line() -> None:
    (change,) = changes(made({"A": failing("constant", "two", proved())}))
    assert change.pieces == ("1", "2") == change.short_pieces and change.instead == ["x = 2"]
    for count, short in ((LINE - 3, True), (LINE - 2, False)):
        assert (replace(change, pieces=("x" * count, "y")).short_pieces is not None) is short
    assert replace(change, pieces=None).short_pieces is None


@pytest.mark.parametrize("main", [True, False])
def test_what_holds_instead_fits_a_line_or_of_a_main_theorem_three(main: bool) -> None:
    """A relation begins a line of its own; 27 letters and a relation are a line."""
    for statement, lines in (
        ("x" * (LINE - 2) + "=y", 1),
        ("x" * (LINE - 1) + "=y", 2),
        ("x" * 20 + "=" + "y" * 20 + "=" + "z" * 20, 3),
        ("x" * 20 + "=" + "y" * 20 + "=" + "z" * 20 + "=" + "w" * 20, 4),
        ("x" * (LINE + 1), 0),
    ):
        content = made({"A": failing("constant", "two", proved(), statement)}, {"A": {"main": main}})
        (change,) = changes(content)
        shown = lines == 1 or (main and lines < 4)
        assert len(change.instead) == (max(lines, 1) if shown else 0)


def test_slips_that_nobody_classified_come_last_each_by_itself() -> None:
    answers = {"A": failing("", instead=proved()), "B": failing("misprint", "m", proved()), "C": failing("")}
    answers |= {"D": failing("false", "f"), "E": proved(), "F": failing(""), "G": undecided("x")}
    found = changes(made(answers, {"F": {"origin": "ours"}}))
    assert [(c.cause, c.fault, c.first.claim.id) for c in found] == [
        ("f", "false", "D"),
        ("m", "misprint", "B"),
        ("A", "", "A"),
        ("C", "", "C"),
    ]
    assert [c.pieces for c in found] == [None, ("1", "2"), ("1", "2"), None]
    assert [c.second for c in found] == [""] * 4


def test_numbers_have_their_nouns() -> None:
    assert counted(1, "step of a proof", "steps of proofs") == "1 step of a proof"
    assert counted(0, "step of a proof", "steps of proofs") == "0 steps of proofs"
    assert counted(1200, "claim") == "1,200 claims"
    assert [listed(words) for words in ([], ["a"], ["a", "b"])] == ["", "a", "a and b"]
