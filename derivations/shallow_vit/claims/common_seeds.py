"""What single runs show, seed by seed: a start of each kind, and the numbers that the claims on Lemma 2 read off it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from odesys import (
    Evidence,
    IntegrationError,
    Measurement,
    Verdict,
    Witness,
    computed_once,
    identity,
    refuted,
    rounded,
    say_number,
    sym,
    undecided,
    with_high_probability,
)

from ..laboratory import Laboratory, Run
from ..setting import Case
from ..special import many_networks, observables
from ..special.class_network import Counts
from .book import point
from .common_runs import (
    BY_STEP,
    MAIN,
    TILTED,
    attention,
    before_end,
    lucky_at_start,
    reference,
    scalars_of,
    series,
)

SMALL = replace(MAIN, xi=1e-4)
SEEDS = 20
PILOT = tuple(range(100_000, 100_020))  # starts on which limits set before were tried; no verdict is judged on them
STEP_SIZES = (0.018, 0.4, 7)  # ends and number; a new draw still covers a decade
BATCH = 2_000_000  # of a witness: copies of both samples, which make the same step as one of each
#: values at the start of numbers that do not begin at zero; attention of a label-relevant query at the fractions of `MAIN`
AT_START = {"S11": 1.0, "A": math.e * MAIN.alpha_s / (math.e * MAIN.alpha_s + 1 - MAIN.alpha_s)}
Facts = Mapping[str, float]


def groups(run: Run) -> dict[str, np.ndarray]:
    """W and U of (23), (24), the parts of them with the right sign of a_i, and what is in neither."""
    W, U = lucky_at_start(run)
    a = run.start.a
    return {
        "W": W,
        "U": U,
        "W+": W & (a > 0),
        "W-": W & (a < 0),
        "U-": U & (a < 0),
        "U+": U & (a > 0),
        "unlucky": ~(W | U),
    }


def kept(run: Run) -> dict[str, float]:
    """Share of each group that is active on its own query at every kept step; for the wrong sign, at the end."""
    part, h = groups(run), series(run)["h"]
    own, other = h[:, np.flatnonzero(run.data.y > 0)[0], 0], h[:, np.flatnonzero(run.data.y < 0)[0], 1]
    return {
        "kept W+": float((own[:, part["W+"]] > 0).all(axis=0).mean()),
        "kept U-": float((other[:, part["U-"]] > 0).all(axis=0).mean()),
        "kept W- at T": float((own[-1, part["W-"]] > 0).mean()),
        "kept U+ at T": float((other[-1, part["U+"]] > 0).mean()),
    }


@computed_once
def of_main(lab: Laboratory, seed: int) -> dict[str, float]:
    """A run to margin 1 from xi = 1/sqrt(m): gates, coefficients, steps, parts of the output and of the force on query 1."""
    run = lab.train(MAIN, seed, every=1)
    with np.errstate(all="ignore"):  # a broken run may stand still
        out = (
            kept(run)
            | _coefficients(run)
            | _steps(run)
            | _end(run)
            | _output(run)
            | _force(run)
            | _values(run)
            | _keys(run)
            | _unlucky(run)
        )
        out |= shares_of(run)
        out |= {"reached": float(run.fitted), "pruned well": _pruned(run)}
        return out | {f"attention {name}": value for name, value in attention(run).items()}


#: other fractions inside (8), with step sizes that need some 100 steps; m is far above M^2 log N
ELSEWHERE = (
    replace(MAIN, m=600, xi=600**-0.5, alpha_s=0.1, alpha_c=0.0, eta=0.4),
    replace(MAIN, m=400, xi=400**-0.5, alpha_s=0.5, alpha_c=0.3, eta=0.3),
)


#: nearly as many confusion as label-relevant tokens, which (8) allows without errors; a gap of 0.1 takes long, so steps are larger
CONFUSED = replace(MAIN, m=200, xi=200**-0.5, alpha_c=0.4, eta=0.3)


@computed_once
def of_confused(lab: Laboratory, seed: int) -> dict[str, float]:
    """A run with many confusion tokens: keys, mean K of the second half, and what label-relevant queries gain on their own pattern."""
    run = lab.train(CONFUSED, seed, every=1)
    on = before_end(run)
    end = len(on) if on.all() else int(np.argmin(on))
    with np.errstate(all="ignore"):
        gain = attention(run)["rel_s"] - attention(run, 0)["rel_s"]
        late = np.array([np.diag(made.G)[:2] for made in run.made[end // 2 : end]])
        return _keys(run) | _end(run) | {"attention gained": gain, "K late": float(late.mean(axis=0).max())}


#: few label-relevant tokens and fewer confusion tokens
FEW = replace(MAIN, m=600, xi=600**-0.5, alpha_s=0.1, alpha_c=0.02, eta=0.4)


@computed_once
def of_few(lab: Laboratory, seed: int) -> dict[str, float]:
    """What label-relevant queries give to confusion tokens: its least growth at a step of the last quarter before a margin, in both classes.

    From the first margin on one class alone moves; `first margin` is where in the run, which ends at T, that is. And growth of keys.
    """
    run = lab.train(FEW, seed, every=1)
    on = before_end(run)
    end = len(on) - 1 if on.all() else int(np.argmin(on))
    A = np.array([made.found.A for made in run.made])
    own = [(n, 0 if y > 0 else 1) for n, y in enumerate(run.data.y)]
    with np.errstate(all="ignore"):
        growth = np.array([np.diff(A[3 * end // 4 : end + 1, n, 1 - k, k]) for n, k in own])
        return _keys(run) | {"least on confusion": float(growth.min()), "first margin": end / max(len(on) - 1, 1)}


def either_way(seen: Verdict) -> Verdict:
    """Signs of K at alpha_# = 0.4, which (8) allows: undecided, as they turn on how output weights are drawn.

    Parameters
    ----------
    seen : what runs at `CONFUSED` say of the printed sign, with one a_i for all positions.
    """
    return undecided(
        "at alpha_# = 0.4, with one a_i for all positions, as after (55), keys shrink; with a_(l) of (1) they grow or shrink by step size "
        "and number of positions",
        not_seen_with_one_a=seen.as_stated == "fails",
    ).at(point(CONFUSED))


@computed_once
def of_elsewhere(lab: Laboratory, seed: int) -> dict[str, float]:
    """Least shares, over runs at other fractions, of lucky neurons with the right sign that do what Claim 1 says at all steps."""
    found = [shares_of(lab.train(case, seed, every=1)) for case in ELSEWHERE]
    return {name: min(of_main(lab, seed)[name], *(each[name] for each in found)) for name in found[0]}


def shares_of(run: Run) -> dict[str, float]:
    """Shares of lucky neurons with the right sign: active at all steps, with half of (31), (32), and steps with the sign of (98)."""
    x, part, on = series(run), groups(run), before_end(run)
    scale = 0.25 * run.case.alpha_s / np.sqrt(run.case.m)
    first, second = scale * x["A"][on, 0, 0, 0][:, None], scale * x["A"][on, 1, 1, 1][:, None]
    steps = np.diff(x["w"][:, :, 0], axis=0)[on[:-1]][:, part["W+"]]
    gates = kept(run)
    return {
        "share kept": min(gates["kept W+"], gates["kept U-"]),
        "share with C_1": float((x["C"][on][:, part["W+"], 0] >= first / 2).all(axis=0).mean()),
        "share with C_2": float((x["C"][on][:, part["U-"], 1] >= second / 2).all(axis=0).mean()),
        "share of steps": float((steps > 0).all(axis=0).mean()),
    }


@computed_once
def of_small(lab: Laboratory, seed: int) -> dict[str, float]:
    """A run from xi = 1e-4: means over living neurons where the mean margin passes 1/2, unlucky neurons, gates."""
    run = lab.train(SMALL, seed, every=1)
    place = next((k for k, made in enumerate(run.made) if made.found.margins.mean() >= 0.5), len(run.made) - 1)
    part = groups(run)
    with np.errstate(all="ignore"):
        out = kept(run) | scalars_of(run.states[place], run.made[place], run.data, run.case.m)
        h = run.made[-1].found.h[int(np.flatnonzero(run.data.y < 0)[0])][:, part["W+"]]
        out |= {"on confusion": float((h[0] > 0).mean()), "on own": float((h[1] > 0).mean())}
        out |= {"on nuisance": float((h[2:] > 0).mean()), "eta T": run.eta_T}
        out |= {f"logit {name}": value for name, value in observables.logits(run.state.S).items()}
    return out | _sliding(run, part["W+"])


def _unlucky(run: Run) -> dict[str, float]:
    """Neurons in neither set, a_i > 0, against lucky ones at the end; the largest step of an unlucky neuron on p_1 at half the time."""
    part, middle = groups(run), len(run.times) // 2
    unlucky = (run.start.a > 0) & part["unlucky"]
    square = (run.state.w**2).sum(axis=1)
    along = run.state.w @ run.start.v.T  # on p_1, .., p_M: features have no errors here
    step = (run.made[middle].C @ run.states[middle].v)[part["unlucky"], 0]
    return {
        "unlucky over lucky": float(square[unlucky].mean() / square[part["W+"]].mean()),
        "unlucky component over lucky": float(along[unlucky].max() / along[part["W+"], 0].mean()),
        "step of unlucky": float(np.abs(step).max() * np.sqrt(run.case.m)),
    }


def _sliding(run: Run, part: np.ndarray) -> dict[str, float]:
    """Open gates on nuisance queries of the other class: the share of steps at which it is between 0.05 and 0.95, and at T.

    Beside it the least share of open gates on queries of the own class from s = 1 on.
    """
    plus, minus = (int(np.flatnonzero(run.data.y * sign > 0)[0]) for sign in (1, -1))
    share = np.array([float((made.found.h[minus, 2:][:, part] > 0).mean()) for made in run.made])
    late = run.times * run.case.eta >= 1
    own = [float((made.found.h[plus][:, part] > 0).mean()) for made, on in zip(run.made, late, strict=True) if on]
    between = float(((share > 0.05) & (share < 0.95)).mean())
    return {"gates in between": between, "gates at T": float(share[-1]), "own gates": min(own, default=0.0)}


@computed_once
def of_tilted(lab: Laboratory, seed: int) -> dict[str, float]:
    """A run with errors of the initial model: the noise term of a step of lucky neurons, in units eta sigma/a."""
    run = lab.train(TILTED, seed, every=1)
    assert run.ideal is not None
    z = run.start.v - run.ideal.p
    size = float(np.linalg.norm(z, axis=1).max()) / np.sqrt(run.case.m)
    C = series(run)["C"][len(run.times) // 2][groups(run)["W+"]]
    return {"noise term": float(np.abs(C @ (z @ run.ideal.p[0])).max()) / size}


def _coefficients(run: Run) -> dict[str, float]:
    """C_ij of the groups over the bounds (31), (32), least over neurons and steps before the margin."""
    x, part, on = series(run), groups(run), before_end(run)
    scale = 0.25 * run.case.alpha_s / np.sqrt(run.case.m)
    first, second = scale * x["A"][on, 0, 0, 0][:, None], scale * x["A"][on, 1, 1, 1][:, None]
    C = x["C"][on]
    return {
        "least C of W+": float((C[:, part["W+"], 0] / first).min()),
        "least C of W-": float((C[:, part["W-"], 0] / first).min()),
        "least V_1 of U-": float((-C[:, part["U-"], 0] / second).min()),
        "least V_2 of U-": float((-C[:, part["U-"], 1] / second).min()),
        "least C_2 of U-": float((C[:, part["U-"], 1] / second).min()),
        "V of unlucky": float(np.sqrt(run.case.m) * np.abs(x["C"][:, part["unlucky"], 0]).max()),
    }


def _steps(run: Run) -> dict[str, float]:
    """Steps of w'p_1 against (98), by the sign of a_i; mean step on nuisance features, in units eta/a."""
    x, part, on = series(run), groups(run), before_end(run)[:-1]
    eta, alpha, root = run.case.eta, run.case.alpha_s, np.sqrt(run.case.m)
    y, step = x["w"][:-1][on][:, :, 0], np.diff(x["w"][:, :, 0], axis=0)[on]
    p, s = x["A"][:-1][on, 0, 0, 0][:, None], x["s"][:-1][on][:, None]
    bound = eta / root * (alpha * p / 2 + s * alpha * (alpha * root / 4) * p * y)
    wrong = step[:, part["W-"]][bound[:, part["W-"]] > 0]
    middle = len(run.times) // 2
    moved = (x["w"][middle + 1] - x["w"][middle])[part["W+"]] / eta * root
    return {
        "least step of W-": float(wrong.min() * root / eta),
        "least step of W+ over the bound": float((step[:, part["W+"]] / bound[:, part["W+"]]).min()),
        "step elsewhere": float(np.abs(moved[:, 2 : run.case.M].mean())),
    }


