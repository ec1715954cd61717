"""Lemma B.3 and (198)-(214): the update of every inner product, compared with the derived step entry by entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from odesys import Node, Verdict, Witness, certified, entry_pairs, equal, graph, refuted, sym

from ..laboratory import Laboratory
from .book import NUMBERS, book, on_toy, tables

Token = tuple[int, int]  # sample and place; the signals are (0, 1) and (0, -1)
Polynomial = Counter[tuple[str, ...]]

PLUS, MINUS = (0, 1), (0, -1)
S_PLUS, S_MINUS = [(n, i) for n in (1, 2) for i in (2, 3)], [(n, i) for n in (3, 4) for i in (2, 3)]
SUMS = {"S+": S_PLUS, "S-": S_MINUS, "all": S_PLUS + S_MINUS}
#: letters of a display: i and j are tokens of one sample, o is one of another sample
LETTERS = {"+": PLUS, "-": MINUS, "i": (1, 2), "j": (1, 3), "o": (2, 2)}

#: every display as it is printed: the inner product, then its terms (a for alpha, b for beta, * the summed token); the last
#: term, the product of both changes, is printed with the sums of Definition B.3 in all of them
LEMMA_B_3 = {
    "q_+ k_+": "q+.k+: a++ k+.k+, S+ a+* k+.k*, b++ q+.q+, S+ b+* q+.q*",
    "q_- k_-": "q-.k-: a-- k-.k-, S- a-* k-.k*, b-- q-.q-, S- b-* q-.q*",
    "q_ni k_+": "qi.k+: ai+ k+.k+, ai- k+.k-, all ai* k+.k*, b++ q+.qi, S+ b+* qi.q*",
    "q_ni k_-": "qi.k-: ai- k-.k-, ai+ k+.k-, all ai* k-.k*, b-- q-.qi, S- b-* qi.q*",
    "q_+ k_nj": "q+.kj: a++ k+.kj, S+ a+* kj.k*, bj+ q+.q+, bj- q+.q-, all bj* q+.q*",
    "q_- k_nj": "q-.kj: a-- k-.kj, S- a-* kj.k*, bj- q-.q-, bj+ q+.q-, all bj* q-.q*",
    "q_ni k_nj": "qi.kj: ai+ k+.kj, ai- k-.kj, all ai* k*.kj, bj+ q+.qi, bj- q-.qi, all bj* q*.qi",
}
REST = {
    "198": "q+.q-: a++ q-.k+, S+ a+* q-.k*, a-- q+.k-, S- a-* q+.k*",
    "199": "q+.q+: 2 a++ q+.k+, 2 S+ a+* q+.k*",
    "200": "q-.q-: 2 a-- q-.k-, 2 S- a-* q-.k*",
    "201": "qi.qi: 2 ai+ qi.k+, 2 ai- qi.k-, 2 all ai* qi.k*",
    "202": "q+.qi: a++ qi.k+, S+ a+* qi.k*, ai+ q+.k+, ai- q+.k-, all ai* q+.k*",
    "203": "q-.qi: a-- qi.k-, S- a-* qi.k*, ai+ q-.k+, ai- q-.k-, all ai* q-.k*",
    "204": "qi.qj: ai+ qj.k+, ai- qj.k-, all ai* qj.k*, aj+ qi.k+, aj- qi.k-, all aj* qi.k*",
    "205": "qi.qo: ai+ qo.k+, ai- qo.k-, all ai* qo.k*, ao+ qi.k+, ao- qi.k-, all ao* qi.k*",
    "206": "k+.k+: 2 b++ q+.k+, 2 S+ b+* q*.k+",
    "207": "k-.k-: 2 b-- q-.k-, 2 S- b-* q*.k-",
    "208": "ki.ki: 2 bi+ q+.ki, 2 bi- q-.ki, 2 all bi* q*.ki",
    "209": "k+.ki: b++ q+.ki, S+ b+* q*.ki, bi+ q+.k+, bi- q-.k+, all bi* q*.k+",
    "210": "k-.ki: b-- q-.ki, S- b-* q*.ki, bi+ q+.k-, bi- q-.k-, all bi* q*.k+",
    "211": "ki.kj: bi+ q+.kj, bi- q-.kj, all bi* q*.kj, bj+ q+.ki, bj- q-.ki, all bj* q*.ki",
    "212": "ki.ko: bi+ q+.ko, bi- q-.ko, all bi* q*.ko, bo+ q+.ki, bo- q-.ki, all bo* q*.ki",
    "213": "q+.k-: a++ k+.k-, S+ a+* k*.k-, b-- q+.q-, S- b-* q*.q+",
    "214": "k+.k-: b++ q+.k-, S+ b+* q*.k-, b-- q-.k+, S- b-* q*.k+",
}


def _inner(left: tuple[str, Token], right: tuple[str, Token]) -> str:
    """An inner product as a symbol; it is symmetric."""
    return ".".join(sorted(f"{kind}{token}" for kind, token in (left, right)))


def _change(vector: tuple[str, Token]) -> Iterator[tuple[str, tuple[str, Token]]]:
    """Definition B.3: coefficients and vectors of the change of a query or key."""
    kind, token = vector
    letter, other = ("a", "k") if kind == "q" else ("b", "q")
    own = {PLUS: S_PLUS, MINUS: S_MINUS}.get(token)
    for mate in [PLUS, MINUS, *S_PLUS, *S_MINUS] if own is None else [token, *own]:
        yield f"{letter}{token}{mate}", (other, mate)


def _product(left: tuple[str, Token], right: tuple[str, Token]) -> Polynomial:
    """The last term: the product of both changes."""
    found: Polynomial = Counter()
    for (a, x), (b, y) in product(_change(left), _change(right)):
        found[tuple(sorted((a, b, _inner(x, y))))] += 1
    return found


def right_form(left: tuple[str, Token], right: tuple[str, Token]) -> Polynomial:
    """The change of an inner product, from Definition B.3 alone."""
    found = _product(left, right)
    for moving, still in ((left, right), (right, left)):
        for coefficient, vector in _change(moving):
            found[tuple(sorted((coefficient, _inner(vector, still))))] += 1
    return found


def _vector(text: str, summed: Token | None = None) -> tuple[str, Token]:
    token = summed if text[1] == "*" else LETTERS[text[1]]
    assert token is not None
    return text[0], token


def written_form(display: str) -> tuple[tuple[str, Token], tuple[str, Token], Polynomial]:
    """The inner product of a display, and its right-hand side as it is printed."""
    head, terms = display.split(": ")
    left, right = (_vector(v) for v in head.split("."))
    found = _product(left, right)
    for term in terms.split(", "):
        words = term.split()
        times = int(words.pop(0)) if words[0].isdigit() else 1
        tokens = SUMS[words.pop(0)] if words[0] in SUMS else [None]
        coefficient, inner = words
        for token in tokens:
            first, second = (token if c == "*" else LETTERS[c] for c in coefficient[1:])
            x, y = (_vector(v, token) for v in inner.split("."))
            found[tuple(sorted((f"{coefficient[0]}{first}{second}", _inner(x, y))))] += times
    return left, right, found


def compared(display: str) -> Verdict:
    """A display against the right form, as polynomials with whole coefficients."""
    left, right, printed = written_form(display)
    exact = right_form(left, right)
    if printed == exact:
        step = f"{len(exact)} monomials in alpha, beta and inner products, N = 4 with two samples of each class, M = 3"
        return certified(monomials=len(exact)).proving(step, N=4, M=3)
    extra = next(iter(printed - exact or exact - printed))
    point = {sym(name): int(name in extra) for term in (*printed, *exact) for name in term}
    return refuted(Witness(f"the term {' '.join(extra)} is on one side only", {})).stating(
        {"display": (_expression(printed), "!=", _expression(exact))}, at=point
    )


def _expression(polynomial: Polynomial) -> Node:
    return graph.add(times * graph.multiply(*(sym(name) for name in term)) for term, times in polynomial.items())


@book.claim(
    "B.3",
    "Update rule for queries and keys",
    kind="identity",
    uses=["Def.B.3"],
    where="Lemma B.3; its restatement (190)-(196) is not legible",
    parts=("derived step", *LEMMA_B_3),
    hypotheses=(),
    statement=r"\langle q_+^{(t+1)},k_+^{(t+1)}\rangle-\langle q_+^{(t)},k_+^{(t)}\rangle=\alpha_{+,+}\|k_+\|_2^2+\sum_{n\in S_+}\sum_i\alpha_{n,+,i}\langle k_+,k_{n,i}\rangle+\beta_{+,+}\|q_+\|_2^2+\sum_{n\in S_+}\sum_i\beta_{n,+,i}\langle q_+,q_{n,i}\rangle+(\ldots)\cdot(\ldots),\ \text{and six more}",
    reading="Each of the seven displays, term by term; and the derived step of all inner products is their matrix form.",
)
def update_of_inner_products(lab: Laboratory) -> dict[str, Verdict]:
    """The derived step against the matrix form, and the printed displays against Definition B.3."""
    flow = lab.step(2)
    t = tables(flow, 2)
    names: dict[str, tuple[Node, Node]] = {}
    H, S, Q, K, eta = t.H(), t.S, t.Q, t.K, sym("eta")
    A, B = eta * (t.G @ H), eta * (t.G @ H.T)
    printed = {
        "S": S + A @ K + Q @ B.T + A @ S.T @ B.T,
        "Q": Q + A @ S.T + S @ A.T + A @ K @ A.T,
        "K": K + B @ S + S.T @ B.T + B @ Q @ B.T,
    }
    derived = {"S": flow.rhs("KQ").T, "Q": flow.rhs("QQ"), "K": flow.rhs("KK")}
    for part in ("S", "Q", "K"):
        names |= entry_pairs(derived[part], printed[part], part)
    return {"derived step": on_toy(equal(names), 2)} | {part: compared(display) for part, display in LEMMA_B_3.items()}


@book.claim(
    "Eq.198-214",
    "The other inner products",
    kind="identity",
    expect="fails",
    uses=["Def.B.3"],
    insensitive=NUMBERS,
    origin="proof",
    where="Appendix F.2, (198)-(214); of (197) only the end is legible",
    parts=tuple(REST),
    hypotheses=(),
    statement=r"(210):\ \langle k_-^{(t+1)},k_{n,i}^{(t+1)}\rangle-\langle k_-^{(t)},k_{n,i}^{(t)}\rangle=\beta_{-,-}\langle q_-,k_{n,i}\rangle+\sum_{n'\in S_-}\sum_l\beta_{n',-,l}\langle q_{n',l},k_{n,i}\rangle+\beta_{n,i,+}\langle q_+,k_-\rangle+\beta_{n,i,-}\langle q_-,k_-\rangle+\sum_{n',l}\beta_{n,i,n',l}\langle q_{n',l},k_+\rangle+(\ldots)\cdot(\ldots),\ \text{and sixteen more}",
    reading="Every display term by term, as it is printed; in (210) the last sum has k_+ where k_- belongs.",
)
def other_inner_products(lab: Laboratory) -> dict[str, Verdict]:
    """Seventeen displays."""
    found = {number: compared(display) for number, display in REST.items()}
    right = compared(REST["210"].replace("all bi* q*.k+", "all bi* q*.k-"))
    wrong = found["210"].correcting(
        r"\sum_{n',l}\beta_{n,i,n',l}\langle q_{n',l},k_-\rangle", right, "the inner product with k_- is what changes"
    )
    sentence = "with all beta zero but beta_{n,i,n',l} the left side of (210) is beta_{n,i,n',l} <q_{n',l}, k_->, the right side has k_+"
    return found | {"210": wrong.witnessed(sentence, {}).blaming("misprint", "k-plus-in-210")}
