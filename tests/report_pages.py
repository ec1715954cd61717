"""Pages of reports for tests: a reader that checks their markup, a small paper in which much goes wrong, stand-ins."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from odesys.errors import IntegrationError
from odesys.papers.claims import Claim, ClaimBook, Outcome
from odesys.papers.paper import FigureSpec, Paper
from odesys.papers.survival import with_survival
from odesys.report.content import Content, FigurePart, SystemPart
from odesys.report.explorer import fragment
from odesys.verdicts import (
    FAULTS,
    HOLDS,
    Proof,
    Verdict,
    Witness,
    certified,
    measured,
    proved,
    refuted,
    undecided,
    untested,
)

VOID = {"meta", "link", "input", "img", "br"}


class Reader(HTMLParser):
    """Checks that elements are closed in order, and collects ids, links and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found[key] or "" for key in ("href", "src", "xlink:href") if key in found]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data


def toy(**more: Any) -> Paper:
    """A paper whose run fails and whose texts look like markup."""

    def nothing(parameters: Any, progress: Any) -> Any:
        raise IntegrationError("the step became <too> small", time=1.0)

    def draw(folder: Path, progress: Any) -> list[Path]:
        (folder / "x.svg").write_text('<svg viewBox="0 0 100 50"><g id="a"/></svg>')
        return [folder / "x.svg"]

    book = ClaimBook("toy", laboratory=lambda mutation="": mutation)

    @book.claim(
        "A.1", "<script>alert(1)</script>", kind="identity", statement=r"1 < 2 & \unknown{", reading="<b>bold</b>"
    )
    def first(lab: str) -> Verdict:
        return undecided("x < y")

    @book.claim("A.2", "Second", kind="identity", statement="1 = 2", reading="as is", uses=["A.1"], expect="fails")
    def second(lab: str) -> Verdict:
        return refuted({"<i>": [1, 2.5, None]}, seen=[1, 2.5, None]).correcting("1 = 1", proved(), "a typo & more")

    @book.claim("A.3", "Third", kind="order", statement="x", reading="y", level="full")
    def third(lab: str) -> Verdict:
        return proved()

    known: dict[str, Any] = {
        "name": "toy",
        "title": "A <toy>",
        "reference": "nobody & never",
        "parameters": (),
        "systems": {},
        "protocols": {"run": nothing},
        "book": lambda: book,
        "figures": {
            "1": FigureSpec("one", draw),
            "2": FigureSpec("long", draw, "full"),
            "3": FigureSpec("elsewhere", draw, "never"),
        },
    }
    return Paper(**{**known, **more})


def stand_in(paper: Paper, folder: Path, explorer: bool = False) -> Content:
    """What a report says about a paper with made-up verdicts of every kind: nothing is computed, all texts are real."""
    assert paper.book is not None
    book = paper.book()
    outcomes = [Outcome(claim, _made_up(claim, k), 0.1) for k, claim in enumerate(book) if claim.level == "quick"]
    content = Content(paper, "quick", paper.read_parameters({}), folder, about="symbols", book=book)
    content.outcomes = with_survival(book, outcomes)
    picture = folder / "figure.svg"
    picture.write_text('<svg viewBox="0 0 300 100"><path d="M0 0L300 100" stroke="black"/></svg>')
    drawn = {id: figure.title for id, figure in paper.figures.items() if figure.level != "never"}
    content.figures = [FigurePart(id, title, (picture,)) for id, title in drawn.items()]
    content.systems = [SystemPart(name, "flow", 80 - k, ("K",), "x' = x") for k, name in enumerate(paper.systems)]
    rows = [{"width": 100 * k, "mean": 0.1 / k, "low": 0.1, "high": 0.2} for k in (1, 2, 3)]
    law = {"value": -0.5, "low": -0.6, "high": -0.4}
    content.comparison = {"what": r"$\|M\|_F$", "seeds": [0, 1], "deviation": rows, "exponent": law}
    content.seconds = {"claims": 1.0}
    if explorer and paper.explorer is not None:
        content.explorer = fragment(paper.explorer(content.parameters))
    return content


def with_long_proofs(content: Content) -> Content:
    """The same with proofs that carry all steps of what they rest on, and parts that carry them once more."""
    assert content.book is not None
    uses, proofs, outcomes = {claim.id: claim.uses for claim in content.book}, {}, []

    def proof_of(id: str) -> Proof:
        if id not in proofs:
            own = [f"step {k} of {id}: what sigma_p s <= {k} says, with d >= n^9 and m_k >= log d" for k in range(4)]
            made = Proof(tuple(own), 7, {"n": "every", "d": "every"}, ("m > 0", "n > 0", "x >= 0"))
            for used in uses.get(id, ()):
                made = proof_of(used) & made
            proofs[id] = made
        return proofs[id]

    for outcome in content.outcomes:
        proof = proof_of(outcome.claim.id)
        verdict = replace(outcome.verdict, proof=proof) if outcome.verdict.as_stated == HOLDS else outcome.verdict
        parts = {name: replace(verdict, parts={}) for name in ("(1)", "(2)", "(3)")}
        outcomes.append(replace(outcome, verdict=replace(verdict, parts=parts)))
    content.outcomes = outcomes
    return content


def _made_up(claim: Claim, k: int) -> Verdict:
    """A verdict with the answer that the book expects."""
    if claim.expect == "fails":
        witness = Witness("at x = 1/2 the left side is 0.031 and the right side 0.008", {"x": "1/2"})
        fixed = refuted(witness).correcting(claim.statement.replace("1", "2"), proved(), "what is used holds")
        return fixed.blaming(FAULTS[k % 4], f"slip-{k // 2}")
    if claim.expect in ("undecided", "untested"):
        return undecided("what is left") if claim.expect == "undecided" else untested("no machine is large enough")
    return (proved(), certified(), measured(True, loss=0.01))[k % 3]