def _end(run: Run) -> dict[str, float]:
    """Ratios of components and of w'v at the end, lucky neurons."""
    part = groups(run)["W+"]
    mean, u = run.state.w[part].mean(axis=0), run.state.u[part]
    return {
        "nuisance over own": float(mean[2 : run.case.M].mean() / mean[0]),
        "u nuisance over own": float((u[:, 2:].mean(axis=1) / u[:, 0]).mean()),
        "u other over own": float((u[:, 1] / u[:, 0]).max()),
    }


def _output(run: Run) -> dict[str, float]:
    """The parts of F of the + sample at the end, (55), over that of lucky neurons."""
    part, a = groups(run), run.start.a
    sample = int(np.flatnonzero(run.data.y > 0)[0])
    share = run.data.fractions[sample][:, None] * np.maximum(run.made[-1].found.h[sample], 0.0) * np.abs(a)
    masks = {"U": part["U-"], "rest of K+": (a > 0) & ~part["W+"], "rest of K-": (a < 0) & ~part["U-"]}
    lucky = share[:, part["W+"]].sum()
    return {f"output of {name}": float(share[:, mask].sum() / lucky) for name, mask in masks.items()}


def _force(run: Run) -> dict[str, float]:
    """G_11 of lucky neurons on the + sample over the sum of the absolute values of its other parts, late in the run."""
    part, a = groups(run), run.start.a
    masks = {"lucky": part["W+"], "U": part["U-"], "rest": ~(part["W+"] | part["U-"])}
    out = np.inf
    for k in (int(share * len(run.times)) for share in (0.5, 0.85)):
        made, state = run.made[k], run.states[k]
        pieces: dict[tuple[str, int], float] = {}
        for (name, mask), (n, y) in product(masks.items(), enumerate(run.data.y)):
            gate = (made.found.h[n, 0] > 0) * (made.found.margins[n] < run.case.margin)
            g = (y / len(run.data.y) * run.data.fractions[n, 0] * gate * a * mask) @ state.u
            A = made.found.A[n, :, 0]
            pieces[name, int(y)] = pieces.get((name, int(y)), 0.0) + float(A[0] * (g[0] - A @ g))
        own = pieces.pop(("lucky", 1), 0.0)
        out = min(out, own / sum(map(abs, pieces.values())))
    return {"lucky force over others": float(out)}


