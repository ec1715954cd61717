"""Claim and ClaimBook: every lemma of a paper as data with a check attached, run into verdicts.

A check receives a laboratory, the paper's systems behind one object, so that the same check can be run on systems
broken on purpose; what the book expects only sets the exit code and is never copied into a verdict. A book with
``rule=True`` is under the verdict rule: what `odesys.papers.rule` does not admit is refused.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import OdesysError
from ..shortening import shortened, some
from ..verdicts import ANSWERS, HOLDS, Regime, Verdict
from . import rule as verdict_rule
from .hypotheses import Hypothesis, Symbol, natural_hypotheses

if TYPE_CHECKING:
    import networkx as nx

    from .laboratory import Part
    from .mutation import Mutation
    from .proof_files import ProofCheck

KINDS = ("identity", "inequality", "order", "probability", "existence", "definition", "condition")
NOT_JUDGED = ("definition", "condition")  # neither true nor false: out of every score
ORIGINS = ("statement", "proof", "text", "ours")
SOURCES = ("clear", "damaged")
LEVELS = ("quick", "full")

Check = Callable[[Any], "Verdict | Mapping[str, Verdict]"]
C = TypeVar("C", bound=Check)
Writer = Callable[["Path"], None]


class ClaimError(OdesysError):
    """A claim is registered wrongly or asked for by a name that does not exist."""


class CheckError(OdesysError):
    """The check of a claim broke off instead of giving a verdict; `.claim` says which, `.outcomes` what others gave."""

    outcomes: list[Outcome] = []  # noqa: RUF012 (replaced, never filled)


@dataclass(frozen=True, repr=False)
class Claim:
    """One statement of a paper: how it is printed, how it is read, what it rests on, and how it is checked."""

    paper: str
    id: str
    title: str
    kind: str
    statement: str
    reading: str
    check: Check = field(repr=False, compare=False)
    uses: tuple[str, ...] = ()
    expect: str = HOLDS
    same_as: str = ""
    level: str = "quick"
    insensitive: str = ""  # why no mutation can change this verdict: it is not about the system; empty if one can
    origin: str = "statement"  # where it is printed: statement, proof, text; or ours
    where: str = ""  # the place, such as "Lemma E.2, second bullet"
    source: str = "clear"  # or damaged: the text at hand is broken there
    parts: tuple[str, ...] = ()  # bullets, displays: each gets a verdict of its own
    hypotheses: tuple[Hypothesis, ...] | None = None  # None: not said, which the verdict rule refuses
    for_all: tuple[str, ...] = ()  # sizes, such as K, that the statement is about all values of
    repairs: tuple[str, ...] = ()  # failing claims whose use above this claim makes good
    main: bool = False  # a theorem of which a reader wants to know whether it stands

    def __repr__(self) -> str:
        return shortened(f"<Claim {self.paper} {self.id}: {self.title} ({self.kind}, {self.where or self.origin})>")

    def _repr_html_(self) -> str:
        from ..report.cards import claim_card

        return claim_card(self)

    @property
    def judged(self) -> bool:
        """False for definitions and conditions, which are neither true nor false."""
        return self.kind not in NOT_JUDGED

    @property
    def scored(self) -> bool:
        """True if the verdict counts for the paper: printed there, and true or false."""
        return self.judged and self.origin != "ours"


@dataclass(frozen=True)
class Outcome:
    """A claim with its verdict, the seconds it took, and the parts of the laboratory it read (None: not recorded).

    Parameters
    ----------
    claim : Claim
        What was checked.
    verdict : Verdict
        What came out.
    seconds : float
        How long it took.
    reads : frozenset[Part], optional
        Parts of the laboratory that the check used; None if not recorded.
    rests_on_failed : tuple[str, ...], optional
        Ids of failing claims below it.
    stands : str, optional
        Of a main theorem, whether it stands.
    proof_check : ProofCheck, optional
        Of a proof, what a proof assistant says to its file, where proofs were exported.

    Examples
    --------
    >>> from odesys import refuted
    >>> book = ClaimBook("toy", laboratory=dict)
    >>> claim = book.claim("1", "All are equal", kind="identity", statement="a = b", reading="all", expect="fails")
    >>> check = claim(lambda lab: refuted({"a": "0", "b": "1"}))
    >>> outcome = book.run(book["1"])
    >>> outcome.as_expected, outcome.as_json()["witness"]
    (True, {'a': '0', 'b': '1'})
    """

    claim: Claim
    verdict: Verdict
    seconds: float
    reads: frozenset[Part] | None = None
    rests_on_failed: tuple[str, ...] = ()
    stands: str | None = None  # of a main theorem, see `odesys.papers.survival`
    proof_check: ProofCheck | None = None  # of a proof, where proofs were exported

    @property
    def as_expected(self) -> bool:
        """True if the verdict is the one the book expects."""
        return self.verdict.as_stated == self.claim.expect

    def as_json(self) -> dict[str, Any]:
        """The documented fields of ``odesys verify``."""
        claim, verdict = self.claim, self.verdict
        found = verdict.as_json()
        return {
            "paper": claim.paper,
            "id": claim.id,
            "title": claim.title,
            "kind": claim.kind,
            "origin": claim.origin,
            "where": claim.where,
            "source": claim.source,
            "statement": claim.statement,
            "parts": [{"name": name, **part.as_json()} for name, part in verdict.parts.items()],
            "hypotheses": [hypothesis.as_json() for hypothesis in claim.hypotheses or ()],
            "reading": claim.reading,
            "uses": list(claim.uses),
            "same_as": claim.same_as or None,
            "repairs": list(claim.repairs),
            "main": claim.main,
            **found,
            "as_stated": found["as_stated"] if claim.judged else None,
            "rests_on_failed": list(self.rests_on_failed),
            "stands": self.stands,
            "expected": claim.expect,
            "seconds": self.seconds,
            **({"proof_check": self.proof_check.as_json()} if self.proof_check else {}),
        }


class ClaimBook:
    """The claims of one paper in the paper's order.

    Under the verdict rule (`rule`) claims and verdicts that do not keep it are refused. `symbols` is the table of
    symbols with their natural domains; `natural` gives further hypotheses for points with these names, such as that
    self-scores are inner products. `not_yet` has the younger parts of the rule (`odesys.papers.rule.LATER`) that a
    book does not keep yet; ``odesys verify`` says so.

    `laboratory(mutation=...)` gives the paper's systems, broken as the mutation of that name says; `mutations` are by
    default those the laboratory lists. A laboratory may record the parts a check uses in a set `reads` and say with
    `changes(part)` whether its mutation touches a part (`BaseLaboratory` does); then checks that read nothing of what
    is broken are told apart from checks that do not notice it.

    Parameters
    ----------
    paper : str
        The name of the paper.
    laboratory : Callable[..., Any]
        Called with ``mutation=...``, gives the paper's systems.
    reference : str, optional
        Where the paper is printed.
    mutations : Sequence[Mutation], optional
        Ways to break its systems; by default those of the laboratory.
    rule : bool, optional
        Refuse what does not keep the verdict rule.
    symbols : Sequence[Symbol], optional
        The table of symbols with their natural domains.
    natural : Callable[[Collection[str]], Sequence[Hypothesis]], optional
        Further hypotheses for points with certain names.
    not_yet : Sequence[str], optional
        Younger parts of the rule that the book does not keep yet.
    together : Sequence[str], optional
        How the names of those files begin whose claims share runs, so that one process checks all of them.

    Examples
    --------
    >>> from odesys import graph, identity
    >>> book = ClaimBook("toy", laboratory=dict)
    >>> @book.claim("1", "Difference of squares", kind="identity", statement="(a-b)(a+b) = a^2-b^2", reading="all a, b")
    ... def difference_of_squares(lab):
    ...     a, b = graph.sym("a"), graph.sym("b")
    ...     return identity({"difference": (a - b) * (a + b) - a**2 + b**2})
    >>> book.run(book["1"]).verdict.as_stated
    'holds'
    """

    def __init__(
        self,
        paper: str,
        laboratory: Callable[..., Any],
        reference: str = "",
        mutations: Sequence[Mutation] | None = None,
        rule: bool = False,
        symbols: Sequence[Symbol] = (),
        natural: Callable[[Collection[str]], Sequence[Hypothesis]] | None = None,
        not_yet: Sequence[str] = (),
        together: Sequence[str] = (),
    ) -> None:
        for name in not_yet:
            if name not in verdict_rule.LATER:
                raise ClaimError(f"not_yet={name!r} is none of {'; '.join(verdict_rule.LATER)}")
        self.not_yet, self.together = tuple(not_yet), tuple(together)
        self.paper, self.laboratory, self.reference = paper, laboratory, reference
        self.rule, self.symbols, self._natural = rule, {symbol.name: symbol for symbol in symbols}, natural
        listed = getattr(laboratory, "mutations", ()) if mutations is None else mutations
        self.mutations = {mutation.name: mutation.about for mutation in listed}
        self._claims: dict[str, Claim] = {}
        self._unaffected: dict[tuple[str, str], str] = {}
        self.certificates: dict[str, tuple[tuple[str, ...], Callable[[Path], None]]] = {}
        self.derivations: dict[str, Callable[[], str]] = {}

    def __repr__(self) -> str:
        return shortened(f"<ClaimBook {self.paper}: {len(self._claims)} claims ({some(self._claims)})>")

    def _repr_html_(self) -> str:
        from ..report.cards import book_card

        return book_card(self)

    def place(self, claim: Claim) -> str:
        """Where a claim is checked: claims of one place share what is computed once."""
        module = claim.check.__module__ or ""  # there is none where a claim is typed at a prompt
        return "together" if module.rpartition(".")[2].startswith(self.together) else module

    def claim(
        self,
        id: str,
        title: str,
        *,
        kind: str,
        statement: str,
        reading: str,
        uses: Sequence[str] = (),
        expect: str = HOLDS,
        same_as: str = "",
        level: str = "quick",
        insensitive: str = "",
        origin: str = "statement",
        where: str = "",
        source: str = "clear",
        parts: Sequence[str] = (),
        hypotheses: Sequence[Hypothesis] | None = None,
        for_all: Sequence[str] = (),
        repairs: Sequence[str] = (),
        main: bool = False,
    ) -> Callable[[C], C]:
        """Register the decorated function as the check of a claim.

        The check gives a verdict, or with `parts` one for each of them. `insensitive` is for a claim that no mutation
        can change, and says why: it is about numbers, or compares printed formulas with each other. Where a claim
        notices some mutations and keeps its verdict under others, use `unaffected`.

        Parameters
        ----------
        id : str
            As the paper has it; it never changes.
        title : str
            In a few words.
        kind : str
            ``identity``, ``inequality``, ``order``, ``probability``, ``existence``, ``definition`` or ``condition``.
        statement : str
            As it is printed, in TeX.
        reading : str
            One sentence of at most 30 words: which constant, which norm.
        uses : Sequence[str], optional
            Ids of claims that its proof rests on.
        expect : str, optional
            What the book expects; it sets the exit code only.
        same_as : str, optional
            Another id of the same statement.
        level : str, optional
            ``quick`` or ``full``.
        insensitive : str, optional
            Why no mutation can change this verdict.
        origin : str, optional
            ``statement``, ``proof``, ``text`` or ``ours``.
        where : str, optional
            Its place, such as "Lemma E.2, second bullet".
        source : str, optional
            ``clear`` or ``damaged``.
        parts : Sequence[str], optional
            Names of bullets or displays.
        hypotheses : Sequence[Hypothesis], optional
            Under which it is claimed; ``()`` if there are none.
        for_all : Sequence[str], optional
            Sizes, such as K, that it is about all values of.
        repairs : Sequence[str], optional
            Ids of failing claims that it makes good.
        main : bool, optional
            A theorem of which a reader wants to know whether it stands.

        Returns
        -------
        Callable[[C], C]
            A decorator that registers the check.
        """
        checks = (
            ("kind", kind, KINDS),
            ("level", level, LEVELS),
            ("expect", expect, ANSWERS),
            ("origin", origin, ORIGINS),
            ("source", source, SOURCES),
        )
        for word, value, allowed in checks:
            if value not in allowed:
                raise ClaimError(f"the claim {id} has the {word} {value!r}; it is one of {', '.join(allowed)}")
        if id in self._claims:
            raise ClaimError(f"the claim {id} is registered twice")
        if not reading.strip() or not statement.strip():
            raise ClaimError(f"the claim {id} needs a statement and a reading")

        def register(check: C) -> C:
            claim = Claim(
                self.paper,
                id,
                title,
                kind,
                statement,
                reading,
                check,
                tuple(uses),
                expect,
                same_as,
                level,
                insensitive,
                origin,
                where,
                source,
                tuple(parts),
                None if hypotheses is None else tuple(hypotheses),
                tuple(for_all),
                tuple(repairs),
                main,
            )
            if self.rule:
                verdict_rule.admit_claim(claim)
            self._claims[id] = claim
            return check

        return register

    def natural(self, names: Collection[str]) -> list[Hypothesis]:
        """Natural domains of the symbols with these names: what holds at every point that has a meaning."""
        more = self._natural(names) if self._natural is not None else ()
        return [*natural_hypotheses(self.symbols.values(), names), *more]

    def certificate(self, file: str, *ids: str) -> Callable[[Writer], Writer]:
        """Register the decorated function as the writer of a certificate file for these claims."""

        def register(write: Writer) -> Writer:
            if file in self.certificates:
                raise ClaimError(f"the certificate {file} is registered twice")
            self.certificates[file] = tuple(self[id].id for id in ids), write
            return write

        return register

    def derivation(self, file: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
        """Register the decorated function as the text of a Coq file that says where equations come from."""

        def register(text: Callable[[], str]) -> Callable[[], str]:
            if file in self.derivations:
                raise ClaimError(f"the derivation {file} is registered twice")
            self.derivations[file] = text
            return text

        return register

    def unaffected(self, mutations: str, ids: str, reason: str) -> None:
        """State why these claims keep their verdict under these mutations, although they read what is broken.

        Mutations and claims are names with spaces between. A pair that keeps its verdict without a reason makes
        ``odesys verify --mutations`` fail, and so does a reason for a pair that is noticed after all.
        """
        for mutation, id in product(mutations.split(), ids.split()):
            if mutation not in self.mutations:
                raise ClaimError(f"there is no mutation {mutation!r}; there are {', '.join(self.mutations)}")
            if (id, mutation) in self._unaffected:
                raise ClaimError(f"why {mutation} does not affect {self[id].id} is stated twice")
            self._unaffected[self[id].id, mutation] = reason

    @property
    def reasons(self) -> Mapping[tuple[str, str], str]:
        """Why a claim keeps its verdict under a mutation, where the book states it."""
        return dict(self._unaffected)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def ids(self) -> list[str]:
        """Ids of the claims, in the paper's order."""
        return list(self._claims)

    def __len__(self) -> int:
        return len(self._claims)

    def __getitem__(self, id: str) -> Claim:
        if id not in self._claims:
            import difflib

            near = difflib.get_close_matches(id, self._claims, n=3)
            hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(self._claims)}"
            raise ClaimError(f"{self.paper} has no claim {id!r}; {hint}")
        return self._claims[id]

    def select(self, ids: Sequence[str] = (), level: str = "full") -> list[Claim]:
        """The claims asked for; at level ``quick`` those that are marked quick.

        Parameters
        ----------
        ids : Sequence[str], optional
            Of claims; by default all.
        level : str, optional
            ``quick`` leaves out long checks.

        Returns
        -------
        list[Claim]
            In the order asked for.
        """
        chosen = [self[id] for id in ids] if ids else list(self._claims.values())
        return [claim for claim in chosen if ids or level == "full" or claim.level == "quick"]

    def run(self, claim: Claim, **laboratory: Any) -> Outcome:
        """Check one claim in a fresh laboratory, so that no verdict depends on the others.

        `laboratory` is what it is made with: a mutation, another draw of seeds and points.

        Parameters
        ----------
        claim : Claim
            One of the book, as in ``book["E.2"]``.
        **laboratory : Any
            What the laboratory is made with.

        Returns
        -------
        Outcome
            The verdict with its time.
        """
        began, process = time.perf_counter(), os.getpid()
        lab = self.laboratory(**laboratory)
        try:
            verdict = in_parts(_in_process(process, claim.check, lab))
        except (OdesysError, KeyboardInterrupt):  # a sentence about the system: who asked knows whether that is news
            raise
        except BaseException as error:  # a check that ends the process is no check
            where = "".join(f" on {value}" for value in laboratory.values())
            raise CheckError(
                f"the check of {self.paper} {claim.id}{where} broke off: "
                f"{type(error).__name__}{f': {error}' if str(error) else ''}",
                claim=claim.id,
            ) from error
        reads = getattr(lab, "reads", None)
        outcome = Outcome(claim, verdict, time.perf_counter() - began, None if reads is None else frozenset(reads))
        if self.rule and not laboratory.get("mutation"):
            verdict_rule.admit_outcome(outcome, self.natural, self.symbols, self.not_yet)
        if self.rule and claim.judged:  # of a broken system too, so that what it does not change stays the same
            outcome = replace(outcome, verdict=_inside(verdict))
        return outcome

    def proof_graph(self) -> nx.DiGraph:
        """Directed graph of the claims: an edge from what is used to what uses it; a cycle is refused."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from((claim.id, {"title": claim.title, "kind": claim.kind}) for claim in self._claims.values())
        for claim in self._claims.values():
            for used in claim.uses:
                if used not in self._claims:
                    raise ClaimError(f"the claim {claim.id} uses {used!r}, which is not registered")
                graph.add_edge(used, claim.id)
        if not nx.is_directed_acyclic_graph(graph):
            loop = " -> ".join(a for a, _ in nx.find_cycle(graph))
            raise ClaimError(f"the claims use each other in a circle: {loop}")
        for claim in self._claims.values():
            self._check_repairs(claim, graph)
        return graph

    def _check_repairs(self, claim: Claim, graph: nx.DiGraph) -> None:
        """What is repaired exists; a repair of ours does not rest on it (of a printed claim `uses` is the paper's)."""
        import networkx as nx

        for id in claim.repairs:
            if id not in self._claims:
                raise ClaimError(f"the claim {claim.id} repairs {id!r}, which is not registered")
            if claim.origin == "ours" and id in nx.ancestors(graph, claim.id):
                raise ClaimError(f"the claim {claim.id} repairs {id} and rests on it; a repair stands on its own")


def _in_process(process: int, check: Check, lab: Any) -> Verdict | Mapping[str, Verdict]:
    """What a check returns; a copy of the process that it made and left goes no further."""
    try:
        return check(lab)
    finally:
        if os.getpid() != process:
            os._exit(0)


def _inside(verdict: Verdict) -> Verdict:
    """What the rule has admitted, and was not on the way there nor outside, was seen inside the hypotheses."""
    parts = {name: _inside(part) for name, part in verdict.parts.items()}
    return replace(verdict, parts=parts, regime=verdict.regime or Regime())


def in_parts(found: Verdict | Mapping[str, Verdict]) -> Verdict:
    """The verdict of a check: the one it gave, or that of all its parts with each part kept.

    >>> from odesys import measured, proved
    >>> in_parts({"first bullet": proved(), "second bullet": measured(True)}).parts["first bullet"].as_stated
    'holds'
    """
    if isinstance(found, Verdict):
        return found
    if not (isinstance(found, Mapping) and found and all(isinstance(part, Verdict) for part in found.values())):
        raise TypeError(f"it returns {str(found)[:60]}, and not a verdict, or one for each part")
    total = combine_verdicts(found)
    whole = total.proof if all(part.proof is not None for part in found.values()) else None  # else it is of parts only
    return replace(total, parts=dict(found), details=_details_of(found), proof=whole)


def _details_of(parts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Details of all parts; where two have another value under one name, each says which part it is of."""
    found: dict[str, Any] = {}
    for part, verdict in parts.items():
        for name, value in verdict.details.items():
            others = [other.details[name] for other in parts.values() if name in other.details]
            alike = all(repr(other) == repr(value) for other in others)
            found[name if alike else f"{part}: {name}"] = value
    return {name: value for name, value in found.items() if name != "parts" and not name.endswith(": parts")}


def combine_verdicts(parts: Mapping[str, Verdict]) -> Verdict:
    """One verdict for a claim in parts ``a``, ``b``, ...; each part's own answer is kept in the details.

    Parameters
    ----------
    parts : Mapping[str, Verdict]
        A verdict for each part.

    Returns
    -------
    Verdict
        One verdict for all of them.

    Examples
    --------
    >>> from odesys import measured, proved
    >>> both = combine_verdicts({"algebra": proved(), "run": measured(True, loss=0.1)})
    >>> both.as_stated, str(both.evidence), both.details
    ('holds', 'measurement', {'loss': 0.1, 'parts': {'algebra': 'holds (proof)', 'run': 'holds (measurement)'}})
    """
    names = list(parts)
    total = parts[names[0]]
    for name in names[1:]:
        total = total & parts[name]
    summary = {name: f"{v.as_stated} ({v.evidence})" for name, v in parts.items()}
    return total.adding(parts=summary)
