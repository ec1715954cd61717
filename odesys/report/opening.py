"""The first screen of a page: do the theorems stand, the verdict bar, four numbers, and what to change, severest first.

Every sentence is put together from verdicts, faults and causes; none is typed for a paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ..papers.claims import Claim, Outcome
from ..papers.survival import FALLS, OPEN, STANDS, causes, score, standing_so_far
from ..sentences import say_answer
from ..verdicts import FAILS, FAULTS, HOLDS, UNDECIDED, UNTESTED, Evidence
from .claim_entry import ClaimEntry, claim_entries
from .content import Content
from .formula_lines import formula_lines, signs
from .short_change import short_change

NAMED = 4  # theorems that are named in one breath
SHOWN_NUMBERS = 4
LINE, LINES, MOST_LINES = 28, 1, 3  # signs and lines of a formula in the list of changes; lines for a main theorem
FAULT_NAMES = {
    "false": ("false statement", "false statements"),
    "proof": ("step of a proof", "steps of proofs"),
    "constant": ("constant", "constants"),
    "misprint": ("misprint", "misprints"),
}


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "claim"), counted(2, "claim")
    ('1 claim', '2 claims')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(words: Sequence[str]) -> str:
    """Words with commas and an ``and``.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


# ---- the headline ----------------------------------------------------------------------------------------------------


def headline(content: Content) -> str:
    """Whether the main theorems stand, and what needs a change; important words between pairs of asterisks."""
    if content.book is None or not content.outcomes:
        return "No statement of this paper is registered."
    return " ".join(filter(None, (theorems(content), _changes(content), _left_open(content))))


def place(claim: Claim) -> str:
    """What a claim is called in a sentence: Theorem 4.1; its id where it has no place of its own."""
    name = claim.where.split(",")[0].split(";")[0].strip()
    known = name.startswith(("Theorem", "Proposition", "Corollary", "Lemma"))
    return name if known else claim.id


def theorems(content: Content) -> str:
    """The main theorems by how they stand; the last ones of the proof first."""
    assert content.book is not None
    graph = content.book.proof_graph()
    found = {outcome.claim.id: outcome.stands for outcome in content.outcomes}
    mains = sorted((claim for claim in content.book if claim.main), key=lambda claim: _above(graph, claim.id))
    by_word: dict[str | None, list[str]] = {}
    for claim in mains:
        by_word.setdefault(found.get(claim.id), []).append(place(claim))
    unknown = by_word.pop(None, [])
    said = "; ".join(_stand(names, word, len(mains)) for word, names in by_word.items())
    said = f"{said[0].upper()}{said[1:]}." if said else ""
    return " ".join(filter(None, (said, _unknown(content, unknown, len(mains)) if unknown else "")))


def _unknown(content: Content, names: Sequence[str], total: int) -> str:
    """What is known about theorems below which something did not run: what it takes, and what the rest says."""
    assert content.book is not None
    answers = [so_far for so_far in standing_so_far(content.book, content.outcomes).values() if so_far.missing]
    unrun = {id for so_far in answers for id in so_far.missing}
    words, several = [so_far.word for so_far in answers], len(names) > 1
    worst = max(words, key=STANDS.index)
    which = f"{words.count(worst)} of them" if several else "it"
    subject = f"{len(names)} of {total} main theorems" if len(names) > NAMED else listed(names)
    tells = {
        FALLS: f"what was checked so far brings {which} down",
        OPEN: f"what was checked so far leaves {which} open",
    }.get(worst, f"nothing that was checked so far brings {'one of them' if several else 'it'} down")
    long_checks = counted(len(unrun), "long check")
    return f"Whether {subject} stand{'' if several else 's'} takes {long_checks} more (level full); {tells}."


def _above(graph: object, id: str) -> int:
    import networkx as nx

    return len(nx.descendants(graph, id))


def _stand(names: Sequence[str], word: str | None, total: int) -> str:
    """How some theorems stand, in words."""
    several = len(names) > 1
    if len(names) > NAMED:
        subject = f"{len(names)} of {total} main theorems" if len(names) < total else f"all {total} main theorems"
    else:
        subject = listed(names)
    if word == OPEN:
        return f"{subject} {'are' if several else 'is'} **open**"
    if word == FALLS:
        return f"{subject} **{'fall' if several else 'falls'}** as printed"
    return f"{subject} **{'stand' if several else 'stands'}** {word}"


