"""A Coq file for one claim: what it says in a comment, the maps it speaks of, its hypotheses, its statements."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import stated
from ..expr import graph
from ..expr.graph import Node
from ..stated import EQUAL, Argued, Stated, Substituted
from .arguments import Argument, arguments
from .comparisons import SIGNS, assumed_term, compared_term, premises
from .forms import Form, form_nodes, form_term, written_forms
from .handed import as_nodes
from .section import Section
from .steps import Maps, Steps, values_used
from .terms import NotExported, definitions, identifiers

HEAD = "From Coq Require Import Reals Lra.\nFrom Odesys Require Import prelude.\nOpen Scope R_scope.\n"


@dataclass(frozen=True)
class Theory:
    """A file, and how many of its statements are more than two ways to write one expression."""

    text: str
    statements: int
    by_substitution: int
    by_definition: int
    left_out: tuple[str, ...] = ()  # statements that are not in the file, and why


@dataclass
class Side:
    """One side of a statement: an expression, or a map at given arguments."""

    node: Node
    body: Node | None = None
    values: Mapping[Node, Node] = field(default_factory=dict)
    form: Form | None = None  # how it was written, where both sides are one expression

    def nodes(self) -> list[Node]:
        """Everything that is written down for it."""
        return [self.node, *self.values.values(), *(() if self.form is None else form_nodes(self.form))]


def comment(*lines: str) -> str:
    """A comment of Coq; what would end or open one is taken apart."""
    safe = [line.replace("(*", "( *").replace("*)", "* )").replace('"', "''") for line in lines if line]
    wrapped = [part for line in safe for part in textwrap.wrap(line, 112) or [""]]
    return "(* " + "\n   ".join(wrapped) + " *)"


def theory(title: Sequence[str], statements: Sequence[Stated], argued: Sequence[Argued] = ()) -> Theory:
    """The file of statements, proved by scripts; what can not be exported is left out, with the reason."""
    left_out: list[str] = []
    chosen = [as_nodes(each) for each in statements]
    words = arguments(argued)
    theorems = sum(len(each.theorems) for each in words)
    while chosen or words:
        text, counted, problems = _file(title, chosen, words)
        if not problems:
            return Theory(text, len(chosen) + theorems, counted["steps"], counted["same"], tuple(left_out))
        left_out += [f"{chosen[k].name}: {why}" for k, why in problems.items()]
        chosen = [each for k, each in enumerate(chosen) if k not in problems]
    return Theory("", 0, 0, 0, tuple(left_out))


def _file(
    title: Sequence[str], statements: Sequence[Stated], words: Sequence[Argument]
) -> tuple[str, dict[str, Any], dict[int, str]]:
    """The text, what was counted, and which statements have no proof script; then the text is of no use."""
    problems: dict[int, str] = {}
    sides: list[tuple[Side, Side]] = []
    for k, each in enumerate(statements):
        try:
            sides.append(_sides(each))
        except NotExported as error:
            problems[k] = str(error)
    if problems:
        return "", {}, problems
    maps = Maps(side.body for pair in sides for side in pair if side.body is not None)
    roots = [node for pair in sides for side in pair for node in side.nodes()]
    roots += [node for each in statements for x, _, y in each.where for node in (x, y)]
    names = identifiers(graph.symbols(roots) | set(maps.symbols))
    titles = {node: f"{title}, as derived" for node, title in stated.titles.items()}
    texts = [HEAD, comment(*title), maps.text(names, titles)]
    counted: dict[str, Any] = {"steps": 0, "same": 0, "needs": set()}
    proofs: dict[int, str] = {}
    groups = _without_conflict(sides)
    for number, group in enumerate(groups, start=1):
        module = f"phase_{number}." if len(groups) > 1 else ""
        text, failed = _section(statements, sides, group, maps, names, titles, counted)
        problems |= failed
        texts += [f"Module {module}", text, f"End {module}"] if module else [text]
        proofs |= {k: f"{module}claim_{k + 1}" for k in group}
    needs = dict.fromkeys(line for each in words for line in each.needs)
    needs |= {"From Interval Require Import Tactic.": None} if counted["needs"] else {}
    texts[1:1] = [*needs, "Open Scope R_scope.\n"] if needs else []
    texts += [f"\n{each.text}" for each in words]
    all_claims = [*(proofs[k] for k in sorted(proofs)), *(name for each in words for name in each.theorems)]
    texts.append(f"\nDefinition all_claims := ({', '.join(all_claims)}).")
    texts.append("Print Assumptions all_claims.\n")
    return "\n".join(texts), counted, problems


def _without_conflict(sides: Sequence[tuple[Side, Side]]) -> list[list[int]]:
    """Statements by numbers, in groups in which no part is given two values: hypotheses of a group do not clash."""
    groups: list[tuple[dict[Node, Node], list[int]]] = []
    for k, pair in enumerate(sides):
        given = {key: value for side in pair for key, value in side.values.items() if key.op != "sym"}
        for known, group in groups:
            if all(known.get(key, value) is value for key, value in given.items()):
                known.update(given)
                group.append(k)
                break
        else:
            groups.append((given, [k]))
    return [group for _, group in groups]


def _section(
    statements: Sequence[Stated],
    sides: Sequence[tuple[Side, Side]],
    group: Sequence[int],
    maps: Maps,
    names: Mapping[str, str],
    titles: Mapping[Node, str],
    counted: dict[str, Any],
) -> tuple[str, dict[int, str]]:
    """Variables, hypotheses, definitions and theorems of some statements, and which of them have no script."""
    positive = {name for k in group for name in statements[k].positive}
    nonnegative = {name for k in group for name in statements[k].nonnegative} - positive
    roots = [node for k in group for side in sides[k] for node in side.nodes()]
    roots += [node for k in group for x, _, y in statements[k].where for node in (x, y)]
    used = sorted(graph.symbols(roots) | set(maps.symbols))
    writer, bodies = definitions(roots, names)
    section = Section(writer, positive, nonnegative)
    main: list[str] = []
    problems: dict[int, str] = {}
    counted["by values"] = {}
    for k in group:
        try:
            main.append(_statement(section, maps, k + 1, statements[k], sides[k], counted))
        except NotExported as error:
            problems[k] = str(error)
    counted["needs"] |= section.needs
    texts = ["Section statements."]
    if used:
        texts.append(f"Variables {' '.join(names[name] for name in used)} : R.")
    texts += [f"Hypothesis {names[n]}_positive : 0 < {names[n]}." for n in used if n in positive]
    texts += [f"Hypothesis {names[n]}_not_negative : 0 <= {names[n]}." for n in used if n in nonnegative]
    for node, body in bodies:
        texts += [f"(* {titles[node]} *)"] if node in titles else []
        texts.append(f"Definition {writer.names[node]} : R := {body}.")
    texts += [f"Hypothesis {name} : {fact}." for name, fact in section.hypotheses.items()]
    return "\n".join([*texts, *main, "End statements."]), problems


def _sides(each: Stated) -> tuple[Side, Side]:
    if each.residual:
        raise NotExported(f"the claim hands over only a difference that vanishes ({each.name}), not its two sides")
    if each.values:
        values = dict(each.values)
        first, second = graph.substitute([each.left, each.right], values)
        left, right = (
            _made(node, Substituted(root, values)) for node, root in ((first, each.left), (second, each.right))
        )
        return left, right
    left, right = (_made(node, stated.origins.get(node)) for node in (each.left, each.right))
    if each.left is each.right:
        right = Side(each.right)  # one side is shown as it was made, the other as it is
        if left.body is None:
            return _as_written(each.left)
    return left, right


def _as_written(node: Node) -> tuple[Side, Side]:
    """Two sides that are one expression, as they were written last; a right-hand side of a system stands as it is."""
    found = written_forms(node)
    if node in stated.titles and found:
        return Side(node), Side(node, form=found[-1])
    if len(found) < 2:  # both were written in one way, or one of them was not written
        return Side(node), Side(node)
    return Side(node, form=found[-2]), Side(node, form=found[-1])


def _made(node: Node, origin: Substituted | None) -> Side:
    """A side with the map and the values that made it, where these are known."""
    values = {} if origin is None else values_used(origin)
    if origin is None or origin.root is node or origin.root.op in ("num", "sym"):
        return Side(node)
    return Side(node, origin.root, values)


def _statement(
    section: Section, maps: Maps, k: int, each: Stated, pair: tuple[Side, Side], counted: dict[str, Any]
) -> str:
    """Both sides as definitions, the lemmas a proof needs, and the theorem."""
    texts, proofs = [], []
    for side in pair:
        if side.form is not None:
            text, proof = form_term(section, side.form, side.node)
            texts.append(text)
            proofs.append(proof)
        elif side.body is None:
            texts.append(section.writer(side.node))
            proofs.append("eq_refl")
        else:
            key = tuple(side.values.items())
            if key not in counted["by values"]:
                counted["by values"][key] = Steps(section, maps, side.values)
            steps = counted["by values"][key]
            texts.append(steps.text(side.body))
            proofs.append(steps.proof(side.body))
            counted["steps"] += 1
    zero = pair[0].node is graph.ZERO and each.relation != EQUAL
    if each.relation != EQUAL:
        assumed = premises(section, each)
        relation, (left, right) = SIGNS[each.relation], (side.node for side in pair)
        first, second = ("0" if zero else f"left_{k}"), f"right_{k}"
        theorem = " -> ".join([*assumed, f"{first} {relation} {second}"])
        if assumed:
            middle = assumed_term(section, each, left, right, assumed)
            middle = f"({' '.join([middle, *(f'W{j}' for j in range(len(assumed)))])})"
        else:
            middle = compared_term(section, left, right, each.relation)
        moved = f"(eq_ind_r (fun other__ => {section.writer(left)} {relation} other__) {middle} {proofs[1]})"
        if not zero:
            moved = f"(eq_ind_r (fun one__ => one__ {relation} right_{k}) {moved} {proofs[0]})"
        proof = f"{''.join(f'intro W{j}. ' for j in range(len(assumed)))}exact {moved}."
    else:
        between = equal_term(section, pair[0].node, pair[1].node)
        theorem = f"left_{k} = right_{k}"
        proof = f"exact (eq_trans {proofs[0]} (eq_trans {between} (eq_sym {proofs[1]})))."
        one = pair[0].node is pair[1].node and pair[0].body is None is pair[1].body
        if one and _words(texts[0]) == _words(texts[1]):
            counted["same"] += 1
    lemmas, section.lemmas = section.lemmas, []
    shown = [f"Definition right_{k} : R := {texts[1]}."]
    if not zero:
        shown.insert(0, f"Definition left_{k} : R := {texts[0]}.")
    return "\n".join(
        ["", comment(f"{k}. {each.name}"), *shown, *lemmas, f"Theorem claim_{k} : {theorem}.", f"Proof. {proof} Qed."]
    )


def _words(text: str) -> list[str]:
    """What a term is made of, in any order: sides that differ in order, brackets and quotients by numbers are one.

    >>> _words("(1 / 3) * (x + y)") == _words("(y + x) / 3"), _words("x * x") == _words("x ^ 2")
    (True, False)
    """
    found = re.findall(r"[\w']+|[-+^]", text.replace(" - ", " + - "))
    return sorted(word for word in found if word != "1")


def equal_term(section: Section, left: Node, right: Node) -> str:
    """A proof term of an equality: by algebra with closed functions, else with the relations between them."""
    term = section.equality(left, right)
    if term is None:
        from .relations import related_term

        term = related_term(section, left, right)
    return term
