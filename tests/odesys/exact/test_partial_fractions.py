"""Normal forms with each divisor for itself: identities over many samples, their broken twins, and the value kept."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import flint
import pytest

from odesys import AttentionModel, Dictionary, Distribution, Flow, Head, Sample, gradient_flow
from odesys.analysis.conserved import lie_derivative
from odesys.exact.balls import ball_evaluate
from odesys.exact.evidence import identity
from odesys.exact.expansion import TooLarge
from odesys.exact.partial_fractions import NotRational, PartialFractions, _lexicographic
from odesys.exact.zero import zero_test
from odesys.expr import graph
from odesys.expr.graph import Node, add, call, exp, num, power, sqrt, step, sym
from tests.odesys.exact.test_expansion import random_expression

SEED = 20250117
x, y, z = sym("x"), sym("y"), sym("z")
WORDS = [f"{letter}{k}" for k in range(1, 5) for letter in "uv"]
SIZES = [
    (8, 3),
    (16, 3),
    (32, 4),
    (64, 3),
    pytest.param(64, 4, marks=pytest.mark.nightly),
]  # samples, tokens per sample


def samples(count: int, length: int, mirrored: bool) -> Distribution:
    """Different words per sample, unequal weights; `mirrored`: u and v swapped gives the other label."""
    rng = random.Random(SEED)
    swap = str.maketrans("uv", "vu")
    found: dict[tuple[tuple[str, ...], int], int] = {}
    while len(found) < count:
        tokens, label, weight = tuple(rng.sample(WORDS, length)), rng.choice([1, -1]), rng.randint(1, 5)
        if (tokens, label) not in found:
            found[tokens, label] = weight
            if mirrored:
                found[tuple(word.translate(swap) for word in tokens), -label] = weight
    return Distribution.proportional(Sample(list(t), label, weight) for (t, label), weight in found.items())


@cache
def flow(count: int, length: int, mirrored: bool = False) -> Flow:
    return gradient_flow(AttentionModel(Dictionary(WORDS), [Head()]), samples(count, length, mirrored))


def self_scores(flow: Flow, name: str) -> dict[tuple[str, str], Node]:
    return {(a, b): sym(str(flow.matrices[name][i, j])) for i, a in enumerate(WORDS) for j, b in enumerate(WORDS)}


def printed(flow: Flow) -> dict[str, Node]:
    """One value and one score equation as a theorist writes them: weights 1 / sum exp(z_b - z_a), slopes 1 - sigma."""
    keys, queries = self_scores(flow, "KK"), self_scores(flow, "QQ")
    value_force: dict[str, list[Node]] = {a: [] for a in WORDS}
    score_force: dict[tuple[str, str], list[Node]] = {(a, b): [] for a in WORDS for b in WORDS}
    neuron = {a: sym(f"w_{a}") for a in WORDS}
    for sample in flow.data.samples:
        logits = {(a, q): sym(f"KQ_{a}_{q}") for a in sample.tokens for q in sample.tokens}
        weight = {
            (a, q): 1 / add([exp(logits[b, q] - logits[a, q]) for b in sample.tokens])
            for a in sample.tokens
            for q in sample.tokens
        }
        margin = sample.label * add([p * neuron[a] for (a, _), p in weight.items()])
        slope = (1 - call("sigmoid", margin)) * sample.label * sample.weight
        for (a, q), p in weight.items():
            value_force[a].append(slope * p)
            score_force[a, q].append(slope * p * add([weight[b, q] * (neuron[a] - neuron[b]) for b in sample.tokens]))
    a, b = WORDS[:2]
    score = [keys[a, c] * add(score_force[c, b]) for c in WORDS] + [
        add(score_force[a, c]) * queries[c, b] for c in WORDS
    ]
    return {f"w_{a}": add(value_force[a]), f"KQ_{a}_{b}": add(score)}


def printed_against_derived(count: int, length: int) -> dict[str, Node]:
    this = flow(count, length)
    return {name: this.system.equations[name] - node for name, node in printed(this).items()}


def quotient_law(count: int, length: int) -> dict[str, Node]:
    """F(lift z) = lift F(z), the left side printed, the right one derived."""
    this = flow(count, length, True)
    quotient = this.quotient()
    assert quotient.system.dimension < this.system.dimension and quotient.lifted is not None
    lift, small = {sym(name): node for name, node in quotient.lifted.items()}, quotient.system.equations
    moved = {sym(name): node for name, node in small.items()}
    return {
        name: graph.substitute([node], lift)[0] - graph.substitute([quotient.lifted[name]], moved)[0]
        for name, node in printed(this).items()
    }


def shifted_scores(count: int, length: int) -> dict[str, Node]:
    """Adding to the scores of a query what does not depend on the key changes no weight."""
    this = flow(count, length)
    name = f"w_{WORDS[0]}"
    shift = {sym(f"KQ_{a}_{q}"): sym(f"KQ_{a}_{q}") + sym(f"t_{q}") for a in WORDS for q in WORDS}
    return {name: graph.substitute([this.system.equations[name]], shift)[0] - this.system.equations[name]}


def conserved(count: int, length: int) -> dict[str, Node]:
    """tr A - tr B, and tr A^2 - 2 tr M M' + tr B^2."""
    this = flow(count, length)
    keys, queries, scores = (self_scores(this, name) for name in ("KK", "QQ", "KQ"))
    trace = add([keys[a, a] - queries[a, a] for a in WORDS])
    square = add([keys[pair] ** 2 - 2 * scores[pair] ** 2 + queries[pair] ** 2 for pair in keys])
    return {str(k): lie_derivative(this.system, node) for k, node in enumerate((trace, square), 1)}


