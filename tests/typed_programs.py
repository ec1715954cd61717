"""Programs as a theorist types them: residual streams, tied maps, norms, LoRA, prompts, masks, frozen maps."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import sympy as sp

from odesys import (
    Data,
    Space,
    Units,
    Words,
    cross_entropy,
    function,
    hinge,
    logistic,
    maps,
    norm,
    relu,
    softmax,
    squared,
)

z = sp.Symbol("z")
CASES: dict[str, Callable[[], tuple[Any, Data, Any, dict[str, Any]]]] = {}


def case(f):
    CASES[f.__name__] = f
    return f


@case
def residual_tied():
    w = Words("a b c", positions=3)
    E, A = maps("E", Units("d", 3), w), maps("A", Units("d", 3), Units("d", 3))

    def f(X):
        H = E @ X + E @ X.positions
        H = H + A @ H @ softmax(H.T @ H, mask=lambda k, q: k <= q)
        return (E @ w.all).T @ H

    return f, Data(w, [("a b c", [1, 2, 0]), ("b a a", [0, 0, 2])]), cross_entropy, {}


@case
def prenorm():
    w = Words("a b c")
    E, V = maps("E", Units("d", 2), w), maps("V", Units("y", 2), Units("d", 2))

    def f(X):
        H = E @ X
        H = H / norm(H)
        return V @ H.mean(1)

    return f, Data(w, [("a b", 0), ("c a", 1)]), cross_entropy, {}


@case
def layernorm():
    w = Words("a b c")
    E, V = maps("E", Units("d", 3), w), maps("V", 1, Units("d", 3))

    def f(X):
        H = E @ X
        H = H - H.mean(0)
        H = H / ((H * H).mean(0) + Q(1, 10)) ** Q(1, 2)
        return V @ H[0]

    return f, Data(w, [("a b", 1), ("c a", -1)]), logistic, {}


@case
def lora():
    w = Words("a b c")
    r = Units("r", 2)
    W0, A, B = maps("W0", w, w), maps("A", r, w), maps("B", w, r)
    return (lambda X: X[0].T @ (W0 + B @ A) @ X[1]), Data(w, [("a b", 1), ("c a", -1)]), logistic, {"train": "A B"}


@case
def lora_free():
    w = Words("a b c")
    r = Space("r")
    W0, A, B = maps("W0", w, w), maps("A", r, w), maps("B", w, r)
    return (
        (lambda X: X[0].T @ (W0 + Q(1, 2) * B @ A) @ X[1]),
        Data(w, [("a b", 1), ("c a", -1)]),
        logistic,
        {"train": "A B"},
    )


@case
def prompt():
    w = Words("a b c")
    P, Z, v = maps("P", w, Units("p", 2)), maps("Z", w, w), maps("v", 1, w)

    def f(X):
        S = X.T @ Z @ X[-1]
        T = P.T @ Z @ X[-1]
        return v @ X @ softmax(S) + (v @ P @ softmax(T)) * Q(1, 3)

    return f, Data(w, [("a b", 1), ("c a", -1)]), logistic, {"train": "P"}


@case
def trained_query():
    w = Words("a b c")
    q, K, v = maps("q", Space("m"), 1), maps("W_K", Space("m"), w), maps("v", 1, w)
    return (lambda X: v @ X @ softmax(X.T @ K.T @ q)), Data(w, [("a b", 1), ("c a", -1)]), logistic, {}


@case
def two_layers_frozen():
    w = Words("a b c", positions=3)
    A1, V1, A2, W2 = maps("A1 V1 A2 W2", w, w)

    def f(X):
        P = X.positions
        H = X + V1 @ X @ softmax(P.T @ A1 @ P, mask=lambda k, q: k < q or q == 0)
        return w.all.T @ W2 @ X @ softmax(H.T @ A2 @ H[-1])

    return f, Data(w, [("a b c", 0), ("b b a", 2)]), cross_entropy, {"train": "A1 A2 W2"}


@case
def multihead_WO():
    w = Words("a b c")
    m = Space("m")
    O = Units("o", 2)

    def head(n):
        (K, Qm), V, Wo = (
            maps("W_K W_Q", m, w, of=n),
            maps("W_V", Units(f"v{n}", 2), w, of=n),
            maps("W_O", O, Units(f"v{n}", 2), of=n),
        )
        return lambda X: Wo @ V @ X @ softmax(X.T @ K.T @ Qm @ X / 2)

    h = [head("p"), head("m")]
    u = maps("u", 1, O)
    return (lambda X: (u @ relu(h[0](X) + h[1](X))).mean()), Data(w, [("a b", 1), ("c a b", -1)]), squared, {}


@case
def gated_mlp():
    w = Words("a b")
    h = Units("h", 3)
    W, G, v = (*maps("W G", h, w), maps("v", 1, h))
    return (
        (lambda X: v @ (function(z / (1 + sp.exp(-z)))(G @ X[0]) * (W @ X[0]))),
        Data(w, [([[1, 2]], Q(1, 2)), ([[Q(1, 3), -1]], -1)]),
        squared,
        {"decay": Q(1, 10)},
    )


@case
def rope_like():
    w = Words("a b", positions=0)
    Z, v = maps("Z", w, w), maps("v", 1, w)
    bias = [[0, "s", 2], ["s", 0, 1], [1, "s", 0]]
    return (lambda X: v @ X @ softmax(X.T @ Z @ X + bias)[2]), Data(w, [("a b a", 1), ("b b a", -1)]), logistic, {}


@case
def contrastive():
    w = Words("a b c")
    E = maps("E", Space("d"), w)
    return (lambda X: X.T @ E.T @ E @ X), Data(w, [("a b c", [0, 1, 2])]), cross_entropy, {}


@case
def temperature():
    w = Words("a b c")
    Y = maps("Y", Units("y", 3), w)
    return (
        (lambda X: Y @ X[0] / "T"),
        Data(w, [("a", 0), ("b", 1)]),
        (lambda f, y: cross_entropy(f, y) + Q(1, 100) * (f**2).sum(0)),
        {},
    )


@case
def linear_attention_causal():
    w = Words("a b c")
    K, Qm, V = (*maps("W_K W_Q", Space("m"), w), maps("W_V", Units("y", 2), w))
    mask = [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    return (
        (lambda X: V @ X @ ((X.T @ K.T @ Qm @ X) * mask) / X.count),
        Data(w, [("a b c", [0, 1, 1]), ("b b a", [1, 1, 0])]),
        squared,
        {},
    )


@case
def dot_softmax_output():
    w = Words("a b c")
    Y = maps("Y", Units("y", 3), w)
    return (lambda X: softmax(Y @ X.sum(1))), Data(w, [("a b", 0), ("b c", 1)]), squared, {}


@case
def shared_kv():
    w = Words("a b c")
    K = maps("K", Space("m"), w)
    v = maps("v", 1, w)
    return (lambda X: v @ X @ softmax(X.T @ K.T @ K @ X)[-1]), Data(w, [("a b c", 1), ("b b a", -1)]), logistic, {}


@case
def value_through_free():
    w = Words("a b c")
    v = Space("v")
    V, O = maps("V", v, w), maps("O", Units("y", 2), v)
    Z = maps("Z", w, w)
    return (lambda X: O @ V @ X @ softmax(X.T @ Z @ X[-1])), Data(w, [("a b c", 1), ("b b a", 0)]), cross_entropy, {}


@case
def autoencoder():
    w = Words("a b c")
    h = Units("h", 2)
    W = maps("W", h, w)
    b = maps("b", w, 1)
    return (
        (lambda X: relu(w.all.T @ (W.T @ (W @ X[0]) + b))),
        Data(w, [([[1, Q(1, 2), 0]], [1, Q(1, 2), 0]), ([[0, Q(1, 4), 1]], [0, Q(1, 4), 1])]),
        squared,
        {},
    )


@case
def bias_map():
    w = Words("a b")
    W, b, v = maps("W", Units("h", 2), w), maps("b", Units("h", 2), 1), maps("v", 1, Units("h", 2))
    return (lambda X: v @ relu(W @ X[0] + b)), Data(w, [("a", 1), ("b", -1)]), hinge, {}
