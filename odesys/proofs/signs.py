"""Inequalities: signs that can be read off, or coefficients of one sign after :math:`e^x = 1 + u` for positive x."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..exact.expansion import Expansion, TooLarge
from ..exact.rewriting import Rewriter
from ..expr import graph
from ..expr.graph import ONE, Node
from .relations import atoms_of, divisors_of
from .section import Section
from .terms import NotExported, Writer, number

LIMIT = 100_000


def positive_term(section: Section, node: Node, weak: bool = False) -> str:
    """A proof term of ``0 < node``, or of ``0 <= node``."""
    text = section.writer(node)
    if node.op == "num":
        return section.lemma(f"0 {'<=' if weak else '<'} {text}", "lra.", "p")
    if section.is_positive(node) and "sigmoid" not in text:
        found = section.lemma(f"0 < {text}", f"{section.opened(node)}pos.", "p")
        return f"(Rlt_le _ _ {found})" if weak else found
    return _by_coefficients(section, node, weak)


def _by_coefficients(section: Section, node: Node, weak: bool) -> str:
    """Over one denominator, with coefficients of one sign above and below."""
    found = atoms_of(section, [node])
    rewriter = Rewriter(section.positive)
    (root,) = rewriter([node])
    shifts: dict[Node, Node] = {}
    names: dict[Node, str] = {}
    known, facts = list(found.known), list(found.facts)
    extra: list[str] = []
    values: list[str] = []
    real = {(kind, argument): atom for atom, (kind, argument) in rewriter.meaning.items()}
    for (kind, argument), atom in real.items():
        actual = next((a for a in found.inside if a.op == kind and a.args[0] is argument), None)
        if actual is None:
            raise NotExported("a function that is not known to the lemma")
        if kind == "exp" and section.is_positive(argument):
            grown, name = graph.sym(f"{atom.args[0]}-1"), f"u{len(extra)}"
            shifts[atom] = ONE + grown
            names[grown] = name
            text = section.writer(argument)
            fact = section.lemma(f"0 < {text}", f"{section.opened(argument)}pos.", "p")
            extra.append(name)
            values.append(f"(exp {text} - 1)")
            known += [f"{found.inside[actual]} = 1 + {name}", f"0 < {name}"]
            facts += [f"(one_and_rest (exp {text}))", f"(exp_above_one _ {fact})"]
        else:
            names[atom] = found.inside[actual]
            if kind == "step":
                known.append(f"0 <= {found.inside[actual]}")
                facts.append(f"(step_not_negative {section.writer(argument)})")
    try:
        quotient = Expansion(graph.substitute([root], shifts)[0], rewriter.relations, None, LIMIT)
    except (TooLarge, ZeroDivisionError):
        raise NotExported("an inequality with too many terms") from None
    above, below = ([*quotient.terms(part)] for part in quotient.lowest_terms())
    if above and above[0][0] < 0:
        above, below = ([(-c, used) for c, used in part] for part in (above, below))
    inner = Writer(section.symbols, {**found.inside, **names})
    for symbol in (s for s in section.symbols if graph.sym(s) in found.inside):
        inside = found.inside[graph.sym(symbol)]
        if symbol in section.positive:
            known.append(f"0 < {inside}")
            facts.append(f"{section.symbols[symbol]}_positive")
        elif symbol in section.nonnegative:
            known.append(f"0 <= {inside}")
            facts.append(f"{section.symbols[symbol]}_not_negative")
    plain = Writer(section.symbols, dict(found.inside))
    for divisor in divisors_of([node]):
        if not section.is_positive(divisor):
            known.append(f"{plain(divisor)} <> 0")
            facts.append(section.nonzero(divisor))
    top, bottom = (_polynomial(part, inner) for part in (above, below))
    body = plain(node)
    equations = [k for k, each in enumerate(known) if "<" not in each]
    forall = f"forall {' '.join([*found.variables, *extra])} : R, "
    premises = " ".join(f"K{k}" for k in range(len(known)))
    proof = f"intros {' '.join([*found.variables, *extra])} {premises}; "
    proof += "".join(f"rewrite ?K{k} in *; " for k in equations)
    sign, rule, reach = ("<=", "Rmult_le_pos", "nonneg") if weak else ("<", "Rmult_lt_0_compat", "pos")
    proof += f"match goal with |- 0 {sign} ?x => replace x with ({top} * / {bottom}) by (field; nonzero) end; "
    proof += f"apply {rule}; [ {reach} | {'apply Rlt_le, ' if weak else 'apply '}Rinv_0_lt_compat; pos ]."
    name = section.lemma(forall + " -> ".join([*known, f"0 {sign} {body}"]), proof, "a")
    return f"({' '.join([name, *(f'({v})' for v in (*found.values, *values)), *facts])})"


def _polynomial(terms: list[tuple[Fraction, tuple[tuple[Node, Any], ...]]], writer: Writer) -> str:
    texts = []
    for coefficient, used in terms:
        parts = [] if coefficient == 1 and used else [number(coefficient)]
        parts += [writer.power(base, Fraction(exponent)) for base, exponent in used]
        texts.append(" * ".join(parts))
    return f"({' + '.join(texts)})" if texts else "0"
