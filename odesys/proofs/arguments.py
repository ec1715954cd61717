"""Arguments that a claim hands over in Coq: theorems with their proofs, about expressions of the check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..expr import graph
from ..stated import Argued
from .handed import as_node
from .terms import NotExported, Writer, identifiers

IMPORT = re.compile(r"^From .*\.$\n?", re.M)
THEOREM = re.compile(r"^Theorem (\w+)", re.M)
SET_ASIDE = re.compile(r"\b(Admitted|Axiom|Parameter|Conjecture|Abort)\b")


@dataclass(frozen=True)
class Argument:
    """A module of a file: its text, the libraries it needs, and its theorems."""

    text: str
    needs: tuple[str, ...]
    theorems: tuple[str, ...]


def argument(number: int, each: Argued) -> Argument:
    """Definitions from the expressions of a claim, then its theorems.

    >>> one = argument(1, Argued("Theorem above : 0 < three. Proof. unfold three; lra. Qed.", (("three", (), 3),)))
    >>> print(one.text, one.theorems)
    Module argument_1.
    Definition three : R := 3.
    Theorem above : 0 < three. Proof. unfold three; lra. Qed.
    End argument_1. ('argument_1.above',)
    """
    module, body = f"argument_{number}", IMPORT.sub("", each.text).strip()
    theorems = THEOREM.findall(body)
    plain = re.sub(r"\(\*.*?\*\)", "", body, flags=re.S)
    if SET_ASIDE.search(plain) or not theorems:
        raise NotExported("an argument without theorems, or with one that is not proved")
    unused = [name for name, _, _ in each.definitions if not re.search(rf"\b{name}\b", plain)]
    if unused:
        raise NotExported(f"an argument that does not speak of {', '.join(unused)}")
    lines = [definition(name, symbols, value) for name, symbols, value in each.definitions]
    text = "\n".join([f"Module {module}.", *lines, body, f"End {module}."])
    needs = tuple(line.strip() for line in IMPORT.findall(each.text))
    return Argument(text, needs, tuple(f"{module}.{name}" for name in theorems))


def definition(name: str, symbols: Sequence[str], value: object) -> str:
    """An expression as a function of its symbols.

    >>> definition("area", ("a", "b"), graph.sym("a") * graph.sym("b"))
    'Definition area (a b : R) : R := (a * b).'
    """
    node = as_node(value)
    strange = graph.symbols([node]) - set(symbols)
    if strange:
        raise NotExported(f"{name} depends on {', '.join(sorted(strange))}, too")
    names = identifiers(symbols)
    quantified = f" ({' '.join(names[each] for each in symbols)} : R)" if symbols else ""
    return f"Definition {name}{quantified} : R := {Writer(names)(node)}."


def arguments(handed: Iterable[Argued]) -> list[Argument]:
    """All arguments of a claim, each once."""
    return [argument(k, each) for k, each in enumerate(dict.fromkeys(handed), start=1)]