def _changes(content: Content) -> str:
    counts = score(content.outcomes)
    failing = [o for o in content.outcomes if o.claim.scored and o.verdict.as_stated == FAILS]
    total = counted(counts["claims"], "statement")
    of = f"Of {total} of the paper checked here, **{counts.get(HOLDS, 0)} hold** as printed"
    if not failing:
        return f"{of}; nothing needs a change."
    by_fault = Counter(outcome.verdict.fault for outcome in failing)  # as the verdict bar counts them
    kinds = [counted(by_fault[fault], *FAULT_NAMES[fault]) for fault in reversed(FAULTS) if by_fault[fault]]
    kinds += [f"{by_fault['']} not yet classified"] if by_fault[""] else []
    text = f"{of} and **{len(failing)} need{'s' if len(failing) == 1 else ''} a change**: {listed(kinds)}"
    slips = counts["causes"] + by_fault[""]
    cause = "causes" if slips == 1 else "cause"
    text += f" ({counted(slips, 'slip')} {cause} them)" if slips != len(failing) else ""
    return f"{text}; {_mended(failing)}."


def _mended(failing: Sequence[Outcome]) -> str:
    fixed = [o.verdict.corrected for o in failing if o.verdict.corrected and o.verdict.corrected.as_stated == HOLDS]
    proved = sum(each.evidence == Evidence.PROOF for each in fixed)
    if not fixed:
        return "no form that holds instead was found"
    if len(failing) == 1:
        return f"a form that holds instead is {'proved' if proved else 'given'}"
    which = "each has a form" if len(fixed) == len(failing) else f"for {len(fixed)} of them there is a form"
    return f"{which} that holds instead{f', {proved} of these proved' if proved else ''}"


def _left_open(content: Content) -> str:
    counts = score(content.outcomes)
    left = [f"{counts[word]} {said}" for word, said in ((UNDECIDED, "undecided"), (UNTESTED, "out of reach of a test"))
            if counts.get(word)]  # fmt: skip
    text = f"{listed(left).capitalize()}." if left else ""
    unrun = sum(claim.scored for claim in content.not_run)
    rest = f"{counted(unrun, 'long check')} of level full {'was' if unrun == 1 else 'were'} not run." if unrun else ""
    return " ".join(filter(None, (text, rest)))


# ---- the verdict bar -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Segment:
    """A piece of the verdict bar: its kind, a letter for those who see no colour, a word, and how many there are."""

    kind: str
    letter: str
    word: str
    count: int


SEGMENTS = (
    ("proof", "P", "proof"),
    ("certificate", "C", "certificate"),
    ("measurement", "M", "measured"),
    *((f"fails f-{fault}", "✗", "step" if fault == "proof" else fault) for fault in reversed(FAULTS)),
    ("fails f-", "✗", "fails"),
    ("undecided", "?", "undecided"),
    ("untested", "–", "untested"),
    ("unrun", "·", "not run"),
)


_SAYS = {
    "proof": "holds, by proof",
    "certificate": "holds, by certificate",
    "measurement": "holds, as measured",
    "fails f-false": "false",
    "fails f-proof": "a step of a proof fails",
    "fails f-constant": "a constant",
    "fails f-misprint": "a misprint",
}


def bar_legend(kinds: AbstractSet[str]) -> list[tuple[str, str, str]]:
    """Of these kinds of pieces: the kind, its letter, what it means.

    >>> bar_legend({"undecided", "proof"})
    [('proof', 'P', 'holds, by proof'), ('undecided', '?', 'undecided')]
    """
    return [(kind, letter, _SAYS.get(kind, word)) for kind, letter, word in SEGMENTS if kind in kinds]


def verdict_bar(entries: Sequence[ClaimEntry]) -> list[Segment]:
    """The statements of the paper by answer: what holds by its evidence, what fails by its fault."""
    kinds = [_kind(entry) for entry in entries if entry.claim.scored]
    found = [Segment(kind, letter, word, kinds.count(kind)) for kind, letter, word in SEGMENTS]
    return [segment for segment in found if segment.count]


def _kind(entry: ClaimEntry) -> str:
    if entry.outcome is None:
        return "unrun"
    if entry.word == HOLDS:
        return entry.evidence
    return f"fails f-{entry.outcome.verdict.fault}" if entry.word == FAILS else entry.word


# ---- four numbers ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A number worth showing: what it is, an exponent above it where it has one, and what it says."""

    value: str
    says: str
    power: str = ""


def numbers(content: Content) -> list[Figure]:
    """At most four: sizes, law of the width, symbols, drift; then what was proved, switches and networks."""
    found = [
        *sizes(content),
        *_law(content),
        *symbols(content),
        *_drift(content),
        *_proved(content),
        *_switches(content),
        *_networks(content),
    ]
    return found[:SHOWN_NUMBERS]


def sizes(content: Content) -> list[Figure]:
    """Numbers of equations: the whole system (where none is called so, the largest), the quotient, the smallest."""
    known = {part.name: part.dimension for part in content.systems if part.dimension}
    if not known:
        return []
    chain = [
        "full" if "full" in known else max(known, key=lambda name: known[name]),
        *(["quotient"] if "quotient" in known else []),
    ]
    chain += [min(known, key=lambda name: known[name])]
    shown = [name for k, name in enumerate(chain) if known[name] not in [known[other] for other in chain[:k]]]
    which = "" if len(shown) == 1 else f": {', '.join(name.replace('_', ' ') for name in shown)}"
    return [Figure(" → ".join(f"{known[name]:,}" for name in shown), f"equations{which}")]