def _pruned(run: Run) -> float:
    """1 if at the end each label-relevant token receives more attention, in the mean over queries, than any other one and than at the start."""
    fractions, own = run.data.fractions, np.where(run.data.y > 0, 0, 1)
    rows = np.arange(len(own))
    first, last = (  # of one token of each pattern that occurs
        np.where(fractions > 0, np.einsum("njk,nk->nj", run.made[place].found.A, fractions) / fractions, -np.inf)
        for place in (0, -1)
    )
    others = np.where(np.arange(last.shape[1]) == own[:, None], -np.inf, last).max(axis=1)
    return float((last[rows, own] > np.maximum(others, first[rows, own])).all())


def _keys(run: Run) -> dict[str, float]:
    """Parts of keys along q_1, q_2: least relative growth at a step and least and largest length in the second half.

    Up to the step at which the first sample reaches its margin: from there one class drives both.
    """
    along = np.array([np.einsum("ja,ja->j", state.kappa[:2], run.start.kappa[:2]) for state in run.states])
    along = along / along[0]
    on = before_end(run)
    end = len(on) if on.all() else int(np.argmin(on))
    late = along[end // 2 : end + 1]
    return {
        "least late growth of keys": float((np.diff(late, axis=0) / late[:-1]).min()),
        "least late key": float(late.min()),
        "longest late key": float(late.max()),
        "pull of other queries": max(
            float(run.made[k].G[0, 1:].sum() / run.made[k].G[0, 0]) for k in (end // 2, end - 1)
        ),
    }


def _values(run: Run) -> dict[str, float]:
    """What the best multiple of the growth of v_1 leaves of the motion of nuisance values, least over them, and whether the sums are exact."""
    x = series(run)
    sums = run.case.eta * np.einsum("tij,tia->ja", x["C"][:-1], x["w"][:-1])
    moved = run.state.v - run.start.v
    direction = sums[0]
    left = [
        np.linalg.norm(v - (v @ direction) / (direction @ direction) * direction) / np.linalg.norm(v) for v in moved[2:]
    ]
    return {"left by lambda": float(min(left)), "off the sums": float(np.abs(moved - sums).max())}


@computed_once
def of_step_sizes(lab: Laboratory, frozen: bool = False) -> tuple[tuple[float, ...], dict[str, np.ndarray]]:
    """Step sizes over a decade, and of runs to margin 1 with m = 100, 20 starts each, tables (step sizes, starts).

    Their lengths, what attention leaves, and K e^{|q_1|^2}/eta before the margin.
    """
    seeds, sizes = lab.draw.seeds(SEEDS), [p["eta"] for p in lab.draw.along("eta", *STEP_SIZES)]
    case = replace(BY_STEP, frozen=int(frozen), steps=round(60 / min(sizes)))
    law = many_networks.exact_law(case)
    every = [seed for _ in sizes for seed in seeds]
    run, seen = lab.train_many(case, law, np.full((len(every), 2), 0.5), every, eta=np.repeat(sizes, len(seeds)))
    if not run.fitted.all():
        raise IntegrationError(f"the training margins are not reached in {case.steps} steps", time=float(case.steps))
    data = Counts(seen.counts, seen.y)
    rows = []
    for k, steps in enumerate(run.steps):
        state = run.state.one(k)
        made = lab.forces(state, data, 1e9)  # as the last step before the margin would have it
        rows.append(
            (
                float(steps),
                1 - observables.relevant_attention(made.found.A, data)["rel_s"],
                float((made.G[0, 0] + made.G[1, 1]) / 2 * np.exp(state.S[0, 0])),
            )
        )
    table = np.array(rows).reshape(len(sizes), len(seeds), 3)
    return tuple(sizes), {name: table[:, :, k] for k, name in enumerate(("steps", "left", "K e^S"))}


def over_steps(lab: Laboratory, name: str, what: str, frozen: bool = False) -> Measurement:
    """A number of these runs along step sizes over a decade, 20 starts."""
    sizes, found = of_step_sizes(lab, frozen)
    return Measurement(what, [point(replace(BY_STEP, eta=eta)) for eta in sizes], found[name], lab.draw.seeds(SEEDS))


# ---- verdicts over seeds ---------------------------------------------------------------------------------------------


def in_every_run(
    lab: Laboratory,
    what: str,
    test: Callable[[Facts], bool],
    of: Callable[[Laboratory, int], Facts] = of_main,
    case: Case = MAIN,
    where: Facts | None = None,
) -> Verdict:
    """Whether something is seen with high probability over starts, at the point of the case or at another one with the same runs."""

    def trial(seeds: Sequence[int]) -> list[bool]:
        return [test(of(lab, seed)) for seed in seeds]

    return with_high_probability(what, where or point(case), trial, lab.draw, most=lab.most_seeds)


def over_batches(
    lab: Laboratory,
    name: str,
    what: str,
    power: float,
    of: Callable[[Laboratory, int], Facts] = of_main,
    case: Case = MAIN,
) -> tuple[Verdict, Verdict]:
    """Whether a number is O(B^power), and that it is free of B: batches of copies of both samples, 20 starts.

    The mean gradient of k copies of each sample is that of one of each, so that one run is the run of every such batch:
    a number that is not zero in it has no bound that falls with B.
    """
    seeds, free, where = lab.draw.seeds(SEEDS), free_of_batches(), point(replace(case, N=BATCH), B=BATCH)
    found = [of(lab, seed)[name] for seed in seeds]
    if not all(value > 0 for value in found):  # a value that is no number decides nothing
        return undecided(f"{what} is not positive in every start").at(where).averaging(seeds), free
    most = case.m / case.M**2  # logarithm of the largest N that (7) allows with the constant 1
    least = min(found)
    sentence = (
        f"a batch of k copies of both samples makes the same run for every B = 2 k, and (7) allows B = N up to {math.exp(most):.0e} (all hypotheses hold): in each "
        f"of {SEEDS} starts {what} is the same, {say_number(least)} or more, at every such B, which is C B^({say_number(power)}) or less for no C below "
        f"{least * math.exp(-power * most):.0e}"
    )
    printed = refuted(Witness(sentence, where), Evidence.MEASUREMENT, least=rounded(least, 4))
    return printed.averaging(seeds).within(0, "what a bound that falls with B leaves for large B"), free


def free_of_batches() -> Verdict:
    """A batch of k copies of each of two samples makes the step of one of each: nothing in its run depends on B = 2 k."""
    k, first, second = sym("k"), sym("g_1"), sym("g_2")
    return identity(
        {"mean of k copies": (k * first + k * second) / (2 * k) - (first + second) / 2}, positive=("k",)
    ).proving(
        "the step is a mean of gradients over the batch, so that k copies of each sample give that of one of each, for every k",
        "so the run is the same for every B = 2 k, and with it each ratio that is read off it",
    )


def near_symmetric(lab: Laboratory, *names: str) -> Verdict:
    """Means over 20 starts with xi = 1e-4, where the mean margin passes 1/2, against the derived 21 variables."""
    seeds = lab.draw.seeds(SEEDS)
    width = 2 / np.sqrt(SMALL.m)  # twice the scatter of the share of living neurons
    verdicts = []
    for name in names:
        mean = float(np.mean([of_small(lab, seed)[name] for seed in seeds]))
        # the share of living neurons scales what has moved since the start
        limit = width * (1 - AT_START.get(name, 0.0) / reference()[name])
        seen = Measurement(f"{name} over that of the symmetric system", [point(SMALL)], [mean / reference()[name]])
        verdicts.append(
            seen.between(1 - limit, 1 + limit, "the scatter of the share of living neurons at this width").averaging(
                seeds
            )
        )
    out = verdicts[0]
    for verdict in verdicts[1:]:
        out = out & verdict
    return out
