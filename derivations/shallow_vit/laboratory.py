"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

Parts a check can read are the `rules` of the network (model and loss), the `counting` of its samples, the `start` and
the `speed` of neurons (O), values (V), keys (K) and queries (Q), or of the logits (S) where those are trained. Derived
systems (toy equations on the entries of the weights, Gram systems, the symmetric system) and runs of hand-written
gradient steps are made of these, and are broken in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from odesys import (
    MARGIN,
    BaseLaboratory,
    Data,
    Flow,
    IntegrationError,
    Loss,
    Mutation,
    PathSpeeds,
    Quotient,
    computed_once,
    gradient_descent,
    gradient_flow,
    graph,
    laboratory_part,
    relu,
    sym,
)

from . import dynamics
from .setting import Case, Features
from .special import class_network, many_networks, network, sparsify
from .special.class_network import Counts, Forces, Run, State
from .special.rules import LEAVES, Counting, Rules

__all__ = ["MUTATIONS", "Laboratory", "Run"]


def _nuisance_backwards(rows: int, columns: int) -> list[list[int]]:
    """Of values (a row for all axes) or of their inner products (patterns by patterns)."""
    return [[1 if max(i, j) < 2 else -1 for j in range(columns)] for i in range(rows)]


#: speeds are those of weights (O, V, K, Q, S) and of the inner products of the Gram system
MUTATIONS = (
    # model and data: everything is derived from them
    Mutation("minority", "the label is the minority of mu1 and mu2", data=lambda counting: replace(counting, label=-1)),
    Mutation("weight", "samples with label -1 count twice", data=lambda counting: replace(counting, negative=2)),
    Mutation("scale", "logits count half in the softmax", model=lambda rules: replace(rules, halved=True)),
    Mutation("linear", "hidden neurons without ReLU", model=lambda rules: replace(rules, linear=True)),
    Mutation(
        "hinge",
        "exponential loss in place of the hinge: no margin at which the motion stops",
        model=lambda rules: replace(rules, exponential=True),
    ),
    Mutation("tokens", "nuisance tokens count three times", data=lambda counting: replace(counting, nuisance=3)),
    # equations
    Mutation(
        "flip",
        "keys and queries move backwards",
        equations=PathSpeeds(dict.fromkeys(("K", "Q", "S", "KQ", "KK", "QQ"), -1)),
    ),
    Mutation("keys", "keys move backwards, queries as they should", equations=PathSpeeds({"K": -1, "KK": -1})),
    Mutation("values", "values move backwards", equations=PathSpeeds({"V": -1, "VV": -1})),
    Mutation("neurons", "hidden neurons move twice as fast", equations=PathSpeeds({"O": 2, "OO": 2})),
    Mutation(
        "nuisance",
        "values of nuisance patterns move backwards",
        equations=PathSpeeds({"V": lambda _, patterns: _nuisance_backwards(1, patterns), "VV": _nuisance_backwards}),
    ),
    # start
    Mutation("start", "the initial model has half its size", start=lambda size: size / 2),
)
EXPONENTIAL = Loss("exponential", graph.exp(-MARGIN))
HEADS = ("h1", "h2")
LONGEST = 60_000  # steps of one run
BROKEN_SEEDS, BROKEN_PART = (
    80,
    4,
)  # on a broken system: most seeds, and the part of the steps after which a run does not exist
SIGNS = (sym("a"), -sym("a"))
POSITIONS = ((sym("a1"), -sym("a2")), (sym("a3"), -sym("a4")))  # output weights of two positions


