"""Where the equations of a flow come from, as files of Coq: loss, forces, closure, and the quotient by symmetries.

.. math::  G_\\phi = -\\partial\\mathcal L/\\partial\\phi, \\qquad \\dot x = F(x, G), \\qquad F(\\ell(z)) = \\ell(f(z))

The loss is differentiated by Coq itself (`derivatives.v`), part by part, off the kinks of its units; that the forces of
the engine are these derivatives is algebra. Nothing of the engine's own differentiation is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..derive.closure import Force
from ..expr import graph
from ..expr.graph import ONE, ZERO, Node
from ..model.paths import Path
from .section import Section
from .steps import Maps, Steps
from .strategy import choose, outlines
from .terms import NotExported, Writer, definitions, function, identifiers, number
from .theory import comment, equal_term

if TYPE_CHECKING:
    from ..derive.flow import Flow
    from ..reduce.quotient import Quotient

HEAD = (
    "From Coq Require Import Reals Lra.\nFrom Coquelicot Require Import Coquelicot.\n"
    "From Odesys Require Import prelude derivatives.\nOpen Scope R_scope.\n"
)
Derived = tuple[str, str]  # a derivative, and the term that proves it


class Equations:
    """The loss, the forces and the right-hand sides of a flow, all named, with one section of definitions."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.rates = flow, dict(flow.system.equations)
        self.read = [str(name) for path in flow.closure.read for name in self.table(path).ravel()]
        gradient = graph.gradient(flow.loss, [graph.sym(name) for name in self.read])
        self.forces = {name: -node for name, node in zip(self.read, gradient, strict=True)}
        wanted = {"loss": flow.loss}
        wanted |= {f"G_{name}": node for name, node in self.forces.items()}
        wanted |= {f"rate_{name}": node for name, node in self.rates.items()}
        self.wanted, chosen = wanted, dict[Node, str]()
        for name, node in wanted.items():
            if node.op not in ("num", "sym"):
                chosen.setdefault(node, name)
        self.maps = Maps(chosen, chosen)
        self.names = identifiers({*self.maps.symbols, *self.rates})

    def table(self, path: Path) -> np.ndarray:
        """Names of the entries of a stored path."""
        return self.flow.matrices[self.flow.naming.leaf(path)]

    def definitions(self) -> str:
        """The section of definitions; an expression with two names is written once."""
        text = self.maps.text(self.names, self._titles())
        others = [(name, node) for name, node in self.wanted.items() if self.maps.names.get(node) != name]
        lines = [f"Definition {name} : R := {self.maps.names.get(node) or _plain(node)}." for name, node in others]
        return text.replace("\nEnd maps.", "\n" + "\n".join([*lines, "End maps."]))

    def _titles(self) -> dict[Node, str]:
        """Comments: the loss, what is seen along runs, and sums of softmax weights."""
        found, units = dict[Node, str](), list[Node]()
        for node in graph.topological([self.flow.loss]):
            if node.op == "mul":
                found |= {base: "a sum of exponentials of scores, below a softmax" for base, e in node.args if e < 0}
            elif node.op == "step":
                units.append(node.args[0])
                found[node.args[0]] = "what goes into a unit"
        for name, seen in self.flow.system.observables.items():
            number = name.rpartition("_")[2]
            sample = self.flow.data.samples[int(number) - 1] if number.isdigit() else None
            shown = f"{name}, sample {sample.name}" if sample is not None and sample.name else name
            found |= {seen: shown, -seen: f"minus {shown}"}
            found |= {unit: f"{shown}, and the bias" for unit in units if (unit - seen).op in ("num", "sym")}
        return {**found, self.flow.loss: "the loss, a mean over the samples"}

    def applied(self, name: str, writer: Writer) -> str:
        """A named expression at the arguments of a writer."""
        node = self.wanted[name]
        if self.maps.names.get(node) == name:
            return writer(node)
        used = sorted(self.maps.needs[node]) if node in self.maps.needs else []
        return f"({' '.join([name, *(writer.symbols[each] for each in used)])})" if used else name


def _plain(node: Node) -> str:
    if node.op != "num":
        raise NotExported("a force that is a single symbol")
    return number(node.args[0])


