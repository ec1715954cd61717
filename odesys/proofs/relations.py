"""What the engine knows of functions, as lemmas: exponentials of sums, sigmoids, hyperbolic functions, square roots.

Each function in a statement is expressed by atoms (exponentials of single terms) with a lemma of its own; what is left
is algebra in the atoms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt, lcm

from ..exact.expansion import factors, linear_terms
from ..exact.rewriting import Rewriter
from ..expr import graph
from ..expr.graph import Node
from .section import Section
from .strategy import is_root, root_parts
from .terms import NotExported, Writer

MOST_TERMS = 24  # of an exponent, counted with multiplicity
THROUGH = {"sigmoid": "sigmoid", "tanh": "tanh, sinh, cosh", "sinh": "sinh", "cosh": "cosh"}


@dataclass
class Atoms:
    """Functions in some expressions by variables of a lemma, what is known of these, and the facts about the section.

    Attributes
    ----------
    inside : names of nodes in the lemma.
    variables, values : quantified names, and what they stand for in the section.
    known, facts : premises of the lemma, and their proofs.
    positive : variables that are positive.
    rules : names of premises that say what a square is.
    """

    section: Section
    inside: dict[Node, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    positive: list[Node] = field(default_factory=list)
    meaning: dict[Node, Node] = field(default_factory=dict)  # of atoms of the rewriter
    rewritten: list[Node] = field(default_factory=list)

    def variable(self, node: Node, value: str, name: str = "") -> str:
        """A variable of the lemma for a node."""
        if node not in self.inside:
            self.inside[node] = name or f"f{len(self.variables)}"
            self.variables.append(self.inside[node])
            self.values.append(value)
        return self.inside[node]

    def symbol(self, node: Node) -> str:
        """A variable of the lemma for a symbol; a prime tells it from that of the section."""
        text = self.section.symbols[node.args[0]]
        return self.variable(node, text, f"{text}'")

    def premise(self, known: str, fact: str) -> None:
        """A premise of the lemma with its proof."""
        if known not in self.known:
            self.known.append(known)
            self.facts.append(fact)


def atoms_of(section: Section, roots: Iterable[Node]) -> Atoms:
    """All functions and roots below some expressions, expressed by atoms."""
    roots = list(roots)
    rewriter = Rewriter(section.positive)
    found = Atoms(section)
    try:
        found.rewritten = rewriter(roots)
    except ZeroDivisionError:
        raise NotExported("a divisor vanishes") from None
    fine = _Fine(rewriter)
    found.rewritten = [fine(node) for node in found.rewritten]
    real = _Real(rewriter, fine)
    seen = _outermost(roots)
    undone = [node for node in seen if _of_logarithm(node)]
    seen = [node for node in _outermost([*roots, *(node.args[0].args[0] for node in undone)]) if node not in undone]
    for node in seen:
        if node.op == "sym":
            found.symbol(node)
    for node in (*seen, *undone):
        if node.op in ("num", "sym", "add") or (node.op == "mul" and not is_root(node)):
            continue
        text = section.writer(node)
        if node in undone:
            _exponential_of_logarithm(found, node)
            continue
        if node.op == "mul":
            _square_root(found, node)
            continue
        expressed = fine(rewriter._memo[node])
        if real(expressed) is node and expressed.op == "sym":
            found.variable(node, text)
            found.meaning[expressed] = node
            if node.op == "exp":
                _positive_atom(found, node)
            continue
        fact = _expressed(section, rewriter, real, node, expressed)
        for atom in (a for a in graph.topological([expressed]) if a.op == "sym" and a in rewriter.meaning):
            actual = real(atom)
            found.variable(actual, section.writer(actual))
            found.meaning[atom] = actual
            if actual.op == "exp":
                _positive_atom(found, actual)
        for plain in (a for a in graph.topological([expressed]) if a.op == "sym" and a not in rewriter.meaning):
            found.symbol(plain)
        atoms = {atom: found.inside[actual] for atom, actual in found.meaning.items()}
        inner = Writer(section.symbols, {**found.inside, **atoms})
        result = inner(expressed)
        found.premise(f"{found.variable(node, text)} = {result}", fact)
    return found


def _of_logarithm(node: Node) -> bool:
    return bool(node.op == "exp" and node.args[0].op == "log")


def _exponential_of_logarithm(found: Atoms, node: Node) -> None:
    """The exponential of a logarithm is what stands in the logarithm, which must be known to be positive."""
    section, inner = found.section, node.args[0].args[0]
    if not section.is_positive(inner):
        raise NotExported("a logarithm of something whose sign is not known")
    fact = section.lemma(f"0 < {section.writer(inner)}", f"{section.opened(inner)}pos.", "p")
    name = found.variable(node, section.writer(node))
    found.premise(f"{name} = {Writer(section.symbols, dict(found.inside))(inner)}", f"(exp_ln _ {fact})")


def _positive_atom(found: Atoms, node: Node) -> None:
    found.premise(f"0 < {found.inside[node]}", f"(exp_pos {found.section.writer(node.args[0])})")
    found.positive.append(node)


def _outermost(roots: Iterable[Node]) -> list[Node]:
    """Nodes that can be seen without looking into a function or under a root; roots are listed as powers 1/q."""
    seen = dict.fromkeys(roots)
    queue = list(seen)
    for node in queue:
        if node.op == "add":
            children = [t for _, t in node.args]
        elif node.op == "mul" and not is_root(node):
            children = [root_parts(b, e)[0] if e.denominator > 1 else b for b, e in node.args]
        else:
            children = []
        for child in children:
            if child not in seen:
                seen[child] = None
                queue.append(child)
    return list(seen)


def _square_root(found: Atoms, node: Node) -> None:
    """A square root by its square; the base must be known to be positive."""
    ((base, exponent),) = node.args
    if exponent != Fraction(1, 2):
        raise NotExported("roots other than square roots are not exported yet")
    if not found.section.is_positive(base):
        raise NotExported("a square root of something whose sign is not known")
    section = found.section
    text = section.writer(base)
    fact = section.lemma(f"0 < {text}", f"{section.opened(base)}pos.", "p")
    if _product_of_roots(found, node, base):
        return
    for each in _outermost([base]):
        if each.op == "sym":
            found.symbol(each)
        elif each.op not in ("num", "add", "mul"):
            raise NotExported(f"a function, {each.op}, under a root")
    name = found.variable(node, f"(sqrt {text})")
    inner = Writer(section.symbols, dict(found.inside))
    found.premise(f"0 < {name}", f"(sqrt_lt_R0 _ {fact})")
    found.premise(f"{name} * {name} = {inner(base)}", f"(sqrt_positive_square _ {fact})")


def _product_of_roots(found: Atoms, node: Node, base: Node) -> bool:
    """A square root of a product of positive factors as the product of their roots; False where there is one factor."""
    section = found.section
    terms = linear_terms(base)
    if len(terms) != 1:
        return False
    ((coefficient, term),) = terms
    known = factors(term) if term is not graph.ONE else ()
    if coefficient == 1 and len(known) < 2 and all(abs(e) == 1 for _, e in known):
        return False
    if any(e.denominator > 1 or not section.is_positive(b) for b, e in known):
        return False
    size = [Fraction(isqrt(coefficient.numerator), isqrt(coefficient.denominator))]
    if size[0] ** 2 != coefficient:
        return False
    parts = [graph.num(size[0])]
    for factor, exponent in known:
        whole, odd = divmod(exponent, 2)
        parts.append(graph.power(factor, Fraction(whole)))
        if odd:
            root = graph.power(factor, Fraction(1, 2))
            parts.append(root)
            _square_root(found, root)
    for each in _outermost(parts):
        if each.op == "sym":
            found.symbol(each)
    whole_text = " * ".join(section.writer(part) for part in parts)
    squares = [k for k, part in enumerate(parts) if is_root(part)]
    asserts = ""
    for j, k in enumerate(squares):
        under = parts[k].args[0][0]
        sure = section.lemma(f"0 < {section.writer(under)}", f"{section.opened(under)}pos.", "p")
        asserts += f"assert (Q{j} := sqrt_positive_square _ {sure}); "
    use = f" | field [{' '.join(f'Q{j}' for j in range(len(squares)))}]; nonzero" if squares else ""
    proof = f"{asserts}apply sqrt_is; {section.opened(base, *parts)}[ pos | first [ ring | field; nonzero{use} ] ]."
    fact = section.lemma(f"(sqrt {section.writer(base)}) = ({whole_text})", proof, "r")
    inner = Writer(section.symbols, dict(found.inside))
    name = found.variable(node, f"(sqrt {section.writer(base)})")
    found.premise(f"{name} = ({' * '.join(inner(part) for part in parts)})", fact)
    return True


class _Fine:
    """Expressions in atoms, with a finer atom e^(x/q) in place of e^x where roots of it occur: all powers are whole."""

    def __init__(self, rewriter: Rewriter) -> None:
        degrees: dict[Node, int] = {}
        for node in graph.topological(rewriter._memo.values()):
            for base, exponent in node.args if node.op == "mul" else ():
                if exponent.denominator > 1 and rewriter.meaning.get(base, ("",))[0] == "exp":
                    degrees[base] = lcm(degrees.get(base, 1), exponent.denominator)
        self.atoms: dict[Node, tuple[Node, int]] = {}
        for atom, degree in degrees.items():
            argument = rewriter.meaning[atom][1]
            finer = graph.sym(f"{atom.args[0]}/{degree}")
            rewriter.meaning[finer] = ("exp", graph.multiply(graph.num(Fraction(1, degree)), argument))
            self.atoms[atom] = finer, degree

    def __call__(self, node: Node) -> Node:
        """The same expression in finer atoms."""
        memo: dict[Node, Node] = {}
        for each in graph.topological([node]) if self.atoms else ():
            if each in self.atoms:
                finer, degree = self.atoms[each]
                memo[each] = graph.power(finer, Fraction(degree))
            elif each.op == "mul":
                memo[each] = graph.multiply(*(self._factor(b, e, memo) for b, e in each.args))
            else:
                memo[each] = graph.rebuild(each, memo.__getitem__)
        return memo.get(node, node)

    def _factor(self, base: Node, exponent: Fraction, memo: dict[Node, Node]) -> Node:
        if base in self.atoms:
            finer, degree = self.atoms[base]
            return graph.power(finer, exponent * degree)
        return graph.power(memo[base], exponent)


class _Real:
    """Atoms of a rewriter as the functions they stand for."""

    def __init__(self, rewriter: Rewriter, fine: _Fine) -> None:
        self.rewriter, self.fine = rewriter, fine

    def __call__(self, node: Node) -> Node:
        atoms = [a for a in graph.topological([node]) if a in self.rewriter.meaning]
        if not atoms:
            return node
        return graph.substitute([node], {atom: self._meaning(atom) for atom in atoms})[0]

    def _meaning(self, atom: Node) -> Node:
        kind, argument = self.rewriter.meaning[atom]
        if kind == "edge":
            raise NotExported("a gate and its opposite meet")
        return graph.call(kind, self(argument))


def _expressed(section: Section, rewriter: Rewriter, real: _Real, node: Node, expressed: Node) -> str:
    """A lemma: a function equals its expression in atoms."""
    (argument,) = node.args
    if node.op == "exp":
        return _exponential(section, rewriter, real, argument)
    if node.op == "log" and argument is graph.ONE:
        return "ln_1"
    if node.op not in THROUGH:
        raise NotExported(f"what is known of the function {node.op} is not exported yet")
    fact = _exponential(section, rewriter, real, argument)
    put = f"rewrite !{fact}; " if fact != "eq_refl" else ""
    own = section.writer.names.get(node, "").strip("(").split()[:1]
    proof = (
        f"unfold {', '.join([*own, THROUGH[node.op]])}; rewrite ?(exp_Ropp {section.writer(argument)}); {put}"
        f"repeat match goal with |- context [exp ?t] => "
        f"let P := fresh in assert (P := exp_pos t); revert P; generalize (exp t); intros end; field; nonzero."
    )
    return section.lemma(f"{section.writer(node)} = {_in_atoms(section, real, expressed)}", proof, "r")


def _in_atoms(section: Section, real: _Real, expressed: Node) -> str:
    """An expression of atoms, written with the functions they stand for, in the order of the atoms."""
    names = {a: section.writer(real(a)) for a in graph.topological([expressed]) if a in real.rewriter.meaning}
    return Writer(section.symbols, names)(expressed)


def _exponential(section: Section, rewriter: Rewriter, real: _Real, argument: Node) -> str:
    """A lemma: the exponential of a sum is the product of powers of exponentials of its terms."""
    new = real.fine(rewriter._rules["exp"](rewriter.normal(rewriter._memo[argument])))
    terms: list[tuple[int, str]] = []
    for coefficient, term in linear_terms(new):
        if coefficient != 1 or len(linear_terms(new)) > 1:
            raise NotExported("a logarithm in an exponent is not exported yet")
        for atom, power in factors(term):
            kind, inner = rewriter.meaning.get(atom, ("", atom))
            if kind != "exp" or power.denominator != 1:
                raise NotExported("a fractional multiple in an exponent is not exported yet")
            terms.append((int(power), section.writer(real(inner))))
    if sum(abs(count) for count, _ in terms) > MOST_TERMS:
        raise NotExported("an exponent with too many terms")
    if len(terms) == 1 and terms[0] == (1, section.writer(argument)):
        return "eq_refl"
    raw = " + ".join(f"{'' if count > 0 else '- '}{text}" for count, text in terms for _ in range(abs(count))) or "0"
    opened = section.opened(argument)
    text = section.writer(argument)
    proof = f"replace {text} with ({raw}) by ({opened}first [ring | field; nonzero]); "
    whole = section.opened(argument, *(real(atom) for atom in graph.topological([new]) if atom in rewriter.meaning))
    last = f" | {whole}first [ring | field; nonzero]" if whole else ""
    proof += f"rewrite ?exp_plus, ?exp_Ropp, ?exp_0; first [ring | field; nonzero{last}]."
    return section.lemma(f"exp {text} = {_in_atoms(section, real, new)}", proof, "r")


def related_term(section: Section, left: Node, right: Node) -> str:
    """A proof term of an equality with what is known of the functions in it."""
    found = atoms_of(section, [left, right])
    for name in sorted(section.positive):
        if graph.sym(name) in found.inside:
            found.premise(f"0 < {found.inside[graph.sym(name)]}", f"{section.symbols[name]}_positive")
    writer = Writer(section.symbols, dict(found.inside))
    divisors = divisors_of([left, right])
    conditions = [f"{writer(divisor)} <> 0" for divisor in divisors]
    facts = [section.nonzero(divisor) for divisor in divisors]
    squares = [k for k, known in enumerate(found.known) if known.split(" = ")[0].count("*") == 1]
    names = [f"K{k}" for k in range(len(found.known))]
    forall = f"forall {' '.join(found.variables)} : R, " if found.variables else ""
    statement = forall + " -> ".join([*found.known, *conditions, f"{writer(left)} = {writer(right)}"])
    equations = [k for k, known in enumerate(found.known) if "<" not in known and k not in squares]
    put = f"intros {' '.join(found.variables)} {' '.join(names)}; intros; "
    put += "".join(f"rewrite ?K{k} in *; " for k in equations)
    if squares:
        use = " ".join(f"K{k}" for k in squares)
        roots = [found.known[k].split(" * ")[0] for k in squares]
        put += f"first [ field [{use}]; nonzero | field; nonzero | {_with_squares(roots, squares)} ]."
    else:
        put += "field; nonzero."
    name = section.lemma(statement, put, "a")
    return f"({' '.join([name, *(f'({value})' for value in found.values), *found.facts, *facts])})"


def _with_squares(roots: list[str], squares: list[int]) -> str:
    """A tactic for squares with divisors in them, which ``field`` does not take: fractions first, then the squares."""
    opened = "; ".join(f"try replace ({root} ^ 2) with ({root} * {root}) by ring" for root in roots)
    put = "; ".join(f"rewrite ?K{k}" for k in squares)
    return f"field_simplify_eq; [ {opened}; {put}; field; nonzero | nonzero .. ]"


def divisors_of(roots: list[Node]) -> list[Node]:
    """Bases of negative powers, roots among them, outside of functions."""
    found: dict[Node, None] = {}
    for node in _outermost(roots):
        if node.op == "mul" and not is_root(node):
            for base, exponent in node.args:
                if exponent < 0:
                    found[root_parts(base, exponent)[0] if exponent.denominator > 1 else base] = None
    return list(found)
