"""Proofs as a page says them: each step in full once, and where it was said before by its number in that card.

A proof that uses a lemma carries the steps of the lemma, so that written out a late claim would repeat all before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..sentences import say_answer, say_proof, say_where
from ..verdicts import HOLDS, Verdict
from .claim_entry import ClaimEntry

SHORT = 260  # characters of an answer that is said in full where a card is open
WORTH = 120  # characters of steps in a row that are said by their numbers in another card


@dataclass(frozen=True)
class Block:
    """Steps in a row: in full, or those from number `there` on in the card of another claim."""

    first: int
    steps: tuple[str, ...]
    id: str = ""
    there: int = 0

    @property
    def says(self) -> str:
        """The numbers here and there, in words.

        >>> Block(8, ("a", "b", "c"), "E.2", 1).says
        '8 to 10: steps 1 to 3 of'
        """
        more = len(self.steps) - 1
        return f"{_say_run(self.first, self.first + more)}: {_say_numbers(range(self.there, self.there + more + 1))} of"


@dataclass(frozen=True)
class ProofSteps:
    """The proof of a claim, with steps that are numbered through, and what it is for."""

    blocks: tuple[Block, ...]
    numbers: Mapping[str, int]
    end: str


def short_answer(verdict: Verdict) -> str:
    """Why a verdict is what it is; of a long proof the number of its steps and what it is for."""
    said, proof = say_answer(verdict), verdict.proof
    if verdict.as_stated != HOLDS or len(said) <= SHORT or proof is None or not proof.steps:
        return said
    rest = say_answer(replace(verdict, proof=replace(proof, steps=(), assumed=())))
    count = f"in {len(proof.steps)} steps, which stand below" if len(proof.steps) > 1 else "as said below"
    return "; ".join(filter(None, (f"by {verdict.evidence}, {count}", rest)))


def says_where(verdict: Verdict) -> bool:
    """True if the short answer says where it was seen."""
    return verdict.as_stated == HOLDS and short_answer(verdict).endswith(say_where(verdict))


def part_answer(part: Verdict, whole: Verdict, proof: ProofSteps | None) -> str:
    """Why a part of a claim is what it is: steps of the proof by their numbers, and not again what the whole says."""
    said, steps = say_answer(part), part.proof.steps if part.proof else ()
    if part.as_stated != HOLDS or len(said) <= SHORT:
        return said
    by = ""
    if proof is not None and part.proof and steps and set(steps) <= proof.numbers.keys():
        by = f"by {_say_numbers([proof.numbers[step] for step in steps])} below"
        said = say_answer(replace(part, proof=replace(part.proof, steps=(), assumed=())))
    known = set(short_answer(whole).split("; "))
    fresh = [piece for piece in said.split("; ") if piece not in known]
    again = "" if by or len(fresh) == len(said.split("; ")) else "seen where the whole was"
    return "; ".join(filter(None, (by, *fresh, again)))


def proof_steps(entries: Mapping[str, ClaimEntry]) -> dict[str, ProofSteps]:
    """The proofs of all claims that have one, or a part with one, unless the short answer says all of it."""
    found: dict[str, ProofSteps] = {}
    places: dict[str, tuple[str, int]] = {}  # of steps that were said in full
    for id in _used_first(entries):
        verdict = entries[id].verdict
        if verdict is not None and not _says_all(verdict):
            numbers = {step: k for k, step in enumerate(_steps(verdict), 1)}
            blocks = _blocks(numbers, places)
            for block in blocks:
                if not block.id:
                    places |= {step: (id, numbers[step]) for step in block.steps if step not in places}
            found[id] = ProofSteps(blocks, numbers, _end(verdict))
    return found


def _says_all(verdict: Verdict) -> bool:
    """True if the short answer says the whole proof, or there is none."""
    said = verdict.as_stated == HOLDS and short_answer(verdict).startswith(say_proof(verdict))
    return (said or not say_proof(verdict)) and len(_steps(verdict)) == len(_steps(replace(verdict, parts={})))


def _blocks(numbers: Mapping[str, int], places: Mapping[str, tuple[str, int]]) -> tuple[Block, ...]:
    """Runs of steps that stand one behind the other in another card, where they are long enough, and all others."""
    runs: list[Block] = []
    for step, number in numbers.items():
        id, there = places.get(step, ("", 0))
        last = runs[-1] if runs else None
        if last is not None and last.id == id and (not id or last.there + len(last.steps) == there):
            runs[-1] = replace(last, steps=(*last.steps, step))
        else:
            runs.append(Block(number, (step,), id, there))
    made: list[Block] = []
    for run in runs:
        short = run if sum(map(len, run.steps)) >= WORTH else replace(run, id="", there=0)
        if made and not made[-1].id and not short.id:
            made[-1] = replace(made[-1], steps=(*made[-1].steps, *short.steps))
        else:
            made.append(short)
    return tuple(made)


def _used_first(entries: Mapping[str, ClaimEntry]) -> list[str]:
    """The ids, each behind those that its claim rests on, else in the order of the book."""
    found: dict[str, None] = {}
    open_ids = list(entries)[::-1]
    while open_ids:
        fresh = [used for used in entries[open_ids[-1]].claim.uses if used in entries and used not in found]
        if fresh and open_ids[-1] not in found:
            open_ids += fresh
        else:
            found[open_ids.pop()] = None
    return list(found)


def _steps(verdict: Verdict) -> tuple[str, ...]:
    """The steps of a proof and of those of its parts, each once."""
    proofs = [each.proof for each in (verdict, *verdict.parts.values()) if each.proof]
    return tuple(dict.fromkeys(step for proof in proofs for step in proof.steps))


def _end(verdict: Verdict) -> str:
    """What a proof is for, without its steps."""
    proof = verdict.proof
    return say_proof(replace(verdict, proof=replace(proof, steps=(), assumed=_grouped(proof.assumed)))) if proof else ""


def _grouped(assumed: Sequence[str]) -> tuple[str, ...]:
    """Assumptions with names under the same sign together.

    >>> _grouped(["a > 0", "b >= 0", "c > 0", "a < b"])
    ('a, c > 0', 'b >= 0', 'a < b')
    """
    names: dict[str, list[str]] = {}
    for each in assumed:
        name, _, end = each.partition(" ")
        names.setdefault(end if end in ("> 0", ">= 0", "< 0") else each, []).append(name)
    return tuple(f"{', '.join(found)} {end}" if end[:1] in "<>" else end for end, found in names.items())


def _say_numbers(numbers: Sequence[int]) -> str:
    """Numbers of steps in words, runs of them by their ends.

    >>> _say_numbers([1, 2, 3, 7]), _say_numbers([4]), _say_numbers([1, 2, 3, 5, 9])
    ('steps 1 to 3 and 7', 'step 4', 'steps 1 to 3, 5 and 9')
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    said = [_say_run(first, last) for first, last in runs]
    listed = " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))
    return f"{'step' if len(set(numbers)) == 1 else 'steps'} {listed}"


def _say_run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} {'and' if last == first + 1 else 'to'} {last}"