def gradient_file(title: Sequence[str], flow: Flow) -> str:
    """A Coq file: the forces of a flow are minus the partial derivatives of its loss, and its equations their closure.

    Parameters
    ----------
    title : Sequence[str]
        Lines of the comment at its beginning.
    flow : Flow
        A gradient flow; each unit of its loss is taken off its kink.

    Returns
    -------
    str
        The text of the file.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_file, gradient_flow, logistic, maps
    >>> words = Words("good bad")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: (w @ X).sum(), Data(words, [("good", +1), ("bad", -1)]), logistic)
    >>> text = gradient_file(["a perceptron"], flow)
    >>> [line.split(" :")[0] for line in text.splitlines() if line.startswith("Theorem")]
    ['Theorem gradient_w_good', 'Theorem gradient_w_bad', 'Theorem flow_w_good', 'Theorem flow_w_bad']
    """
    known = Equations(flow)
    here = known.definitions()
    writer = known.maps.applied(dict(known.names))
    section = Section(writer, (), ())
    loss_nodes = set(graph.topological([flow.loss]))
    kept = {node for node in loss_nodes if node.op == "add"}
    opened = [name for node, name in known.maps.names.items() if node not in kept]
    texts = [HEAD, comment(*title), here, "Section derivatives."]
    texts.append(f"Variables {' '.join(known.names[name] for name in sorted(known.names))} : R.")
    differentiated: list[str] = []
    theorems: list[str] = []
    inside = graph.symbols([flow.loss])
    for name in (each for each in known.read if each in inside):
        made = Differentiated(section, known.maps, name, f"{len(differentiated) + 1}")
        top = made(flow.loss)
        varied = known.maps.applied({**known.names, name: "x"})
        force = known.applied(f"G_{name}", writer)
        theorem = f"gradient_{name}"
        cast = f"cbv beta delta [Rdiv {' '.join([*made.constants, *opened])}]; ring [(exp_inverse {known.names[name]})]"
        section.lemmas.append(
            f"Theorem {theorem} : derivative (fun x => {varied(flow.loss)}) {known.names[name]} (- {force}).\n"
            f"Proof. apply (D_cast _ _ {top[0]}); [ exact {top[1]} | {cast} ]. Qed."
        )
        differentiated.append(name)
        theorems.append(theorem)
    texts += [f"Hypothesis {name} : {fact}." for name, fact in section.hypotheses.items()]
    texts += section.lemmas
    multiples = _multiples(known)
    for part, (factor, name) in multiples.items():
        text = f"{known.applied(f'G_{name}', writer)} = {number(1 / factor)} * {writer(part)}"
        cast = f"cbv beta delta [Rdiv {' '.join(opened)}]; ring [(exp_inverse {known.names[name]})]"
        texts.append(f"Lemma force_{known.maps.names[part]} : {text}.\nProof. {cast}. Qed.")
    still = [f"G_{name}" for name, node in known.forces.items() if node.op == "num"]
    for state, product in closure_texts(known, writer).items():
        rate = known.applied(f"rate_{state}", writer)
        below = [part for part in _rate_parts(known, state) if part in multiples]
        opens = " ".join(dict.fromkeys([f"rate_{state}", *still]))
        put = "".join(f"rewrite ?force_{known.maps.names[part]}; " for part in below)
        same = known.maps.names.get(known.rates[state], "") == f"G_{state}"
        closing = "reflexivity" if same else f"cbv beta delta [{opens}]; {put}field"
        texts.append(f"Theorem flow_{state} : {rate} = {product}.\nProof. {closing}. Qed.")
        theorems.append(f"flow_{state}")
    texts += [
        "End derivatives.",
        "",
        f"Definition all_claims := ({', '.join(theorems)}).",
        "Print Assumptions all_claims.",
        "",
    ]
    return "\n".join(texts)


def _rate_parts(known: Equations, state: str) -> list[Node]:
    """Sums that are multiplied by a path scalar in a right-hand side."""
    terms = (term for _, term in graph.linear_terms(known.rates[state]))
    bases = (base for term in terms for base, _ in (term.args if term.op == "mul" else ((term, 1),)))
    return [base for base in dict.fromkeys(bases) if base.op == "add"]


