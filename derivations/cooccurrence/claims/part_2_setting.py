"""Sections 2 and 3: data law, training set, parameter condition, model and loss."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import chisquare

from odesys import Verdict, combine_verdicts, enumerate_all, equal, graph, measured, rounded, sym

from .. import setting
from ..laboratory import Laboratory
from ..special import as_printed
from ..special.phase_one_bounds import corner_points
from .book import NUMBERS, START, TOY, TOY_READING, book, toy_gram, toy_neurons
from .common_hypotheses import CONDITION_1, NEURONS, PHASES, SMALL, TIED
from .common_late import tied_points
from .common_runs import ALL, path
from .common_start import START_POINTS


@book.claim(
    "Def.2.1",
    "Data law",
    kind="definition",
    where="Definition 2.1",
    hypotheses=(),
    insensitive="the generator draws the law of the paper, whatever is trained on",
    statement=r"\Pr[I_1]=\tfrac12,\ \Pr[I_2]=\Pr[I_3]=\Pr[I_4]=\tfrac16,\ \mu_3\ \text{always},\ \text{other places uniform on}\ \mathcal R",
    reading="6000 samples of the generator: classes, places and irrelevant words by chi-square at level 0.001, labels and special words exactly.",
)
def data_law(lab: Laboratory) -> Verdict:
    """Frequencies by chi-square, everything else sample by sample."""
    rng, L, d, count = np.random.default_rng(11), 5, 12, 6000
    classes: Counter[int] = Counter()
    places: Counter[int] = Counter()
    irrelevant: Counter[str] = Counter()
    for _ in range(count):
        tokens, label = setting.draw(L, d, rng)
        special = sorted(t for t in tokens if t in setting.SPECIAL[1])
        kind = next(c for c in setting.CLASSES if sorted(setting.SPECIAL[c]) == special)
        if label != setting.LABEL[kind]:
            return measured(False, {"tokens": tokens, "label": label})
        classes[kind] += 1
        places[tokens.index("mu3")] += 1
        irrelevant.update(t for t in tokens if t not in setting.SPECIAL[1])
    expected = [float(setting.PROBABILITY[c]) * count for c in setting.CLASSES]
    p = {
        "classes": chisquare([classes[c] for c in setting.CLASSES], expected).pvalue,
        "place of mu3": chisquare([places[k] for k in range(L)]).pvalue,
        "irrelevant words": chisquare([irrelevant[f"mu{k}"] for k in range(4, d + 1)]).pvalue,
    }
    p = {key: float(value) for key, value in p.items()}
    return measured(min(p.values()) > 1e-3, p, p_values=p, samples=count, seed=11)


@book.claim(
    "Asm.2.3",
    "Training set",
    kind="condition",
    where="Assumption 2.3",
    hypotheses=(),
    uses=["Def.2.1"],
    statement=r"|I_1|=\tfrac n2,\ |I_2|=|I_3|=|I_4|=\tfrac n6,\ \text{all irrelevant words different}",
    reading="Checked of the training sets used here; they use 3 + nL - 7n/3 words, so the printed nL <= d is more than is needed.",
)
def training_set(lab: Laboratory) -> Verdict:
    """Every sample, and the number of words."""

    def right(case: tuple[int, int]) -> bool | list[str]:
        data = lab.data(*case)
        n, L = case
        used = len({t for s in data.samples for t in s.tokens})
        missing = setting.satisfies_assumption(data)
        if any(s.weight != Fraction(1, n) for s in data.samples):
            missing.append("weights are not 1/n")
        return (not missing and used == 3 + n * L - 7 * n // 3) or missing

    return enumerate_all([(6, 4), (12, 5), (60, 5)], right, "sizes (n, L)")


@book.claim(
    "Cond.1",
    "Parameter condition",
    kind="condition",
    where="Condition 1",
    hypotheses=(),
    insensitive=NUMBERS,
    statement=r"m\ge\widetilde\Omega(\max\{m_1,L^2\}),\ m_1\ge\widetilde\Omega(1),\ \sigma_0=\tfrac1{\widetilde\Theta(\sqrt{Lm})},\ \sigma_1=\tfrac1{\widetilde\Theta(\sqrt{m_1})},\ n\ge\widetilde\Omega(L^2),\ L\ge\widetilde\Omega(1),\ \tfrac1\delta\le\mathrm{poly}(m)",
    reading="The points of this book satisfy it; the experiment of Appendix A has m < m_1 and fewer irrelevant words than places, so Assumption 2.3 (ii) not.",
)
def parameter_condition(lab: Laboratory) -> Verdict:
    """The margins of all predicates at the points of the book, and two numbers of the experiment."""
    starts = [{k: float(v) if isinstance(v, Fraction) else v for k, v in p.items()} for p in START_POINTS]
    runs = [p for name in ALL for p in path(lab, name)]
    groups = {
        "start": (starts, (*CONDITION_1, SMALL, NEURONS)),
        "boxes": (corner_points(), PHASES),
        "runs": (runs, PHASES),
        "late": (tied_points(lab), (*PHASES, TIED)),
    }
    least = {
        name: min(float(hypothesis.at(point)) for point in points for hypothesis in hypotheses)
        for name, (points, hypotheses) in groups.items()
    }
    m, m1, words, places = 128, 256, 61, 160  # of the experiment: widths, irrelevant words, places of tokens
    fine = min(least.values()) >= 0 and m < m1 and words < places
    return measured(fine, rounded(least), least_margin=rounded(least), experiment={"m/m1": m / m1, "words": words})


@book.claim(
    "Eq.1",
    "The model",
    kind="definition",
    where="Equation (1)",
    hypotheses=(),
    uses=["Def.2.1"],
    statement=r"F(X)=\sum_l\sum_ja_jw_j^\top W_VX\,\mathrm{Softmax}\big(X^\top W_K^\top W_Qx_l/\sqrt m\big)",
    reading=f"The derived margins y F equal Eq. (1) written out, per neuron and summed over neurons, {TOY_READING}.",
)
def model(lab: Laboratory) -> Verdict:
    """Margins of both levels against the formula."""
    flow, tables = toy_neurons(lab)
    pairs = {}
    for k, F in enumerate(tables.outputs):
        pairs[f"level 0, sample {k + 1}"] = (flow.system.observables[f"margin_{k + 1}"], tables.labels[k] * F)
    gram = toy_gram(lab)
    G = {sym(gram.matrices["aWV"][0, x]): tables.G(x) for x in range(4)}
    for k, F in enumerate(tables.outputs):
        pairs[f"level 1, sample {k + 1}"] = (
            graph.substitute([gram.system.observables[f"margin_{k + 1}"]], G)[0],
            tables.labels[k] * F,
        )
    return equal(pairs, positive=("m",))


@book.claim(
    "Eq.2",
    "The loss",
    kind="definition",
    where="Equation (2)",
    hypotheses=(),
    uses=["Eq.1"],
    statement=r"\hat{\mathcal L}=\tfrac1n\sum_i\log(1+e^{-y_iF_i}),\quad g=-\ell'",
    reading="The derived loss is the mean of log(1 + exp(-y F)) with F as in Eq. (1), and -dl/du = 1/(1 + e^u).",
)
def loss(lab: Laboratory) -> Verdict:
    """The loss of the engine from its margins, for both data sets."""
    pairs = {}
    for flow in (toy_gram(lab), lab.outputs_of(setting.data(6, 4), setting.words_needed(6, 4))):
        seen = flow.system.observables
        margins = [seen[f"margin_{k + 1}"] for k in range(len(flow.data))]
        mean = graph.add([graph.call("softplus", -u) for u in margins]) / len(margins)
        pairs[f"{len(margins)} samples"] = (seen["loss"], mean)
    toy = toy_gram(lab)
    tables = as_printed.symbolic_tables(toy, TOY, (1,))
    printed = [graph.call("softplus", -y * F) for y, F in zip(tables.labels, tables.outputs, strict=True)]
    pairs["with Eq. (1)"] = (toy.system.observables["loss"], graph.add(printed) / len(printed))
    u = sym("u")
    slope = graph.gradient(graph.call("softplus", -u), [u])[0]
    return equal(pairs, positive=("m",)) & equal({"g": (-slope, 1 / (1 + graph.exp(u)))})


@book.claim(
    "Beyond.start",
    "Start at infinite width",
    kind="definition",
    origin="ours",
    hypotheses=(),
    insensitive=START,
    statement=r"\beta=\sigma_1^2mm_1,\ G=0,\ \Gamma=\kappa=\rho=\sigma_0^2m\,I,\ A=0,\ g_i=\tfrac12,\ \hat{\mathcal L}=\ln2",
    reading="Entries of the derived start, exactly, at m = 4, m_1 = 2, sigma_0 = sigma_1 = 1/2.",
)
def start(lab: Laboratory) -> Verdict:
    """Entries of all path matrices at the start."""
    flow, scale = lab.names(6, 4), setting.Scales(4, 2, 0.5, 0.5)
    spread: dict[str, Any] = dict(scale.spread())
    state = flow.initial_state(**spread)

    def right(leaf: str) -> bool:
        (segment,) = (s for s in flow.layout.segments if s.leaf == leaf)
        table = state[segment.index]
        expected = {"aWWa": scale.B * np.eye(1), "aWV": np.zeros((1, 13)), "KQ": np.zeros((13, 13))}.get(
            leaf, scale.k0 * np.eye(13)
        )
        return bool((table == expected).all())

    return combine_verdicts(
        {"entries": enumerate_all([s.leaf for s in flow.layout.segments], right, "matrices of path scalars")}
    )
