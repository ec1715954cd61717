r"""The paper's scalars under one name for three kinds of runs; here because three descriptions are compared.

=============  =======================================================================================================
rel_s          attention on label-relevant tokens by label-relevant queries; ``rel_c`` by confusion queries,
               ``rel_n`` by nuisance queries, ``rel`` the mean over all queries
S11 .. Skx     logits S11 (own), S21 (other discriminative key), Sn1 (nuisance key, discriminative query), S1n, Skk
               (own nuisance key), Skx (other nuisance key), each the mean over its orbit
F              mean margin y F
d1, d2, dn     sqrt(m) w' p of living neurons on the own, the other discriminative and a nuisance feature
K              relative growth of the key and query of pattern 1 per unit of s, G_11 (the paper's K/eta = Q/eta)
=============  =======================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import class_network, network
from .class_network import Counts, Forces, State

QUERIES = ("rel_s", "rel_c", "rel_n", "rel")
LOGITS = ("S11", "S21", "Sn1", "S1n", "Skk", "Skx")


@dataclass(frozen=True, eq=False)
class Lucky:
    """Neurons as masks (m,): `W` are active on pattern-1 queries of all + samples, `U` on pattern 2 of all - samples.

    The paper's sets (23), (24) are these; `W_signed` and `U_signed` also ask for a_i > 0 and a_i < 0.
    """

    W: np.ndarray
    U: np.ndarray
    W_signed: np.ndarray
    U_signed: np.ndarray


def lucky(state: State, data: Counts) -> Lucky:
    """The lucky neurons of a state, in the noiseless case (all tokens of a pattern have the same value vector)."""
    h = class_network.forward(state, data).h
    W = np.all(h[data.y > 0, 0] > 0, axis=0)
    U = np.all(h[data.y < 0, 1] > 0, axis=0)
    return Lucky(W, U, W & (state.a > 0), U & (state.a < 0))


def lucky_tokens(net: network.Network, data: network.Tokens, found: network.Pass | None = None) -> Lucky:
    """The lucky neurons of a network: active on every kept query of the label's pattern (`h > 0` there)."""
    found = found or network.forward(net, data)
    sign = np.sign(net.a if net.a.ndim == 1 else net.a.mean(axis=0))
    sets = []
    for label in (1, -1):
        chosen = (data.relevant & data.kept) & (data.y == label)[:, None]
        sets.append(np.all(found.h[chosen] > 0, axis=0))
    return Lucky(sets[0], sets[1], sets[0] & (sign > 0), sets[1] & (sign < 0))


def logits(S: np.ndarray) -> dict[str, float]:
    """The six orbit means of a table of logits S[key, query]."""
    n = S[2:, 2:]
    other = ~np.eye(len(n), dtype=bool)
    return {
        "S11": float((S[0, 0] + S[1, 1]) / 2),
        "S21": float((S[1, 0] + S[0, 1]) / 2),
        "Sn1": float(S[2:, :2].mean()),
        "S1n": float(S[:2, 2:].mean()),
        "Skk": float(np.diag(n).mean()),
        "Skx": float(n[other].mean()) if len(n) > 1 else 0.0,
    }


def relevant_attention(A: np.ndarray, data: Counts) -> dict[str, float]:
    """Attention on label-relevant tokens by type of query, averaged over samples; A[n, j, k] as in `class_network`."""
    rows = np.arange(len(data.y))
    own = np.where(data.y > 0, 0, 1)
    on = A[rows, own]  # [n, k]
    f = data.fractions
    nuisance = f[:, 2:].sum()
    return {
        "rel_s": float(on[rows, own].mean()),
        "rel_c": float(on[rows, 1 - own].mean()),
        "rel_n": float((f[:, 2:] * on[:, 2:]).sum() / nuisance) if nuisance > 0 else float("nan"),
        "rel": float((f * on).sum(axis=1).mean()),
    }


def of_classes(state: State, made: Forces, data: Counts, p: np.ndarray | None = None) -> dict[str, float]:
    """Scalars of a class-level state; `p` are the ideal value features (by default the first M axes)."""
    p = np.eye(state.v.shape[0], state.v.shape[1]) if p is None else p
    living = living_prototype(state, made.found, data, p)
    return {
        **relevant_attention(made.found.A, data),
        **logits(state.S),
        "F": float(made.found.margins.mean()),
        "K": float((made.G[0, 0] + made.G[1, 1]) / 2),
        **dict(zip(("d1", "d2", "dn"), living, strict=True)),
    }


def living_prototype(state: State, found: class_network.Pass, data: Counts, p: np.ndarray) -> np.ndarray:
    """Mean of sqrt(m) w' p over neurons active on label-relevant queries of their own class: own, other, rest."""
    total, count = np.zeros(3), 0
    for sign, own in ((1, 0), (-1, 1)):
        chosen = (np.sign(state.a) == sign) & np.all(found.h[data.y == sign, own] > 0, axis=0)
        if chosen.any():
            seen = np.sqrt(len(state.a)) * state.w[chosen] @ p.T
            total += np.array([seen[:, own].sum(), seen[:, 1 - own].sum(), seen[:, 2:].mean(axis=1).sum()])
            count += int(chosen.sum())
    return total / max(count, 1)


def of_network(net: network.Network, data: network.Tokens, found: network.Pass, M: int) -> dict[str, float]:
    """The same scalars of a token network; noisy tokens count for their pattern, logits are those of the patterns."""
    on = np.where(data.relevant & data.kept, 1.0, 0.0)
    share = np.einsum("nsl,ns->nl", found.A, on)
    own = np.where(data.y > 0, 0, 1)[:, None]
    kinds = {"rel_s": data.pattern == own, "rel_c": data.pattern == 1 - own, "rel_n": data.pattern >= 2}
    out = {
        name: float(share[mask & data.kept].mean()) if (mask & data.kept).any() else float("nan")
        for name, mask in kinds.items()
    }
    mu = np.eye(M, data.X.shape[2])
    return {
        **out,
        "rel": float((share * found.share).sum(axis=1).mean()),
        **logits((mu @ net.W_K.T) @ (net.W_Q @ mu.T)),
        "F": float(found.margins.mean()),
    }


# ---- the paper's bounds on attention (Definition 1) ------------------------------------------------------------------


def definition_1(Q: float, own: float, rest: float, error: float) -> dict[str, float]:
    """phi, nu, p of Definition 1: Q = |q_1|, `own` = |S_1|, `rest` = |S| - |S_1|, `error` = delta + tau."""
    phi = 1 / (own * np.exp(Q**2 + error * Q) + rest)
    nu = 1 / (own * np.exp(Q**2 - error * Q) + rest)
    return {"phi": float(phi), "nu": float(nu), "p": float(own * np.exp(Q**2 - error * Q) * nu)}
