"""Random small programs: shapes from the literature with random choices, and random formulas, also senseless ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import sympy as sp

from odesys import (
    Data,
    Sample,
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
from odesys.errors import OdesysError
from odesys.program.expressions import Expr, as_expr

z = sp.Symbol("z")
ACTIVATIONS = [relu, function(z**2), function(sp.tanh(z)), function(z**3 - z / 2), function(sp.exp(z / 4))]
PARAMETERS = {"b": 0.37, "c": -0.6}


@dataclass
class Case:
    """A program with data, loss and options of `gradient_flow`."""

    kind: str
    function: Callable[[Any], Any]
    data: Any
    loss: Any
    options: dict[str, Any] = field(default_factory=dict)


def random_words(rng: Random, positions: int = 0) -> Words:
    """Two to four words, orthonormal or with a Gram matrix of full or lower rank."""
    n = rng.randint(2, 4)
    kind, names = rng.random(), ["a", "b", "c", "d"][:n]
    if kind < 0.6:
        return Words(names, positions=positions)
    if kind < 0.85:
        vectors = np.array([[rng.randint(-1, 2) for _ in range(n)] for _ in range(n)]) + 2 * np.eye(n, dtype=int)
    else:
        vectors = np.array([[rng.randint(-1, 2) for _ in range(n - 1)] for _ in range(n)])
        vectors[:, 0] += 1 - (np.abs(vectors).sum(axis=1) > 0)
    gram = [[Fraction(int(x), 4) for x in row] for row in vectors @ vectors.T]
    return Words(names, gram=gram, positions=positions)


def random_token(rng: Random, words: Words) -> Any:
    """A signed word, a combination, or coordinates."""
    kind = rng.random()
    if kind < 0.75:
        return rng.choice(["", "", "-"]) + rng.choice(words.words)
    if kind < 0.9:
        chosen = rng.sample(words.words, 2)
        return {word: Fraction(rng.randint(1, 4), 2) * rng.choice([1, -1]) for word in chosen}
    return [Fraction(rng.randint(-3, 3), 2) for _ in words.words]


def random_data(rng: Random, words: Words, target: Callable[[int], Any], lengths: tuple[int, int] = (2, 3)) -> Data:
    """Two to four samples, with weights, lengths that differ, and now and then counts."""
    size = rng.randint(2, 4)
    one_length = rng.random() < 0.6
    first = rng.randint(*lengths)
    weights = [Fraction(1)] * size if rng.random() < 0.6 else [Fraction(rng.randint(1, 4)) for _ in range(size)]
    total = sum(weights)
    counted = rng.random() < 0.15
    samples = []
    for k in range(size):
        length = first if one_length else rng.randint(*lengths)
        tokens = [random_token(rng, words) for _ in range(length)]
        counts = [rng.randint(1, 3) for _ in tokens] if counted else None
        samples.append(Sample(tokens, target(length), weights[k] / total, counts=counts))
    return Data(words, samples)


def sign_of(rng: Random) -> Callable[[int], Any]:
    return lambda length: rng.choice([1, -1])


def real_of(rng: Random) -> Callable[[int], Any]:
    return lambda length: Fraction(rng.randint(-4, 4), 2)


def class_of(rng: Random, rows: int) -> Callable[[int], Any]:
    return lambda length: rng.randrange(rows)


def vector_of(rng: Random, rows: int) -> Callable[[int], Any]:
    return lambda length: [Fraction(rng.randint(-4, 4), 2) for _ in range(rows)]


def scalar_loss(rng: Random) -> tuple[Any, Callable[[int], Any]]:
    """A loss of one output, with its targets."""

    def own(f: Any, y: Any) -> Any:
        return (f - y) ** 4 * Fraction(1, 4) + relu(f * y)

    pairs: list[Any] = [(logistic, sign_of(rng)), (hinge, sign_of(rng)), (squared, real_of(rng)), (own, real_of(rng))]
    pairs.append((sp.exp(-z / 2), sign_of(rng)))
    return rng.choice(pairs)


def vector_loss(rng: Random, rows: int) -> tuple[Any, Callable[[int], Any]]:
    """A loss of a vector output."""
    pairs: list[Any] = [(cross_entropy, class_of(rng, rows)), (squared, class_of(rng, rows))]
    pairs.append((squared, vector_of(rng, rows)))
    return rng.choice(pairs)


def random_mask(rng: Random) -> Any:
    return rng.choice([None, lambda key, query: key <= query, lambda key, query: key != 1 or query == 1])


def rates_of(rng: Random, names: str) -> dict[str, Any]:
    """Rates of some maps, and weight decay."""
    options: dict[str, Any] = {}
    if rng.random() < 0.4:
        options["rates"] = {name: Fraction(rng.randint(1, 5), 2) for name in names.split() if rng.random() < 0.6}
    if rng.random() < 0.3:
        options["decay"] = Fraction(1, rng.randint(2, 9))
    return options


# ---- shapes from the literature ------------------------------------------------------------------------------------


def heads(rng: Random) -> Case:
    """One or two softmax heads of neurons behind an activation."""
    words = random_words(rng)
    space = rng.choice([Space("m"), words, Units("r", 2)])
    tied, mask, pooled = rng.random() < 0.2, random_mask(rng), rng.random() < 0.5
    phi, bias = rng.choice([relu, lambda v: v, *ACTIVATIONS[1:3]]), rng.choice([0, "b"])
    scale = rng.choice([1, Fraction(1, 2), "c"])

    def head(name: str) -> Callable[[Any], Any]:
        w, (K, Q) = maps("w", 1, words, of=name), maps("W_K W_Q", space, words, of=name)
        key = Q if tied else K

        def run(X: Any) -> Any:
            row = w @ X @ softmax(X.T @ key.T @ Q @ X * scale, mask=mask)
            return phi((row.mean() if pooled else row.sum()) + bias)

        return run

    chosen = [head(name) for name in ("p", "m")[: rng.randint(1, 2)]]
    loss, target = scalar_loss(rng)

    def f(X: Any) -> Any:
        return chosen[0](X) - chosen[-1](X) * Fraction(1, 2) if len(chosen) > 1 else chosen[0](X)

    return Case("heads", f, random_data(rng, words, target), loss, rates_of(rng, "w W_Q"))


def decoder(rng: Random) -> Case:
    """Classes read out of attention, the query outside the keys."""
    words, rows = random_words(rng), rng.randint(2, 3)
    Y, (Z, P) = maps("Y", Units("y", rows), words), maps("Z P", words, words)
    stream = rng.random() < 0.4
    loss, target = vector_loss(rng, rows)

    def f(X: Any) -> Any:
        keys, query = X[:-1], X[-1]
        mixed = keys @ softmax(keys.T @ Z @ query)
        return Y @ (mixed + query) + (Y @ P @ query if stream else 0)

    data = uncounted(random_data(rng, words, target))
    return Case("decoder", f, data, loss, rates_of(rng, "Z Y"))


def uncounted(data: Data) -> Data:
    """The same samples with every token once."""
    return Data(data.words, [Sample(s.tokens, s.label, s.weight) for s in data.samples])


def linear_attention(rng: Random) -> Case:
    """Scores without softmax."""
    words = random_words(rng)
    p, A, (K, Q) = maps("p", 1, words), maps("A", words, words), maps("K Q", Space("m"), words)
    whole = rng.random() < 0.5

    def f(X: Any) -> Any:
        T, query = X[:-1], X[-1]
        scores = T.T @ A @ query if whole else T.T @ K.T @ Q @ query
        return (p @ T) @ scores / rng_count(T)

    rng_count = (lambda T: T.count) if rng.random() < 0.5 else (lambda T: "c")
    return Case("linear", f, uncounted(random_data(rng, words, real_of(rng))), squared, rates_of(rng, "p"))


def two_layers(rng: Random) -> Case:
    """Listed neurons, any activation, trained or frozen read-out."""
    words, hidden, rows = random_words(rng), Units("r", rng.randint(1, 3)), rng.randint(1, 2)
    W, V, phi = maps("W", hidden, words), maps("V", Units("k", rows), hidden), rng.choice(ACTIVATIONS)
    loss, target = vector_loss(rng, rows) if rows > 1 else scalar_loss(rng)
    options = rates_of(rng, "W")
    if rng.random() < 0.3:
        options["train"] = "W"

    def f(X: Any) -> Any:
        return V @ phi(W @ (X[0] + X[1]))

    return Case("two_layers", f, uncounted(random_data(rng, words, target)), loss, options)


def positions(rng: Random) -> Case:
    """Two attention layers with positions, the map between them frozen or not."""
    words = random_words(rng, positions=3)
    A1, V1, A2, W2 = maps("A1 V1 A2 W2", words, words)
    mask = rng.choice([None, lambda key, query: key < query or query == 0])
    loss, target = vector_loss(rng, len(words))

    def f(X: Any) -> Any:
        P = X.positions
        H = X + V1 @ X @ softmax(P.T @ A1 @ P, mask=mask)
        return words.all.T @ W2 @ X @ softmax(H.T @ A2 @ H[-1])

    train = rng.choice(["A1 A2 W2", "A1 A2 W2", "A1 V1 A2 W2", "A1 W2"])
    return Case("positions", f, uncounted(random_data(rng, words, target, (2, 2))), loss, {"train": train})


def low_rank(rng: Random) -> Case:
    """W0 + B A with W0 frozen, through a free or listed rank."""
    words, rows = random_words(rng), Units("y", 2)
    rank = rng.choice([Space("r"), Units("r", 2)])
    W0, B, A = maps("W0", rows, words), maps("B", rows, rank), maps("A", rank, words)
    loss, target = vector_loss(rng, 2)
    phi = rng.choice([lambda v: v, relu, ACTIVATIONS[1]])
    train = rng.choice(["B A", "B A", "B", "W0 B A"])

    def f(X: Any) -> Any:
        return phi((W0 + B @ A * Fraction(1, 2)) @ X.mean(1))

    return Case("low_rank", f, random_data(rng, words, target), loss, {"train": train, **rates_of(rng, "B")})


def query_vector(rng: Random) -> Case:
    """A trained query or prompt vector."""
    words, m = random_words(rng), rng.choice([Space("m"), Units("m", 2)])
    W, q, w = maps("W", m, words), maps("q", m, 1), maps("w", 1, words)
    loss, target = scalar_loss(rng)
    prompt = rng.random() < 0.4

    def f(X: Any) -> Any:
        share = softmax(X.T @ W.T @ q)
        return (w @ X @ share) + (w @ X.sum(1) * Fraction(1, 3) if prompt else 0)

    return Case("query", f, random_data(rng, words, target), loss, rates_of(rng, "q W"))


def normed(rng: Random) -> Case:
    """Vectors divided by their norms, free or listed."""
    words, m = random_words(rng), rng.choice([Space("m"), Units("m", 2)])
    W, w = maps("W", m, words), maps("w", 1, words)
    loss, target = scalar_loss(rng)

    def f(X: Any) -> Any:
        H = W @ X
        H = H / norm(H)
        return (w @ X @ softmax(H.T @ H)).mean()

    return Case("normed", f, nonzero(rng, words, target), loss, rates_of(rng, "W"))


def nonzero(rng: Random, words: Words, target: Callable[[int], Any]) -> Data:
    """Tokens that are words, none of them zero."""
    samples = [([rng.choice(words.words) for _ in range(2)], target(2)) for _ in range(3)]
    return Data(words, samples)


def per_position(rng: Random) -> Case:
    """A causal decoder with a target at every position, its unembedding tied or not."""
    words = random_words(rng)
    m = Space("m")
    W, U, Z = maps("W", m, words), maps("U", m, words), maps("Z", words, words)
    tied, stream = rng.random() < 0.4, rng.random() < 0.5
    rows = len(words)
    data = random_data(rng, words, lambda length: tuple(rng.randrange(rows) for _ in range(length)))

    def f(X: Any) -> Any:
        H = X @ softmax(X.T @ Z @ X, mask=lambda key, query: key <= query) + (X if stream else 0 * X)
        return words.all.T @ (W if tied else U).T @ W @ H

    return Case("per_position", f, data, rng.choice([cross_entropy, squared]), rates_of(rng, "W Z"))


def multi_head(rng: Random) -> Case:
    """Heads with value and output maps of their own into one layer of neurons."""
    words, v, r = random_words(rng), Space("v"), Units("r", 2)
    a = maps("a", 1, r)
    loss, target = scalar_loss(rng)
    parts = []
    for name in ("h1", "h2")[: rng.randint(1, 2)]:
        Z, W_V, W_O = maps("Z", words, words, of=name), maps("W_V", v, words, of=name), maps("W_O", r, v, of=name)
        parts.append((Z, W_V, W_O))
    train = rng.choice([None, None, "Z W_V W_O", "W_V a"])

    def f(X: Any) -> Any:
        total: Any = 0
        for Z, W_V, W_O in parts:
            total = W_O @ W_V @ X @ softmax(X.T @ Z @ X[-1]) + total
        return a @ relu(total)

    return Case("multi_head", f, uncounted(random_data(rng, words, target)), loss, {"train": train})


def chain(rng: Random) -> Case:
    """Deep linear chains, some of which do not close."""
    words, m, n = random_words(rng), Space("m"), Space("n")
    V, U, W = maps("V", m, words), maps("U", n, m), maps("W", 1, n)
    loss, target = scalar_loss(rng)
    train = rng.choice(["V", "V W", "V U", "U W", "V U W", "U"])

    def f(X: Any) -> Any:
        return (W @ U @ V @ X).mean()

    return Case("chain", f, random_data(rng, words, target), loss, {"train": train, **rates_of(rng, "")})


SHAPES = [
    heads,
    decoder,
    linear_attention,
    two_layers,
    positions,
    low_rank,
    query_vector,
    normed,
    per_position,
    multi_head,
    chain,
]


# ---- random formulas -----------------------------------------------------------------------------------------------


def formula(rng: Random, careless: float = 0.0) -> Case:
    """A random formula in random maps; `careless` is how often a misfit is left standing."""
    words = random_words(rng, positions=rng.choice([0, 3]))
    sides: list[Any] = [words, words, Space("m"), Units("r", 2), 1]
    kinds = [(name, rng.choice(sides), rng.choice(sides)) for name in "ABCDF"[: rng.randint(2, 4)]]
    seed, depth = rng.random(), rng.randint(3, 9)

    def f(X: Any) -> Any:
        own = Random(seed)  # the same formula for every length
        pool: list[Any] = [X, X[0], words.all, as_expr("b"), as_expr(Fraction(1, 2))]
        pool += [maps(name, rows, columns) for name, rows, columns in kinds]
        made = 0
        for _ in range(40 * depth):
            if made >= depth:
                break
            try:
                new = _grown(own, pool)
            except OdesysError:
                if own.random() < careless:
                    raise
                continue
            pool.append(new)
            made += 1
        return _closed(own, pool[-1], pool)

    loss, target = rng.choice([(logistic, sign_of(rng)), (squared, real_of(rng)), (hinge, sign_of(rng))])
    return Case("formula", f, uncounted(random_data(rng, words, target, (2, 2))), loss)


def _grown(rng: Random, pool: list[Any]) -> Any:
    """One operation more on the latest expressions."""
    a, b = rng.choice(pool[-4:]), rng.choice(pool)
    kind = rng.randrange(13)
    if kind < 4:
        return rng.choice([lambda: a @ b, lambda: b @ a, lambda: a.T @ b, lambda: a @ b.T])()
    if kind == 4:
        return a + b
    if kind == 5:
        return a * b
    if kind == 6:
        return softmax(a)
    if kind == 7:
        return rng.choice(ACTIVATIONS[:3])(a * Fraction(1, 2))
    if kind == 8:
        return a.mean(rng.choice([None, 0, 1]))
    if kind == 9:
        return a.T @ b @ a
    if kind == 10:
        return a[rng.choice([0, -1])]
    if kind == 11:
        return b - a / 3
    return a / (1 + norm(a))


def _closed(rng: Random, last: Any, pool: list[Any]) -> Any:
    """A number from an expression: its squares, sums, or what the words read of it."""
    for _ in range(4):
        free = [isinstance(side, Space) for side in (last.rows, last.columns)]
        if not any(free):
            return last.sum() if rng.random() < 0.5 else last.mean()
        last = last.T @ last if free[0] and not free[1] else last @ last.T if free[1] and not free[0] else last @ last
    return last


def random_program(seed: int) -> Case:
    """A program by its number."""
    rng = Random(seed)
    return formula(rng) if rng.random() < 0.3 else rng.choice(SHAPES)(rng)


# ---- careless users ------------------------------------------------------------------------------------------------

_ODD: list[Any] = [None, "", "x", -1, 0, 7, 0.5, float("nan"), [], (), {}, [[1, 2], [3]], "W_K", sp.Symbol("z"), True]


def _odd_expression(rng: Random, X: Any, words: Words) -> Any:
    """Something a user might type by mistake."""
    W = maps("W", Space("m"), words)
    tries: list[Callable[[], Any]] = [
        lambda: X[rng.choice([9, "a", None, 1.5, slice(5, 9)])],
        lambda: relu(W @ X),
        lambda: softmax(X.T @ X, mask=rng.choice([lambda key, query: False, 3, lambda key, query: key > query])),
        lambda: softmax(W),
        lambda: bool(X) and X,
        lambda: X.positions,
        lambda: W.positions,
        lambda: norm(X.T),
        lambda: norm(rng.choice(_ODD)),
        lambda: X + rng.choice(_ODD),
        lambda: rng.choice(_ODD),
        lambda: X @ rng.choice(_ODD),
        lambda: X * rng.choice(_ODD),
        lambda: X / rng.choice(_ODD),
        lambda: X.T @ X ** rng.choice(_ODD),
        lambda: X.sum(rng.choice(_ODD)),
        lambda: maps(rng.choice(_ODD), words, words),
        lambda: maps("A", rng.choice(_ODD), words),
        lambda: maps("A A", words, words),
        lambda: function(rng.choice(_ODD))(X.T @ X),
        lambda: Units(rng.choice(_ODD), rng.choice(_ODD)),
        lambda: Space(rng.choice(_ODD)),
        lambda: Words(rng.choice(_ODD)).all,
        lambda: Words("a b", gram=rng.choice(_ODD)).all,
        lambda: Words("a b", positions=rng.choice(_ODD)).all,
        lambda: len(W),
        lambda: list(W),
        lambda: W.count,
        lambda: cross_entropy(X.T @ X, rng.choice(_ODD)),
        lambda: words.all.T @ maps("W", words, words) @ X,
        lambda: maps("W", words, words) @ X,
    ]
    return rng.choice(tries)()


def careless(rng: Random) -> Case:
    """A program with mistakes in it, now and then without."""
    case = formula(rng, careless=0.05) if rng.random() < 0.6 else rng.choice(SHAPES)(rng)
    words, inner, seed, where = case.data.words, case.function, rng.random(), rng.random()
    if where < 0.35:

        def f(X: Any) -> Any:
            own = Random(seed)
            odd = _odd_expression(own, X, words)
            how = own.randrange(4) if isinstance(odd, Expr) else 0
            return odd if how == 0 else inner(X) + odd if how == 1 else inner(X) * odd if how == 2 else inner(odd)

        case.function = f
    elif where < 0.5:
        samples: list[Any] = [(s.tokens, s.label) for s in case.data.samples]
        odd = rng.choice(_ODD)
        samples[0] = rng.choice(
            [(odd, 1), (samples[0][0], odd), ((odd, "a"), 1), (("a",), 1, odd), odd, (("a", "zz"), 1), ({"a": odd}, 0)]
        )
        case.data = Data(rng.choice([words, words, words, odd]), rng.choice([samples, samples, samples, odd]))
    elif where < 0.6:
        case.loss = rng.choice([*_ODD, cross_entropy, squared, hinge, lambda f, y: f, lambda f, y: 1, lambda f, y: f.T])
    elif where < 0.75:
        key = rng.choice(["train", "rates", "decay"])
        case.options[key] = rng.choice([*_ODD, {"W": rng.choice(_ODD)}, "A B", {"A": rng.choice(_ODD)}, ["A", 3]])
    return case