def softmax_gradients(count: int, length: int) -> dict[str, Node]:
    """Sum over samples of the covariance of w and d under softmax weights, as E(w - Ew)d and by pairs."""
    total = []
    for sample in samples(count, length, False).samples:
        divisor = add([exp(sym(f"s{a}")) for a in sample.tokens])
        weight = {a: exp(sym(f"s{a}")) / divisor for a in sample.tokens}
        w, d = ({a: sym(letter + a) for a in sample.tokens} for letter in "wd")
        mean = add([weight[a] * w[a] for a in sample.tokens])
        left = add([weight[a] * (w[a] - mean) * d[a] for a in sample.tokens])
        pairs = [weight[a] * weight[b] * (w[a] - w[b]) * (d[a] - d[b]) for a in sample.tokens for b in sample.tokens]
        total.append(sample.weight * (left - add(pairs) / 2))
    return {"covariance": add(total)}


def token_left_out(count: int, length: int) -> dict[str, Node]:
    """Softmax weights without the last token, p / (1 - p_last), and what leaving it out adds."""
    ratios, gains = [], []
    for sample in samples(count, length, False).samples:
        weight = {a: exp(sym(f"s{a}")) for a in sample.tokens}
        first, last, total = weight[sample.tokens[0]], weight[sample.tokens[-1]], add(weight.values())
        fewer = first / (total - last)
        ratios.append(sample.weight * (fewer - first / total / (1 - last / total)))
        gains.append(sample.weight * (fewer - first / total - fewer * last / total))
    return {"ratio": add(ratios), "gain": add(gains)}


KINDS: list[Callable[[int, int], dict[str, Node]]] = [
    printed_against_derived,
    quotient_law,
    shifted_scores,
    conserved,
    softmax_gradients,
    token_left_out,
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("count", "length"), SIZES)
def test_an_identity_over_many_samples_is_proved(
    kind: Callable[[int, int], dict[str, Node]], count: int, length: int
) -> None:
    verdict = identity(kind(count, length))
    assert verdict.as_stated == "holds" and str(verdict.evidence) == "proof", verdict.residual