def _multiples(known: Equations) -> dict[Node, tuple[Fraction, str]]:
    """Which of these sums are multiples of a force: the engine takes numbers out of products."""
    parts = list(dict.fromkeys(part for state in known.rates for part in _rate_parts(known, state)))
    forces = {name: node for name, node in known.forces.items() if node.op != "num"}
    whole = list(outlines([*parts, *forces.values()]))[-1].residues()
    if whole is None:
        raise NotExported("no values of forces modulo a prime")
    found: dict[Node, tuple[Fraction, str]] = {}
    for part, value in zip(parts, whole, strict=False):
        for name, force in zip(forces, whole[len(parts) :], strict=True):
            for factor in (Fraction(sign * size) for size in (1, len(known.flow.data.samples)) for sign in (1, -1)):
                if part not in found and value == force * int(factor) and part in known.maps.names:
                    found[part] = factor, name
    return found


class Differentiated:
    """Derivatives of parts of the loss by one variable: a constant and a lemma for each part that has a name."""

    def __init__(self, section: Section, maps: Maps, name: str, tag: str) -> None:
        self.section, self.maps, self.name, self.tag = section, maps, name, tag
        self.writer = section.writer
        self.here = section.symbols[name]
        self.varied = maps.applied({**section.symbols, name: "x"})
        self.known: dict[Node, Derived] = {}
        self.constants: list[str] = []

    def __call__(self, root: Node) -> Derived:
        for node in graph.topological([root]):
            if node in self.maps.names and self.depends(node):
                raw, proof = self._raw(node)
                constant = f"d{self.tag}_{self.maps.names[node]}"
                self.section.lemmas.append(
                    f"Definition {constant} : R := {raw}.\n"
                    f"Lemma D{self.tag}_{self.maps.names[node]} : "
                    f"derivative (fun x => {self.varied(node)}) {self.here} {constant}.\n"
                    f"Proof. cbv beta delta [{self.maps.names[node]} {constant}]. exact {proof}. Qed."
                )
                self.constants.append(constant)
                self.known[node] = constant, f"D{self.tag}_{self.maps.names[node]}"
        return self.known[root]

    def depends(self, node: Node) -> bool:
        """Whether the variable is in it."""
        return self.name in self.maps.needs[node]

    def of(self, node: Node) -> Derived | None:
        """The derivative of a part; None where the variable is not in it."""
        if not self.depends(node):
            return None
        return self.known.get(node) or self._raw(node)

    def _raw(self, node: Node) -> Derived:
        match node.op:
            case "sym":
                return "1", f"(D_id {self.here})"
            case "add":
                return self._sum(node)
            case "mul":
                return self._product(node)
            case "exp" | "softplus":
                inner = self.of(node.args[0])
                assert inner is not None
                text = self.writer(node.args[0])
                outer = f"exp {text}" if node.op == "exp" else f"sigmoid {text}"
                return f"({outer} * {inner[0]})", f"(D_{node.op} _ _ _ {inner[1]})"
        raise NotExported(f"the derivative of {function(node.op)} is not exported yet")

    def _sum(self, node: Node) -> Derived:
        total: Derived | None = None
        for coefficient, term in node.args:
            found = None if term is ONE else self.of(term)
            if found is not None and coefficient == -1:
                found = f"(- {found[0]})", f"(D_opp _ _ _ {found[1]})"
            elif found is not None and coefficient != 1:
                found = f"({number(coefficient)} * {found[0]})", f"(D_mult_r _ _ _ _ {found[1]})"
            total = self._both("plus", total, found, "", "") if (coefficient, term) != node.args[0] else found
        assert total is not None
        return total

    def _product(self, node: Node) -> Derived:
        gate = self._gate(node)
        if gate is not None:
            return gate
        total, before = None, ""
        for base, exponent in node.args:
            text, found = self.writer.power(base, exponent), self._power(base, exponent)
            if before:
                total = self._both("mult", total, found, before, text)
                before = f"{before} * {text}"
            else:
                total, before = found, text
        assert total is not None
        return total

    def _both(self, rule: str, left: Derived | None, right: Derived | None, first: str, second: str) -> Derived | None:
        """The sum or product of what came before and one more."""
        sign, times = ("+", False) if rule == "plus" else ("*", True)
        if left is not None and right is not None:
            text = f"({left[0]} * {second} + ({first}) * {right[0]})" if times else f"({left[0]} {sign} {right[0]})"
            return text, f"(D_{rule} _ _ _ _ _ {left[1]} {right[1]})"
        if left is not None:
            return (f"({left[0]} * {second})" if times else left[0]), f"(D_{rule}_l _ _ _ _ {left[1]})"
        if right is not None:
            return (f"(({first}) * {right[0]})" if times else right[0]), f"(D_{rule}_r _ _ _ _ {right[1]})"
        return None

    def _power(self, base: Node, exponent: object) -> Derived | None:
        found = self.of(base)
        if found is None or exponent == 1:
            return found
        if exponent != -1:
            raise NotExported("powers are not differentiated yet")
        text = self.writer(base)
        if base.op == "exp":
            inner = self.of(base.args[0])
            assert inner is not None
            return f"(- (/ {text}) * {inner[0]})", f"(D_inv_exp _ _ _ {inner[1]})"
        return f"(- {found[0]} * / {text} * / {text})", f"(D_inv _ _ _ {found[1]} {self.section.nonzero(base)})"

    def _gate(self, node: Node) -> Derived | None:
        gates = [base for base, _ in node.args if base.op == "step" and self.depends(base)]
        if not gates:
            return None
        (gate,) = gates
        argument = gate.args[0]
        if len(node.args) != 2 or dict(node.args) != {gate: 1, argument: 1}:
            raise NotExported("a gate that is not that of a unit")
        inner = self.of(argument)
        assert inner is not None
        rule = "D_gate" if node.args[0][0] is gate else "D_gate_r"
        fact = self.section.nonzero(argument)
        return f"(step {self.writer(argument)} * {inner[0]})", f"({rule} _ _ _ {inner[1]} {fact})"