class Laboratory(BaseLaboratory):
    """Toy equations, Gram system, symmetric system and runs, possibly mutated."""

    mutations = MUTATIONS

    # ---- what everything is made of

    @laboratory_part
    def rules(self) -> Rules:
        """The network and its loss."""
        return self.mutation.model(Rules())

    @laboratory_part
    def counting(self) -> Counting:
        """How samples and tokens count."""
        return self.mutation.data(Counting())

    @laboratory_part
    def start(self) -> float:
        """Size of the initial model over the paper's."""
        return self.mutation.start(1.0)

    @laboratory_part
    def speed(self, leaf: str) -> list[list[int]]:
        """Factors in the equations of one matrix of weights: one, or one for each of three patterns."""
        return self.speeds.table(leaf, (1, 3))

    def _read_speeds(self, leaves: Sequence[str] = LEAVES) -> PathSpeeds:
        for leaf in leaves:
            self.read(Laboratory.speed, leaf)
        return self.speeds

    def _model(self, M: int, readout: Sequence[Any], variant: str = "", **options: Any) -> Callable[[Any], Any]:
        rules = self.rules()
        activation, scale = (lambda h: h) if rules.linear else relu, sym("half") if rules.halved else 1
        return dynamics.model(M, readout, variant, activation=activation, scale=scale, **options)

    def _loss(self, variant: str = "") -> Loss:
        return EXPONENTIAL if self.rules().exponential else dynamics.loss_of(variant)

    # ---- derived systems

    @computed_once
    def toy(self, step: bool = False, variant: str = "") -> Flow:
        """Two neurons with weights a, -a, M = 3, m_a = 2, m_b = 3, a sample per class, counts c1.., e1.. as parameters.

        To ask for names, outputs and loss; equations are read with `rates`. The variant is one of `dynamics.VARIANTS`,
        or ``noisy``: tokens with any Gram matrix, two per sample, and output weights of their own for each position.
        """
        readout, data, width = (POSITIONS, noisy_data(), 2) if variant == "noisy" else (SIGNS, toy_data(), 3)
        f = self._model(3, readout, variant, sides=dynamics.axes(2, width))
        derive = gradient_descent if step else gradient_flow
        return self.mutation.equations(derive(f, self.counting().distribution(data), self._loss(variant)))

    @computed_once
    def rates(self, leaf: str, step: bool = False, variant: str = "") -> np.ndarray:
        """Right-hand sides of one matrix of the toy: O (neuron, axis), V, K or Q (axis, pattern), S (key, query)."""
        self._read_speeds([leaf])
        made = self.toy(step, variant)
        return np.vectorize(made.system.equations.__getitem__, otypes=[object])(made.matrices[leaf])

    @computed_once
    def heads(self, readout: tuple[Any, ...], data: Data, width: int) -> Flow:
        """Two heads in one layer, Eq. (240), in coordinates: matrices O_h1, O_h2, V_h1 and so on."""
        f = self._model(len(data.words), readout, sides=dynamics.axes(width, width), heads=HEADS)
        return self.mutation.equations(gradient_flow(f, self.counting().distribution(data), self._loss()))

    def two_heads(self, leaf: str) -> tuple[np.ndarray, np.ndarray]:
        """One matrix of both heads of the toy and its rates, (head, row, column)."""
        self._read_speeds([leaf])
        made = self.heads(SIGNS, toy_data(), 2)
        names = np.array([made.matrices[f"{leaf}_{h}"] for h in HEADS])
        return tuple(np.vectorize(of, otypes=[object])(names) for of in (sym, made.system.equations.__getitem__))

    @computed_once
    def gram(self) -> Flow:
        """The class-level system on inner products for the same toy; reads all equations."""
        self._read_speeds()
        data = self.counting().distribution(toy_data())
        return self.mutation.equations(gradient_flow(self._model(3, SIGNS), data, self._loss()))

    @computed_once
    def symmetric(self, M: int = 4, variant: str = "") -> Quotient:
        """Two mirrored neurons (weights +-sqrt(pi)) on the exact fractions as parameters, reduced by its symmetries."""
        self._read_speeds(_leaves(variant))
        root = graph.sqrt(sym("pi"))
        f = self._model(M, [root, -root], variant, sides=dynamics.axes(M, M))
        made = gradient_flow(f, self.counting().distribution(dynamics.parametric(M)), self._loss(variant))
        return self.mutation.equations(made).quotient(dynamics.generators(M, variant))

    # ---- runs

    @property
    def most_seeds(self) -> int:
        """Up to how many seeds a share is asked for: 640, and fewer on a system broken on purpose."""
        return BROKEN_SEEDS if self.mutation.name else 640

    def longest(self, case: Case) -> int:
        """Steps after which a run does not exist."""
        return min(case.steps // (BROKEN_PART if self.mutation.name else 1), LONGEST)

    def data(self, counts: Counts) -> Counts:
        """Samples as they are trained on."""
        counting = self.counting()
        first = counts.take(counting.places(counts.y))
        return Counts(counting.tokens(first.counts), counting.label * first.y)

    def begin(self, case: Case, seed: Any) -> tuple[State, Features]:
        """The start of Assumption 1."""
        state, ideal = class_network.start(case, np.random.default_rng(seed))
        return self._started(state), ideal

    def _started(self, state: State) -> State:
        size = self.start()
        return replace(state, v=size * state.v, kappa=size * state.kappa, rho=size * state.rho)

    def forces(self, state: State, data: Counts, margin: float = 1.0) -> Forces:
        """C, G and the pass they come from; `data` as given by `data`."""
        return class_network.forces(state, data, margin, rules=self.rules())

    def train(
        self,
        case: Case,
        seed: Any = 0,
        counts: Counts | None = None,
        state: State | None = None,
        steps: int | None = None,
        stop: bool = True,
        every: int = 0,
        variant: str = "",
    ) -> Run:
        """Gradient steps until every margin is reached (or `steps` are done); refused if that never happens.

        `counts` are the samples (default the two exact ones), `state` where to start, `every` the steps between two
        kept states; `stop` False goes on after the margins; batches of case.B samples are drawn with the same seed.
        Trained logits (variant ``merged``) are kept in kappa, with rho the identity.
        """
        begun, ideal = self.begin(case, seed) if state is None else (self._started(state), None)
        data = self.data(class_network.exact_data(case) if counts is None else counts)
        if variant == "merged":
            begun = replace(begun, kappa=begun.S, rho=np.eye(len(begun.rho)))
        run = class_network.train(
            case,
            seed,
            data,
            begun,
            record=every,
            keep=True,
            steps=self.longest(case) if steps is None else min(steps, LONGEST),
            stop=stop,
            rules=replace(self.rules(), logistic=variant == "logistic"),
            speeds=self._read_speeds(_leaves(variant)),
            merged=variant == "merged",
        )
        if stop and steps is None and not run.fitted:
            raise IntegrationError(f"the training margins are not reached in {run.steps} steps", time=float(run.steps))
        return replace(run, ideal=ideal)

    def train_many(
        self,
        case: Case,
        law: many_networks.Law,
        shares: np.ndarray,
        seeds: Sequence[int],
        variant: str = "",
        **options: Any,
    ) -> tuple[many_networks.Trained, many_networks.Law]:
        """Networks with these seeds on training sets of a law, all at once; with them the law as it is trained on."""
        counting, merged = self.counting(), variant == "merged"
        seen = many_networks.Law(counting.tokens(law.counts), counting.label * law.y, law.chance)
        state = many_networks.starts(case, seeds, self.start())
        if merged:
            unit = np.broadcast_to(np.eye(case.M), (len(seeds), case.M, case.M))
            state = replace(state, kappa=state.kappa @ state.rho.mT, rho=unit)
        options |= {"rules": replace(self.rules(), logistic=variant == "logistic"), "merged": merged}
        options |= {"speeds": self._read_speeds(_leaves(variant)), "counting": counting, "steps": self.longest(case)}
        return many_networks.train_many(case, law, shares, state, **options), seen

    def tokens(self, case: Case, seed: Any = 0, steps: int | None = None) -> network.Run:
        """SGD on noisy tokens by the hand-written gradients of the full network, with the speeds of the equations."""
        net, data = self._on_tokens(case, seed)
        limit = self.longest(case) if steps is None else steps
        return network.train(case, seed, data, net, steps=limit, rules=self.rules(), speeds=self._read_speeds())

    def token_steps(self, case: Case, seeds: Sequence[int]) -> np.ndarray:
        """Steps of `tokens` for several seeds, trained together; full batches, one output weight for all positions."""
        begun = [self._on_tokens(case, seed) for seed in seeds]
        nets, data = zip(*begun, strict=True)
        return network.steps_together(case, nets, data, self.longest(case), self.rules(), self._read_speeds())

    def _on_tokens(self, case: Case, seed: Any) -> tuple[network.Network, network.Tokens]:
        """A network at its start, and its training samples."""
        rng, counting, size = np.random.default_rng(seed), self.counting(), self.start()
        net, _ = network.start(case, rng)
        net = replace(net, W_V=size * net.W_V, W_K=size * net.W_K, W_Q=size * net.W_Q)
        data = network.draw(case, rng)
        data = data.take(counting.places(data.y))
        data = replace(data, y=counting.label * data.y)
        if counting.nuisance > 1:  # some of the discriminative tokens become the first nuisance pattern
            moved = (data.pattern < 2) & (rng.random(data.pattern.shape) < 0.4)
            data = replace(data, X=np.where(moved[:, :, None], network.patterns(case)[2], data.X))
        return net, data

    def sparsified(self, rule: str, share: float, seed: int, case: Case, tests: int) -> float:
        """Test loss after a share of the tokens was removed by a rule."""
        rules, speeds = self.rules(), self._read_speeds()
        return sparsify.experiment(rule, share, seed, case, tests=tests, rules=rules, speeds=speeds)


def _leaves(variant: str) -> tuple[str, ...]:
    return tuple(name.removeprefix("W_") for name in dynamics.trained(variant))


def toy_data() -> Data:
    """One sample of each class with counts as parameters."""
    return dynamics.samples([["c1", "c2", "c3"], ["e1", "e2", "e3"]], [1, -1])


def noisy_data() -> Data:
    """Two samples of two tokens, the second in common; the tokens have any Gram matrix."""
    return Data(dynamics.words(3, "noisy"), [("mu1 mu2", 1), ("mu3 mu2", -1)])