@pytest.mark.parametrize("kind", KINDS)
def test_one_changed_coefficient_is_refuted_with_a_witness(kind: Callable[[int, int], dict[str, Node]]) -> None:
    for name, node in kind(64, 3).items():
        terms = graph.linear_terms(node) if node is not graph.ZERO else ()
        for k, (_, term) in enumerate(terms):
            if k in (0, len(list(terms)) // 2):
                result = zero_test(node + Fraction(1, 1000) * term)
                assert result.answer == "nonzero" and result.witness is not None, name
                values = {sym(key): num(value) for key, value in result.witness.items()}
                (constant,) = graph.substitute([node + Fraction(1, 1000) * term], values)
                assert not ball_evaluate([constant], {}, 400)[0].contains(0)


def test_work_grows_with_the_number_of_samples_and_not_with_their_product() -> None:
    used = []
    for count in (8, 16, 32, 64):
        form = PartialFractions(10**9)
        assert form(softmax_gradients(count, 3)["covariance"]) == {}
        used.append(10**9 - form._left)
    assert used[3] < 12 * used[0] and used[3] < 200_000, used


def test_a_normal_form_keeps_the_value() -> None:
    """Law: what is read back from a normal form has the value of the expression, at exact points."""
    print("seed", SEED)
    rng = random.Random(SEED)
    compared = paired = 0
    for _ in range(300):
        form = PartialFractions(100_000)
        below = [x + rng.choice([1, 2, y, -y]) * rng.choice([1, exp(y), x]) + rng.randint(0, 2) for _ in range(3)]
        try:
            node = random_expression(rng, 4) / (random_expression(rng, 2) + rng.randint(1, 3))
            node = node * (1 + random_expression(rng, 2)) / (below[0] * below[1]) + random_expression(rng, 2) / below[2]
            back = form.node(form(node))
            paired += any(form._pairs.values())
        except (NotRational, TooLarge, ZeroDivisionError):
            continue
        for _ in range(3):
            point = {name: flint.arb(flint.fmpq(rng.randint(-9, 9), 4)) for name in "xy"}
            try:
                both = ball_evaluate([node, back], point, 256)
            except ZeroDivisionError:
                continue
            if all(ball.is_finite() for ball in both):
                compared += node is not back
                assert both[0].overlaps(both[1]), (node, back)
    assert compared > 200 and paired > 20


@pytest.mark.parametrize(
    "node",
    [
        1 / (1 + exp(x) / (exp(x) + exp(y))) - (exp(x) + exp(y)) / (2 * exp(x) + exp(y)),  # a divisor in a divisor
        sqrt(num(8)) * x / (x + y) + 2 * sqrt(num(2)) * y / (x + y) - sqrt(num(8)),
        power(num(12), Fraction(-1, 3)) - power(num(18), Fraction(1, 3)) / 6,
        step(x) * (step(2 * x) * exp(y) + 1) - step(x) - exp(y) * step(x),
        call("tanh", x) * (exp(2 * x) + 1) - exp(2 * x) + 1,
        call("log", (x + 1) ** 2) - call("log", x**2 + 2 * x + 1),
        (x**3 + y) / (x**2 + x * y) * (x + y) - x**2 - y / x,
    ],
)
def test_rules(node: Node) -> None:
    assert node is not graph.ZERO and PartialFractions()(node) == {}


def test_what_has_no_rule_is_refused() -> None:
    for node in (sqrt(x), sqrt(num(-2) + 0 * x) * y, step(x) + step(-x), 1 / step(x)):
        with pytest.raises(NotRational):
            PartialFractions()(node)
    with pytest.raises(ZeroDivisionError):
        PartialFractions()(1 / ((x + y) ** 2 - x**2 - 2 * x * y - y**2))
    with pytest.raises(TooLarge):
        PartialFractions(1000)((x + y + z) ** 30)


def test_what_is_left_is_not_empty() -> None:
    form = PartialFractions()
    assert form.node(form(exp(x) / (exp(x) + 1) + 2 / (exp(x) + 1))) is 1 + 1 / (exp(x) + 1)


def test_a_large_power_costs_no_more_than_a_small_one() -> None:
    x = sym("x")
    sine, sides = graph.call("sin", x), x / (1 + x)
    large = 10**9
    gap = sine**large * sides + sine**large / (1 + x) - sine**large
    assert PartialFractions(limit=100)(gap) == {}
    assert PartialFractions(limit=100)((-sine) ** (large + 1) + sine ** (large + 1)) == {}
    with pytest.raises(TooLarge):  # before a list of so many factors is made
        PartialFractions()((sine + 1) ** large)


def test_monomials_are_ordered_by_their_first_atoms() -> None:
    """Atoms of small numbers count most; more of one counts more; 1 is the least."""
    ordered = [(), ((2, 1),), ((2, 3),), ((1, 1),), ((1, 1), (2, 1)), ((1, 2),), ((0, 1),), ((0, 1), (1, 4)), ((0, 2),)]
    assert sorted(ordered[::-1], key=_lexicographic) == ordered