def closure_texts(known: Equations, writer: Writer) -> dict[str, str]:
    """For each state the sum of products of path scalars and forces that its closure says."""
    flow, found = known.flow, dict[str, str]()
    for path in flow.closure.paths:
        table, sums = known.table(path), dict[tuple[int, ...], list[str]]()
        for term in flow.closure.terms[path]:
            if term.coefficient is not ONE:
                raise NotExported("rates of single maps are not exported yet")
            product: np.ndarray | None = None
            for factor in term.factors:
                matrix = _matrix(known, factor, writer)
                product = matrix if product is None else _times(product, matrix)
            assert product is not None
            for place, texts in np.ndenumerate(product):
                sums.setdefault(place, []).extend(texts)
        for place, texts in sums.items():
            found.setdefault(str(table[place]), " + ".join(texts) if texts else "0")
    return found


def _matrix(known: Equations, factor: Path | Force, writer: Writer) -> np.ndarray:
    """Entries as lists of summands: a matrix of path scalars, of forces, or the unit matrix of orthonormal words."""
    if isinstance(factor, Force):
        path = known.flow.closure.read[factor.read]
        names = known.table(path)
        texts = [[known.applied(f"G_{name}", writer)] for name in names.ravel()]
        table = _table(texts, names.shape)
        return table.T if factor.transposed else table
    if not factor.letters:
        gram = known.flow.pin_gram(factor.left)
        size = len(gram)
        unit = all(node is (ONE if i == j else ZERO) for (i, j), node in np.ndenumerate(gram))
        if factor.left != factor.right or not unit:
            raise NotExported("words that are not orthonormal")
        return _table([["1"] if i == j else [] for i in range(size) for j in range(size)], (size, size))
    path, transposed = known.flow.closure.canonical(factor)
    names = known.table(path)
    table = _table([[writer.symbols[name]] for name in names.ravel()], names.shape)
    return table.T if transposed else table