def _law(content: Content) -> list[Figure]:
    law = content.comparison.get("exponent") if content.comparison else None
    if not law:
        return []
    low, high = (f"{law[end]:.2f}".replace("-", "−") for end in ("low", "high"))
    says = f"distance of networks to the theory; 95 % interval {low} to {high}"
    return [Figure("width", says, f"{law['value']:.2f}".replace("-", "−"))]


def symbols(content: Content) -> list[Figure]:
    """Parameters for whose every value there is one system."""
    free = [p for p in content.paper.parameters if "symbol" in p.words]
    return [Figure(f"every {p.name}", f"one system for all: {p.help}") for p in free[:1]]


def _drift(content: Content) -> list[Figure]:
    drift = content.simulation.get("invariant_drift") if content.simulation else None
    if not drift:
        return []
    mantissa, _, power = f"{drift:.0e}".partition("e")
    return [
        Figure(
            f"{mantissa} × 10",
            "largest drift of the conserved quantities in the run",
            str(int(power)).replace("-", "−"),
        )
    ]


def _proved(content: Content) -> list[Figure]:
    counted_ones = [o for o in content.outcomes if o.claim.scored]
    strong = sum(o.verdict.evidence > Evidence.MEASUREMENT for o in counted_ones)
    return [Figure(f"{strong} of {len(counted_ones)}", "statements settled by proof or certificate")] if strong else []


def _switches(content: Content) -> list[Figure]:
    events = (content.simulation or {}).get("events", ())
    kinds = {kind: sum(event["kind"] == kind for event in events) for kind in ("switch", "slide")}
    if not any(kinds.values()):
        return []
    return [Figure(f"{kinds['switch']} + {kinds['slide']}", "switches of gates, and slides along a kink, in the run")]


def _networks(content: Content) -> list[Figure]:
    found = content.comparison or {}
    count = len(found.get("seeds", ())) * len(found.get("deviation", ()))
    return [Figure(f"{count}", "runs of networks, in their weights, compared with the theory")] if count else []


# ---- what to change --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One slip of the paper: its fault, the claims it shows in, and, where that is short, what changes in the first.

    Where all of them stand under a severer slip already, `second` says what this one is.
    """

    cause: str
    fault: str
    entries: tuple[ClaimEntry, ...]
    pieces: tuple[str, str] | None = None
    second: str = ""

    @property
    def first(self) -> ClaimEntry:
        """The claim it shows in first."""
        return self.entries[0]

    @property
    def short_pieces(self) -> tuple[str, str] | None:
        """What changes, where both pieces stand on one line of the list."""
        return self.pieces if self.pieces and signs("".join(self.pieces)) <= LINE - 2 else None

    @property
    def instead(self) -> list[str]:
        """What holds instead, as lines of a formula: where it is short, of a main theorem in a few lines."""
        fixed = self.first.verdict.corrected if self.first.verdict is not None else None
        if self.second or fixed is None or fixed.as_stated != HOLDS:
            return []
        lines = formula_lines(fixed.statement, LINE)
        short = len(lines) <= LINES and max(map(signs, lines)) <= LINE
        return lines if short or (self.first.claim.main and len(lines) <= MOST_LINES) else []


def changes(content: Content) -> list[Change]:
    """Slips of the paper, severest first; the card of a claim stands under its severest one."""
    entries, placed = {entry.claim.id: entry for entry in claim_entries(content)}, set[str]()
    found = []
    for by_cause in causes(content.outcomes).values():
        for cause, outcomes in by_cause.items():
            found.append(_change(cause, outcomes, placed, entries))
            placed |= {o.claim.id for o in outcomes}
    found.sort(key=lambda change: FAULTS.index(change.fault), reverse=True)
    other = [e for e in entries.values() if e.claim.scored and e.word == FAILS and e.claim.id not in placed]
    return found + [Change(entry.claim.id, "", (entry,), _pieces(entry)) for entry in other]


def _change(cause: str, outcomes: Sequence[Outcome], placed: set[str], entries: dict[str, ClaimEntry]) -> Change:
    """Under the severest fault of the displays that are shown here."""
    new = [o for o in outcomes if o.claim.id not in placed]
    fault = max((o.verdict.fault for o in new or outcomes), key=FAULTS.index)
    shown = tuple(entries[o.claim.id] for o in new or outcomes)
    if not new:
        return Change(cause, fault, shown, second=say_answer(outcomes[0].verdict))
    return Change(cause, fault, shown, _pieces(shown[0]))


def _pieces(entry: ClaimEntry) -> tuple[str, str] | None:
    fixed = entry.verdict.corrected if entry.verdict is not None else None
    return short_change(entry.claim.statement, fixed.statement) if fixed is not None else None
