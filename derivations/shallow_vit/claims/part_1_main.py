"""Sections 2 to 4: assumptions, theorem, propositions, remarks and the experiments' settings."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np

from odesys import (
    ONE,
    Evidence,
    Verdict,
    always_positive,
    as_ball,
    certified,
    combine_verdicts,
    enumerate_all,
    equal,
    fit_power_law,
    graph,
    measured,
    refuted,
    rounded,
    sym,
)

from .. import setting
from ..laboratory import Laboratory
from ..setting import Case
from ..special import network
from ..special.class_network import Counts
from .book import NUMBERS, PRINTED, book
from .common_runs import (
    MAIN,
    attention,
    by_alpha,
    by_step_size,
    main,
    near_reference,
    off_recursion,
    off_reference,
    prototypes,
    theory,
)

NOISY = Case(
    M=5,
    alpha_s=0.5,
    alpha_c=0.04,
    L=50,
    N=20,
    d=10,
    m=100,
    m_a=10,
    m_b=10,
    sigma=0.1,
    delta=0.2,
    noise=0.01,
    unit=1,
    eta=0.2,
)


@book.claim(
    "Eq.5",
    "Token noise",
    kind="definition",
    insensitive="the generator draws the data law of the paper, whatever is trained on",
    statement=r"\min_j\|x_l^n-\mu_j\|\le\tau<\kappa/4,\quad y^n=+1\iff|S_1^n|>|S_2^n|",
    reading="orthonormal patterns (kappa = sqrt 2), noise c_0 = 0.01 in d = 10 and unit length: all 1000 tokens of 20 samples are nearest to their own pattern and within tau = 0.06 < kappa/4; the label is the majority in every sample, also with random counts (seed 3)",
)
def token_noise(lab: Laboratory) -> Verdict:
    """Every token of a draw."""
    rng = np.random.default_rng(3)
    data = network.draw(NOISY, rng)
    distance = np.linalg.norm(data.X[:, :, None, :] - network.patterns(NOISY)[None, None], axis=3)
    counts = data.counts(NOISY.M)
    right = bool(
        (distance.argmin(axis=2) == data.pattern).all() and (np.sign(counts[:, 0] - counts[:, 1]) == data.y).all()
    )
    top = float(distance.min(axis=2).max())
    return measured(right and top < 0.06 < np.sqrt(2) / 4, {"largest distance": top}, tau=rounded(top), seed=3)


@book.claim(
    "Asm.1",
    "Initial model",
    kind="definition",
    statement=r"\max(\|W_V\|,\|W_K\|,\|W_Q\|)\le1,\ \|W_V\mu_j-p_j\|\le\sigma,\ \|W_K\mu_j-q_j\|,\|W_Q\mu_j-r_j\|\le\delta,\ q_{1,2}=r_{1,2}",
    reading="the start of the runs with sigma = 0.1, delta = 0.2, m_a = m_b = 10 (seeds 0..9): norms at most 1 (1e-12), orthonormal features; errors of that length are drawn orthogonal to the feature and then everything is divided by the norm, so that the errors are at most 1.3 sigma and 1.3 delta",
)
def initial_model(lab: Laboratory) -> Verdict:
    """Norms and errors of ten starts."""
    case = replace(MAIN, sigma=0.1, delta=0.2, m_a=10, m_b=10)
    worst = {"norm": 0.0, "sigma": 0.0, "delta": 0.0, "features": 0.0}
    for seed in range(10):
        state, ideal = lab.begin(case, seed)
        worst["norm"] = max(worst["norm"], *(float(np.linalg.norm(x, 2)) for x in (state.v, state.kappa, state.rho)))
        worst["sigma"] = max(worst["sigma"], float(np.linalg.norm(state.v - ideal.p, axis=1).max()))
        worst["delta"] = max(
            worst["delta"], *(float(np.linalg.norm(x - ideal.q, axis=1).max()) for x in (state.kappa, state.rho))
        )
        worst["features"] = max(
            worst["features"],
            float(np.abs(ideal.p @ ideal.p.T - np.eye(5)).max()),
            float(np.abs(ideal.q @ ideal.q.T - np.eye(5)).max()),
        )
    fine = (
        worst["norm"] <= 1 + 1e-12 and worst["sigma"] <= 0.13 and worst["delta"] <= 0.26 and worst["features"] < 1e-12
    )
    return measured(fine, rounded(worst), seeds="0..9", **rounded(worst))


@book.claim(
    "Asm.2",
    "Errors of tokens",
    kind="inequality",
    uses=["Asm.1", "Eq.5"],
    insensitive="triangle inequality at the start, before anything moves",
    statement=r"W_Vx_l=p_j+z,\ W_Kx_l=q_j+n,\ W_Qx_l=r_j+o,\quad\|z\|\le\sigma+\tau,\ \|n\|,\|o\|\le\delta+\tau",
    reading="all 1000 tokens of a noisy draw (seed 3): error at most the error of the pattern plus the distance of the token, for each of the three maps (norms at most 1)",
)
def errors_of_tokens(lab: Laboratory) -> Verdict:
    """Token by token."""
    rng = np.random.default_rng(3)
    net, ideal = network.start(NOISY, rng)
    data = network.draw(NOISY, rng)
    mu = network.patterns(NOISY)
    distance = np.linalg.norm(data.X - mu[data.pattern], axis=2)
    room = {}
    for name, W, feature in (("z", net.W_V, ideal.p), ("n", net.W_K, ideal.q), ("o", net.W_Q, ideal.q)):
        start = np.linalg.norm(mu @ W.T - feature, axis=1)
        error = np.linalg.norm(data.X @ W.T - feature[data.pattern], axis=2)
        room[name] = float((start[data.pattern] + distance - error).min())
    return measured(min(room.values()) >= -1e-12, rounded(room), least_room=rounded(room), seed=3)


@book.claim(
    "Eq.7",
    "Width",
    kind="definition",
    expect="fails",
    insensitive=PRINTED,
    statement=r"m\gtrsim M^2\log N,\quad2<M<m_a,m_b",
    reading="constant 1, the paper's own experiments: (M, m_a, m, N) = (5, 10, 1000, 200) of section 4 and (10, 20), (15, 20), (20, 20) of appendix B with the same m and N; corrected: it holds for M = 5 and 10",
)
def width(lab: Laboratory) -> Verdict:
    """Both conditions for every setting."""

    def fits(case: tuple[int, int]) -> bool:
        M, m_a = case
        with flint.ctx.workprec(64):
            return 2 < M < m_a and bool(as_ball(1000) >= M * M * as_ball(200).log())

    settings = [(5, 10), (10, 20), (15, 20), (20, 20)]
    with flint.ctx.workprec(64):
        needed = int((225 * as_ball(200).log()).ceil().unique_fmpz())
    return enumerate_all(settings, fits, "settings (M, m_a)").correcting(
        r"M=5\ (m_a=10)\ \text{and}\ M=10\ (m_a=20)",
        enumerate_all(settings[:2], fits, "settings (M, m_a)"),
        f"M = 15 needs m >= {needed}, and M = 20 = m_a leaves no room for M < m_a",
    )


@book.claim(
    "Sec.4-init",
    "Initial model of the experiments",
    kind="identity",
    uses=["Asm.1"],
    expect="fails",
    insensitive=PRINTED,
    statement=r"W_Q^{(0)}=W_K^{(0)}=\delta^2I/c_0^2,\quad W_V^{(0)}=\sigma^2U/c_0^2\ \text{satisfy Assumption 1}",
    reading="c_0 = 0.01, delta = 0.2, sigma = 0.1 as in figures 1 and 4: the norms delta^2/c_0^2 and sigma^2/c_0^2 in exact arithmetic must be at most 1; corrected: they are for delta, sigma <= c_0",
)
def initial_of_experiments(lab: Laboratory) -> Verdict:
    """Exact norms."""
    c0 = Fraction(1, 100)
    norms = {"W_Q": Fraction(1, 5) ** 2 / c0**2, "W_V": Fraction(1, 10) ** 2 / c0**2}
    printed = (
        certified()
        if max(norms.values()) <= 1
        else refuted({name: str(x) for name, x in norms.items()}, Evidence.PROOF)
    )
    d, gap = sym("delta"), sym("gap")
    fixed = always_positive({"1 - norm at c_0 = delta + gap": ONE - d**2 / (d + gap) ** 2}, positive=("delta", "gap"))
    return printed.correcting(
        r"\delta^2/c_0^2\le1\iff\delta\le c_0",
        fixed,
        "with norm 400 every query attends to one token, and the gradients of W_K and W_Q vanish",
    )


@book.claim(
    "Sec.2-zeroed",
    "Removed tokens",
    kind="identity",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\text{sparsified tokens are set to zero}\iff\text{sums and softmax over }S^n",
    reading="one query, c kept tokens with logit S, b others with logit 0, r removed ones: a zero token has the logit 0 and the value 0 but still counts e^0 in the softmax",
)
def removed_tokens(lab: Laboratory) -> Verdict:
    """Attention on the kept tokens both ways."""
    c, b, r, S = sym("c"), sym("b"), sym("r"), sym("S")
    kept = c * graph.exp(S) / (c * graph.exp(S) + b)
    zeroed = c * graph.exp(S) / (c * graph.exp(S) + b + r)
    less = always_positive({"removal - zeroing": kept - zeroed}, positive=("c", "b", "r", "S"))
    return equal({"attention": (zeroed, kept)}, positive=("c", "b", "r", "S")).correcting(
        r"\text{tokens outside }S^n\text{ leave the softmax (15)}",
        less,
        "set to zero they dilute the attention of every query",
    )


@book.claim(
    "P3",
    "Effect of removing tokens",
    kind="inequality",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\text{removing label-irrelevant tokens reduces }\alpha_*",
    reading="alpha_* = |S_*|/|S| before and after removing r label-irrelevant tokens, for all counts; (P3) also has sigma for the tau that removing noisy tokens reduces",
)
def effect_of_removal(lab: Laboratory) -> Verdict:
    """Fractions before and after."""
    c, b, r = sym("c"), sym("b"), sym("r")  # b irrelevant tokens stay, r go
    before, after = c / (c + b + r), c / (c + b)
    return always_positive({"before - after": before - after}, positive=("c", "b", "r")).correcting(
        r"\text{it increases }\alpha_*",
        always_positive({"after - before": after - before}, positive=("c", "b", "r")),
        "the denominator shrinks",
    )


@book.claim(
    "Eq.1-positions",
    "Output weights of positions",
    kind="identity",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"a_{(l)i}\ \text{drawn for each position }l\ (1),\qquad\mathcal K_\pm=\{i:a_i\gtrless0\}\ \text{free of }l\ (55)",
    reading="for a value vector common to all L positions a neuron enters F with the mean of its a_(l)i: with shared signs |mean| = 1/sqrt(m); drawn for each position its mean square over all 2^L sign patterns is 1/(m L), enumerated for L = 1..12; (55) needs the first",
)
def weights_of_positions(lab: Laboratory) -> Verdict:
    """Mean squares over all sign patterns."""

    def mean_square(L: int) -> Fraction:
        return Fraction(sum((2 * bin(k).count("1") - L) ** 2 for k in range(2**L)), L * L * 2**L)

    printed = enumerate_all(range(1, 13), lambda L: mean_square(L) == 1, "numbers of positions L")
    fixed = enumerate_all(range(1, 13), lambda L: mean_square(L) == Fraction(1, L), "numbers of positions L")
    return printed.correcting(
        r"\mathbb E(\tfrac1L\textstyle\sum_la_{(l)i})^2=\tfrac1{mL};\ \text{the proofs need }a_{(l)i}=a_i",
        fixed,
        "signs of positions cancel, so that the effective output weight is smaller by sqrt(L)",
    )


@book.claim(
    "Thm.1",
    "Number of iterations",
    kind="order",
    uses=["Eq.34", "Eq.66", "Eq.70", "Eq.74-77"],
    expect="fails",
    statement=r"T=\Theta(\eta^{-3/5}\alpha_*^{-1})\ \text{iterations give zero generalization error}",
    reading="exponent of T in eta over eta = 0.4 .. 0.025 (m = 200, seed 3): its 95 percent interval must contain -3/5; and y F at c eta^{-3/5} steps, c from eta = 0.4, must stay at least 1; corrected: eta T (alpha_* - alpha_#) between 2.5 and 4 for all 13 pairs of fractions (alpha_* from 0.05 to 0.8), "
    "exponent of T in eta between -1.02 and -0.94, eta T of the main run within 5 percent of the symmetric system's, the step of w'p_1 and S_11 on the way (xi = 1e-4) within 3 and 2 percent; zero loss at T is Eq.74-77",
)
def number_of_iterations(lab: Laboratory) -> Verdict:
    """Exponents and the collapse over fractions."""
    runs = by_step_size(lab)
    low, value, high = fit_power_law(runs.keys(), [run.steps for run in runs.values()]).interval
    first = max(runs)
    factor = runs[first].steps * first**0.6
    outputs = {}
    for eta in (first, 0.1, 0.025):
        cut = lab.train(replace(runs[eta].case, eta=eta), 3, steps=round(factor * eta**-0.6))
        outputs[eta] = float(cut.made[-1].found.margins.min())
    seen = {"power of eta": rounded([low, value, high]), "y F after c eta^-3/5 steps": rounded(outputs)}
    printed = measured(low <= -0.6 <= high and min(outputs.values()) >= 0.99, seen)
    products = {f"{a}, {c}": eta_T * (a - c) for (a, c), eta_T in by_alpha(lab).items()}
    level, off = main(lab).eta_T / theory()["eta_T"], off_reference(lab, "step1", "S11")
    fine = (
        min(products.values()) > 2.5
        and max(products.values()) < 4
        and -1.02 < value < -0.94
        and abs(level - 1) < 0.05
        and near_reference(off)
    )
    fixed = measured(
        fine,
        {
            "products": rounded(products),
            "power of eta": rounded(value),
            "eta T over symmetric": rounded(level),
            **rounded(off),
        },
        products=rounded(products, 4),
    ).with_constants(c=[rounded(min(products.values()), 4), rounded(max(products.values()), 4)])
    return printed.correcting(
        r"\eta T=\Theta\big((\alpha_*-\alpha_\#)^{-1}\big),\quad2.5\le\eta T(\alpha_*-\alpha_\#)\le4\ (M=5,\ \xi=1/\sqrt m)",
        fixed,
        "for small eta the run is a function of eta t; a factor eta was lost between (98) and (102)",
    )


@book.claim(
    "Prop.1",
    "Frozen attention",
    kind="order",
    uses=["Thm.1", "Eq.78-80"],
    expect="fails",
    statement=r"W_K,W_Q\text{ frozen}:\ T\text{ of (10), i.e. }\propto\alpha_*^{-1},\ \text{gives zero error if}\ N\ge\Omega((\alpha_*(\alpha_*-\sigma-\tau))^{-2})",
    reading="power of alpha_* in eta T for alpha_# = 0, alpha_* = 0.2, 0.1, 0.05: with trained attention between -1.15 and -0.95, frozen between -1.6 and -1.25, so that a T proportional to 1/alpha_* is not enough; the condition on N is Eq.78-80",
)
def frozen_attention(lab: Laboratory) -> Verdict:
    """Powers of alpha_* with and without attention."""
    power = {}
    for name, table in (("trained", by_alpha(lab)), ("frozen", by_alpha(lab, frozen=True))):
        rows = [(a, eta_T) for (a, c), eta_T in table.items() if c == 0][-3:]
        power[name] = fit_power_law([a for a, _ in rows], [t for _, t in rows]).value
    slower = min(by_alpha(lab, frozen=True)[key] / by_alpha(lab)[key] for key in by_alpha(lab))
    return measured(power["frozen"] > -1.15, rounded(power)).correcting(
        r"\eta T\propto\alpha_*^{-1.4}\ \text{frozen},\ \alpha_*^{-1.04}\ \text{trained}",
        measured(
            -1.6 < power["frozen"] < -1.25 and -1.15 < power["trained"] < -0.95 and slower > 1,
            rounded(power),
            powers=rounded(power),
            least_slowdown=rounded(slower),
        ),
        "without attention a query of pattern 1 sees a fraction of order alpha_* of pattern 1, for ever",
    )


@book.claim(
    "Prop.2",
    "Concentration of attention",
    kind="order",
    uses=["Eq.45", "Eq.176-181", "Eq.61-63", "Eq.64-65"],
    expect="fails",
    statement=r"\sum_{i\in S_*}\mathrm{softmax}(X^\top W_K^\top W_Qx_l)_i\to1-\eta^C\ \text{for all }l\in S^n",
    reading="(a) margin 1, eta = 0.4 .. 0.025: 1 - attention of label-relevant queries at T must fall with eta; it is constant within 3 percent; (b) two mirrored neurons, margins 1, 10, 100, alpha_* = 0.5, alpha_# = 0.05: attention of nuisance queries must come within 0.05 of 1; corrected: at margin 1 the level of the "
    "symmetric system (within 0.01), for large margins nuisance queries come within 0.01 of alpha_*/(alpha_* + alpha_#) and stay below it, confusion queries stay below 0.85, and all queries exceed 0.995 at margin 1000 if alpha_# = 0; outputs of the two neurons equal those of the derived 21 variables (1e-9, up to y F = 50)",
)
def concentration(lab: Laboratory) -> Verdict:
    """Levels at the end over step sizes, and over margins by type of query."""
    levels = {eta: 1 - attention(run)["rel_s"] for eta, run in by_step_size(lab).items()}
    power = fit_power_law(levels.keys(), levels.values()).interval
    flat = measured(power[1] > 0.1, {"1 - attention at T": rounded(levels), "power of eta": rounded(power)})
    wide = {margin: attention(prototypes(lab, margin)) for margin in (1.0, 10.0, 100.0)}
    ceiling = 0.5 / 0.55
    every = measured(
        wide[100.0]["rel_n"] > 0.95,
        {"margin": 100, "nuisance queries": rounded(wide[100.0]["rel_n"]), "ceiling": rounded(ceiling)},
    )
    clean = attention(prototypes(lab, 1000.0, 0.0))
    gap = attention(main(lab))["rel_s"] - theory()["rel_s"]
    nuisance = [row["rel_n"] for row in wide.values()]
    exact = max(off_recursion(prototypes(lab, margin)) for margin in (1.0, 100.0))
    fine = (
        exact < 1e-9
        and abs(gap) < 0.01
        and ceiling - 0.01 < nuisance[-1]
        and max(nuisance) < ceiling
        and wide[100.0]["rel_c"] < 0.85
        and min(clean[k] for k in ("rel_s", "rel_c", "rel_n")) > 0.995
    )
    table = {str(margin): rounded(row, 4) for margin, row in wide.items()}
    fixed = measured(
        fine,
        {
            "by margin": table,
            "alpha_# = 0": rounded(clean),
            "off the symmetric level": rounded(gap),
            "off the recursion": exact,
        },
        by_margin=table,
        without_confusion=rounded(clean),
    )
    return (
        combine_verdicts({"every query": every, "level": flat})
        .correcting(
            r"\text{margin 1: a level independent of }\eta;\quad\text{margin}\to\infty:\ \frac{\alpha_*}{\alpha_*+\alpha_\#}\ \text{for non-discriminative queries}",
            fixed,
            "the hinge stops the motion, and a non-discriminative query gives both discriminative patterns the same logit",
        )
        .with_constants(ceiling="alpha_*/(alpha_* + alpha_#)")
    )


@book.claim(
    "Prop.2-rate",
    "Rate of concentration",
    kind="order",
    uses=["Prop.2"],
    expect="fails",
    statement=r"\sum_{S_*}\mathrm{softmax}\to1-\eta^C\ \text{at a sublinear rate of }O(1/t)",
    reading="sublinear read as a power law in t (as an upper bound alone O(1/t) would say little: without a stop it is met, with the hinge at margin 1 there is no limit to approach, Prop.2): two mirrored neurons, alpha_# = 0, margin 1000, eta = 0.005, from y F = 5 on: the power of s = eta t in 1 - A_11 must lie between -2 and -1/2; corrected: log(1 - A_11) is a line in s with slope between -1.2 and -0.7 and correlation above 0.995 in absolute value, and y F grows exponentially, as the derived 21 variables do (1e-9, up to y F = 50)",
)
def rate(lab: Laboratory) -> Verdict:
    """Power law against exponential."""
    run = prototypes(lab, 1000.0, 0.0, eta=0.005)
    left = np.array([1 - made.found.A[0, 0, 0] for made in run.made])
    output = np.array([float(made.found.margins.min()) for made in run.made])
    s = run.times * run.case.eta
    late = (output > 5) & (output < 900)
    if late.sum() < 5:
        return measured(False, {"steps with 5 < y F < 900": int(late.sum())}).correcting(
            r"1-A_{11}\propto e^{-cs}", measured(False, {"steps": int(late.sum())}), ""
        )
    power = float(np.polyfit(np.log(s[late]), np.log(left[late]), 1)[0])
    slope, straight = (
        float(np.polyfit(s[late], np.log(left[late]), 1)[0]),
        float(np.corrcoef(s[late], np.log(left[late]))[0, 1]),
    )
    growth = float(np.polyfit(s[late], np.log(output[late]), 1)[0])
    seen = {
        "power of s": rounded(power),
        "slope in s": rounded(slope),
        "correlation": rounded(straight),
        "slope of log y F": rounded(growth),
    }
    return measured(-2 < power < -0.5, seen).correcting(
        r"1-A_{11}\propto e^{-0.93s},\ yF\propto e^{0.71s}\ \text{(no stop, }\pi=\tfrac12)",
        measured(
            -1.2 < slope < -0.7 and straight < -0.995 and 0.5 < growth < 0.9 and off_recursion(run) < 1e-9, **seen
        ),
        "values and neurons grow exponentially until the hinge stops them, and logits with them",
    )


@book.claim(
    "Eq.11",
    "Number of samples",
    kind="probability",
    uses=["Eq.69", "Thm.1"],
    same_as="Eq.72",
    statement=r"N\ge\Omega\big((\alpha_*-c'(1-\zeta)-c''(\sigma+\tau))^{-2}\big)\Rightarrow\text{zero generalization error with probability }0.99",
    reading="as a sufficient condition with N = 4/alpha_*^2 (even), sigma = tau = 0, random nuisance counts, alpha_# = 0.04, L = 50, m = 100, alpha_* = 0.2, 0.3, 0.4, seeds 0..2: mean loss of 400 fresh samples below 1e-2 after zero training loss in all runs (not exactly 0), reached with eta T (alpha_* - alpha_#) between 2.6 and 4; "
    "sharpened: with equal fractions in all samples the fluctuation behind N is absent, and N = 4 already gives loss 0",
)
def number_of_samples(lab: Laboratory) -> Verdict:
    """Test losses, and four balanced samples."""
    worst, four, products = {}, {}, list[float]()
    for alpha in (0.2, 0.3, 0.4):
        case = Case(
            M=5,
            alpha_s=alpha,
            alpha_c=0.04,
            L=50,
            N=2 * round(2 / alpha**2),
            m=100,
            m_a=5,
            m_b=5,
            eta=0.2,
            filling="random",
            steps=3000,
        )
        losses = []
        for seed in range(3):
            run = lab.train(case, seed, Counts(*setting.draw_counts(case, np.random.default_rng([seed, 5]))))
            products.append(run.eta_T * (case.alpha_s - case.alpha_c))
            fresh = lab.data(Counts(*setting.draw_counts(case, np.random.default_rng([seed, 6]), 400)))
            losses.append(float(np.maximum(1 - lab.forces(run.state, fresh, 1.0).found.margins, 0).mean()))
        worst[alpha] = max(losses)
        exact = Counts(*(np.tile(x, (2, 1) if x.ndim == 2 else 2) for x in setting.exact_counts(case)))
        few = lab.train(case, 0, exact)
        four[alpha] = float(np.maximum(1 - lab.forces(few.state, lab.data(exact), 1.0).found.margins, 0).max())
    fine = max(worst.values()) < 1e-2 and min(products) > 2.6 and max(products) < 4
    verdict = measured(
        fine,
        rounded({"worst": worst, "products": products}),
        worst=rounded(worst),
        four_samples=rounded(four),
        products=rounded([min(products), max(products)]),
    )
    return (
        replace(verdict, sharpened="with equal fractions N = 4 is enough for every alpha_*")
        if max(four.values()) == 0
        else measured(False, rounded(four))
    )


@book.claim(
    "Rem.2",
    "Fractions and the number of iterations",
    kind="order",
    uses=["Thm.1"],
    statement=r"\text{larger }\alpha_*\text{ reduces }T",
    reading="eta T falls in alpha_* along each of the three families of Thm.1 (alpha_# = 0, alpha_# = alpha_*/4, alpha_nd = 1/2), with eta T (alpha_* - alpha_#) between 2.7 and 3.8 everywhere; token noise is Rem.2-noise",
)
def fractions(lab: Laboratory) -> Verdict:
    """Monotone families."""
    table = by_alpha(lab)
    families = [
        [(a, t) for (a, c), t in table.items() if chosen(a, c)]
        for chosen in (lambda a, c: c == 0, lambda a, c: c == a / 4, lambda a, c: abs(a + c - 0.5) < 1e-9)
    ]
    falling = all(
        t1 > t2 for family in families for (_, t1), (_, t2) in zip(sorted(family), sorted(family)[1:], strict=False)
    )
    products = [t * (a - c) for (a, c), t in table.items()]
    fine = falling and min(products) > 2.7 and max(products) < 3.8
    return measured(
        fine,
        {"families": rounded([[t for _, t in f] for f in families])},
        products=rounded([min(products), max(products)]),
    )


@book.claim(
    "Rem.2-noise",
    "Token noise and the number of iterations",
    kind="order",
    uses=["Thm.1"],
    statement=r"\text{smaller }\tau\text{ reduces }T",
    reading="SGD on unit tokens with noise c_0 = 0.3, 0.15 and 0 in d = 10 (M = 5, N = 20, L = 30, m = 100, eta = 0.2, seeds 0..2): the mean number of steps to zero training loss falls, and without noise eta T (alpha_* - alpha_#) is between 2.8 and 3.3 (as in Thm.1); sparsification of noisy tokens itself is the paper's figure 5",
)
def noise_and_iterations(lab: Laboratory) -> Verdict:
    """Mean steps over noise levels."""
    case = Case(M=5, alpha_s=0.5, alpha_c=0.1, L=30, N=20, d=10, m=100, m_a=10, m_b=10, unit=1, eta=0.2, steps=600)
    steps = {
        c0: float(np.mean([lab.tokens(replace(case, noise=c0), seed).steps for seed in range(3)]))
        for c0 in (0.3, 0.15, 0.0)
    }
    values = list(steps.values())
    first = case.eta * values[2] * (case.alpha_s - case.alpha_c)
    return measured(
        values[0] > values[1] > values[2] and 2.8 < first < 3.3, rounded(steps), steps=rounded(steps), seeds="0..2"
    ).with_constants(without_noise=rounded(first, 4))


@book.claim(
    "Rem.3",
    "Errors of the initial model",
    kind="order",
    uses=["Thm.1", "Asm.1"],
    statement=r"\text{smaller }\sigma,\delta\text{ speed up the convergence}",
    reading="m_a = m_b = 10, m = 200, means over seeds 0..5: eta T at sigma = 0, 0.25, 0.5 rises, and at delta = 0, 0.25, 0.5 rises, by less than 60 percent (weakly), from within 8 percent of the symmetric system's eta T",
)
def errors_of_initial_model(lab: Laboratory) -> Verdict:
    """Means over seeds."""
    case = replace(MAIN, m=200, xi=200**-0.5, m_a=10, m_b=10, eta=0.05, steps=3000)
    rows = {}
    levels = (0.0, 0.25, 0.5)
    for name, cases in (
        ("sigma", [replace(case, sigma=x) for x in levels]),
        ("delta", [replace(case, delta=x) for x in levels]),
    ):
        rows[name] = [float(np.mean([lab.train(chosen, seed).eta_T for seed in range(6)])) for chosen in cases]
    start = rows["sigma"][0] / theory()["eta_T"]
    fine = all(row[0] < row[1] < row[2] < 1.6 * row[0] for row in rows.values()) and abs(start - 1) < 0.08
    return measured(fine, rounded(rows), eta_T=rounded(rows), seeds="0..5")


@book.claim(
    "Rem.1",
    "Factor gained by attention",
    kind="order",
    uses=["Prop.1"],
    expect="fails",
    level="full",
    statement=r"\text{trained attention reduces the sample complexity by a factor }\alpha_*^{-2}",
    reading="test loss at zero training loss, N = 32, random nuisance counts with jitter 0.03, alpha_# = 0.04, L = 50, m = 100, xi = 0.1, eta = 0.2, 6 seeds, alpha_* = 0.15, 0.2, 0.3, 0.4: power of alpha_* in (frozen over trained), which would have to be at most -3/2 for a loss inversely proportional to N; "
    "corrected: between -1.1 and -0.1",
)
def factor_gained(lab: Laboratory) -> Verdict:
    """Powers of alpha_* in the test losses."""
    fractions_, loss = (0.15, 0.2, 0.3, 0.4), {"trained": list[float](), "frozen": list[float]()}
    for alpha in fractions_:
        case = Case(
            M=5,
            alpha_s=alpha,
            alpha_c=0.04,
            L=50,
            N=32,
            m=100,
            m_a=5,
            m_b=5,
            xi=0.1,
            eta=0.2,
            filling="random",
            jitter=0.03,
            steps=8000,
        )
        for name in loss:
            found = []
            for seed in range(6):
                counts = Counts(*setting.draw_counts(case, np.random.default_rng([seed, 5])))
                run = lab.train(replace(case, frozen=int(name == "frozen")), seed, counts)
                fresh = lab.data(Counts(*setting.draw_counts(case, np.random.default_rng([seed, 6]), 1000)))
                found.append(float(np.maximum(1 - lab.forces(run.state, fresh, 1.0).found.margins, 0).mean()))
            loss[name].append(float(np.mean(found)))
    power = {name: fit_power_law(fractions_, values).value for name, values in loss.items()}
    gain = power["frozen"] - power["trained"]
    seen = {"powers": rounded(power), "gain": rounded(gain), "losses": rounded(loss)}
    return measured(gain <= -1.5, seen).correcting(
        r"\text{a factor of about }\alpha_*^{-0.5}",
        measured(-1.1 < gain < -0.1 and power["trained"] < -1, **seen),
        "the ordering is right; the bounds are not sharp",
    )