def _table(texts: list[list[str]], shape: tuple[int, ...]) -> np.ndarray:
    table = np.empty(len(texts), dtype=object)
    table[:] = [tuple(each) for each in texts]
    return table.reshape(shape)


def _times(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    size = left.shape[0], right.shape[1]
    texts = [
        [
            a if b == "1" else b if a == "1" else f"{a} * {b}"
            for k in range(left.shape[1])
            for a in left[i, k]
            for b in right[k, j]
        ]
        for i in range(size[0])
        for j in range(size[1])
    ]
    return _table(texts, size)


def quotient_file(title: Sequence[str], quotient: Quotient) -> str:
    """A Coq file: at a symmetric state every right-hand side is that of its orbit, with the sign of the state.

    Parameters
    ----------
    title : Sequence[str]
        Lines of the comment at its beginning.
    quotient : Quotient
        A flow divided by symmetries.

    Returns
    -------
    str
        The text of the file.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_flow, logistic, maps, quotient_file
    >>> words = Words("good bad")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: (w @ X).sum(), Data(words, [("good", +1), ("bad", -1)]), logistic)
    >>> text = quotient_file(["a perceptron"], flow.quotient())
    >>> laws = [line for line in text.splitlines() if line.startswith("Theorem")]
    >>> print(laws[1])
    Theorem law_w_bad : (rate_w_bad (- w_good)) = - orbit_w_good.
    """
    known = Equations(quotient.flow)
    lifted = quotient.lifted
    assert lifted is not None  # a quotient knows its states
    values = {graph.sym(name): node for name, node in lifted.items()}
    images = dict(zip(known.rates, graph.substitute(list(known.rates.values()), values), strict=True))
    orbits = dict(quotient.system.equations)
    names = identifiers({*known.maps.symbols, *known.rates, *orbits, *graph.symbols(orbits.values())})
    known.names = names
    titles = {node: f"orbit_{name}" for name, node in reversed(orbits.items()) if node.op not in ("num", "sym")}
    own = sorted(graph.symbols([*orbits.values(), *values.values()]))
    here = known.definitions()
    writer, bodies = definitions([*orbits.values(), *images.values()], {n: names[n] for n in own}, titles=titles)
    section = Section(writer, (), ())
    steps = Steps(section, known.maps, values)
    texts = [HEAD, comment(*title), here, "Section quotient."]
    texts.append(f"Variables {' '.join(names[name] for name in own)} : R.")
    texts += [f"Definition {writer.names[node]} : R := {body}." for node, body in bodies]
    main, theorems = [], []
    for state, node in known.rates.items():
        right, between = _orbit_side(section, images[state], lifted[state], orbits, titles)
        proof = f"exact (eq_trans {steps.proof(node)} {between})."
        lemmas, section.lemmas = section.lemmas, []
        main += [
            *lemmas,
            f"Theorem law_{state} : {known.applied(f'rate_{state}', steps.writer)} = {right}.",
            f"Proof. {proof} Qed.",
        ]
        theorems.append(f"law_{state}")
    texts += [f"Hypothesis {name} : {fact}." for name, fact in section.hypotheses.items()]
    texts += [
        *main,
        "End quotient.",
        "",
        f"Definition all_claims := ({', '.join(theorems)}).",
        "Print Assumptions all_claims.",
        "",
    ]
    return "\n".join(texts)


def _orbit_side(
    section: Section, image: Node, lifted: Node, orbits: dict[str, Node], titles: dict[Node, str]
) -> tuple[str, str]:
    """What a right-hand side is at a symmetric state, and the proof from its image: an orbit's, minus that, or zero."""
    if lifted is ZERO or image is ZERO:
        return "0", equal_term(section, image, ZERO)
    ((coefficient, symbol),) = graph.linear_terms(lifted)
    orbit = orbits[str(symbol.args[0])]
    if coefficient == 1:
        return titles[orbit], equal_term(section, image, orbit)
    found = choose([image, orbit], lambda values: values[0] == -values[1])
    if found is None:
        raise NotExported("a sign of the quotient is not seen by algebra")
    return f"- {titles[orbit]}", section.algebra(found, lambda texts: f"{texts[0]} = - {texts[1]}")
