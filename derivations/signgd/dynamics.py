r"""The reduced systems, derived from the model's loss: the exact step of sign descent, its flow, and the noise saddle.

The words are :math:`\mu` and :math:`z_i = y_i\xi_i`; sample i reads the patches :math:`y_i\mu` and :math:`y_i z_i` (two
patches, in any order). W_Q and W_K have pinned neurons, W_V is read out by a frozen vector with the entries
:math:`\pm1/m_v`. The engine differentiates the loss on the inner products, signs factor over attention weights and loss
slopes, which are positive, and what remains is the recursion: (n + 1)(2 m_k + 1) states, no label left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from odesys import (
    Data,
    Expr,
    IndexedSystem,
    Node,
    OpaqueSoftmax,
    PinnedVectors,
    SignDescent,
    SignForm,
    System,
    Units,
    Words,
    from_sympy,
    gradient_flow,
    graph,
    inner_product_sign_descent,
    logistic,
    maps,
    num,
    softmax,
    sym,
)

from .special import written_step
from .special.letters import explained

READOUT = Words("c", gram=[["c2"]], name="c")  # the frozen vector that reads out the values


def word(i: int) -> str:
    """The word y_i xi_i, i = 1 .. n."""
    return f"z{i}"


def labels(n: int) -> tuple[int, ...]:
    """Labels +1, -1, +1, ... of n samples."""
    return tuple(1 if i % 2 == 0 else -1 for i in range(n))


def data(signs: Sequence[int]) -> Data:
    """Samples with the given labels; tokens carry the label, so that words are mu and y_i xi_i."""
    words = Words(["mu", *(word(i) for i in range(1, len(signs) + 1))])
    tokens = [[("" if y > 0 else "-") + name for name in ("mu", word(i))] for i, y in enumerate(signs, 1)]
    return Data(words, list(zip(tokens, signs, strict=True)))


def model(words: Words, m_k: int, heads: Sequence[str] = ("",)) -> Callable[[Expr], Expr]:
    """f = sum over heads and query patches of softmax-weighted values, read out by c = (1/m_v, ..., -1/m_v)."""
    rows = Units("r", m_k)
    trained = [(maps(f"v{h}", READOUT, words), *maps(f"q{h} k{h}", rows, words)) for h in heads]

    def f(X: Expr) -> Expr:
        first, *others = [(READOUT.all.T @ v @ X @ softmax(X.T @ k.T @ q @ X)).sum() for v, q, k in trained]
        return sum(others, first)

    return f


@cache
def derived(
    n: int, m_k: int, m_v: int = 1, signs: tuple[int, ...] | None = None, heads: tuple[str, ...] = ("",)
) -> SignDescent:
    """The loss on inner products and its gradients, for disjoint supports with L1 norms m (signal) and l1, l2, ..."""
    samples = data(labels(n) if signs is None else signs)
    known = {
        samples.words: PinnedVectors.disjoint(["m", *(f"l{i}" for i in range(1, n + 1))]),
        READOUT: PinnedVectors.of([[Fraction(1, m_v)] * m_v + [Fraction(-1, m_v)] * m_v]),
    }
    train = " ".join(f"{name}{h}" for h in heads for name in "vqk")
    return inner_product_sign_descent(model(samples.words, m_k, heads), samples, logistic, vectors=known, train=train)


@cache
def atoms(n: int, m_k: int) -> OpaqueSoftmax:
    """Attention weights and loss slopes of all samples as atoms."""
    made = derived(n, m_k)
    return OpaqueSoftmax(
        [*(node for table in made.gradients.values() for node in table.ravel()), *made.observables.values()]
    )


def in_atoms(n: int, m_k: int) -> dict[str, Node]:
    """Gradient of the loss by every state, with attention weights p, pbar = 1 - p and loss slopes g as symbols."""
    made, opaque = derived(n, m_k), atoms(n, m_k)
    return {
        name: opaque(node)
        for leaf, table in made.names.items()
        for name, node in zip(table.ravel(), made.gradients[leaf].ravel(), strict=True)
    }


@cache
def sign_form(n: int, m_k: int) -> SignForm:
    """The normal form of signs of gradients in atoms."""
    return atoms(n, m_k).form([name for table in derived(n, m_k).names.values() for name in table.ravel()])


@cache
def reduced(n: int, m_k: int, kind: str = "map") -> System:
    """The recursion (map, step size eta) or the sign flow (in theta = eta t) with signs in normal form."""
    made, opaque = derived(n, m_k), atoms(n, m_k)
    form = sign_form(n, m_k)
    seen = {name: opaque.back(opaque(node)) for name, node in made.observables.items()}
    for i in range(1, n + 1):
        seen |= attention(m_k, i)
    seen |= drivers(n, m_k)
    found = _typeset(made.system(lambda node: opaque.back(form.sign(opaque(node))), kind, seen), n, m_k)
    if n == 1:
        return found
    rows = {name: node for i in range(1, n + 1) for name, node in attention(m_k, i).items()}
    shown = written_step.written(found, made, opaque, form, rows)
    return replace(found, written=shown, tex={**found.tex, **written_step.tex(shown.definitions)})


def drivers(n: int, m_k: int) -> dict[str, Node]:
    """What signs are taken of, by name: w_i, B_r_i, A_r_i and, for more than one sample, Gq_r and Gk_r.

    They are the factors of the gradient that can change sign, up to a constant: A is the factor of a key gradient that
    is left beside w, Gq and Gk are the sums over samples that drive the signals.
    """
    opaque, found, states = atoms(n, m_k), in_atoms(n, m_k), derived(n, m_k).structure
    form = sign_form(n, m_k)
    out: dict[str, Node] = {}
    for name, node in found.items():
        state = states[name]
        leaf, r, to = state.path, state.left, state.right
        if leaf == "v":
            continue
        factors = [opaque.back(from_sympy(form.write(factor))) for factor, _ in form.factors(node)[1]]
        if to == "mu" and len(factors) == 1:
            out[f"G{leaf}_{r}"] = factors[0]
        elif to != "mu":
            for factor in factors:
                letter = "w" if "v_mu" in graph.symbols([factor]) else {"q": "B", "k": "A"}[leaf]
                out[f"w_{to[1:]}" if letter == "w" else f"{letter}_{r}_{to[1:]}"] = factor
    return out


def attention(m_k: int, i: int) -> dict[str, Node]:
    """s11 and s21 of sample i as functions of the state: the definition of attention between two patches."""

    def weight(query: str) -> Node:
        return graph.call(
            "sigmoid",
            graph.add(
                [sym(f"q_{r}_{query}") * (sym(f"k_{r}_mu") - sym(f"k_{r}_{word(i)}")) for r in range(1, m_k + 1)]
            ),
        )

    return {f"s11_{i}": weight("mu"), f"s21_{i}": weight(word(i))}


def raw(n: int, m_k: int) -> System:
    """The same map with a gate on every whole gradient entry, as the chain rule gives it; H are the outputs f."""
    made = derived(n, m_k)
    seen = {**made.observables, **{f"H_{i}": y * made.observables[f"margin_{i}"] for i, y in enumerate(labels(n), 1)}}
    return _typeset(made.system(observables=seen), n, m_k)


@cache
def several_heads(n: int, m_k: int, count: int = 2) -> System:
    """Sign descent with several heads: every head has the map of one, with the loss slopes of all (appendix F.4)."""
    return derived(n, m_k, heads=tuple("abcdefgh"[:count])).system()


@cache
def gradient(n: int, m_k: int) -> System:
    r"""Plain gradient flow of the same program on the same inner products, for disjoint supports.

    An inner product moves by minus its derivative times the squared length of what it meets: m2 is
    :math:`\|\mu\|^2`, s1, s2, ... are :math:`\|\xi_i\|_2^2`, and c2, the squared length of the readout, is 2/m_v.
    """
    lengths = ["m2", *(f"s{i}" for i in range(1, n + 1))]
    names = data(labels(n)).words.words
    gram = [[lengths[j] if j == l else 0 for l in range(n + 1)] for j in range(n + 1)]
    words = Words(list(names), gram=gram)
    tokens = [[("" if y > 0 else "-") + name for name in ("mu", word(i))] for i, y in enumerate(labels(n), 1)]
    samples = Data(words, list(zip(tokens, labels(n), strict=True)))
    found = gradient_flow(model(words, m_k), samples, logistic, train="v q k").system
    tex = {"m2": r"\|\mu\|^2", "c2": r"\tfrac{2}{m_v}"} | {f"s{i}": rf"\|\xi_{{{i}}}\|_2^2" for i in range(1, n + 1)}
    shown = {"mu": r"\mu"} | {word(i): str(i) for i in range(1, n + 1)}
    for name in found.names:
        letter, *rest = name.removeprefix("c").split("_")
        place = "".join(shown.get(part, part.removeprefix("r")) for part in sorted(rest, key=lambda x: x[0] != "r"))
        tex[name] = f"{letter}_{{{place}}}"
    return replace(found, tex=tex)


@cache
def adam(n: int, m_k: int) -> System:
    r"""Adam with eps = 0 on the inner products, for disjoint supports: moments of their gradients are enough.

    On the support of a sample every gradient is :math:`\xi_i[k]` times one number G. Both moments then have that factor
    and its square, and a step is the one of sign descent with :math:`\hat a/\sqrt{\hat b}` for the sign, where a and b
    are the moments of G; B1 and B2 are the powers of beta1 and beta2 up to the last step (1 at the start).
    """
    made = derived(n, m_k)
    names = {
        node: name
        for leaf, table in made.names.items()
        for name, node in zip(table.ravel(), made.gradients[leaf].ravel(), strict=True)
    }
    rates = {"a": sym("beta1"), "b": sym("beta2")}
    powers = {"a": rates["a"] * sym("B1"), "b": rates["b"] * sym("B2")}

    def moment(letter: str, node: Node) -> Node:
        rate, power = rates[letter], 1 if letter == "a" else 2
        return rate * sym(f"{letter}_{names[node]}") + (1 - rate) * node**power

    def direction(node: Node) -> Node:
        return moment("a", node) / (1 - powers["a"]) / graph.sqrt(moment("b", node) / (1 - powers["b"]))

    moved = made.system(direction).equations
    kept = {f"{letter}_{name}": moment(letter, node) for letter in "ab" for node, name in names.items()}
    used = ["eta", "m", *(f"l{i}" for i in range(1, n + 1)), "beta1", "beta2"]
    return System.from_equations({**moved, **kept, "B1": powers["a"], "B2": powers["b"]}, parameters=used, kind="map")


def _typeset(system: System, n: int, m_k: int) -> System:
    tex = {"v_mu": r"v_\mu", "m": r"\|\mu\|", "eta": r"\eta"}
    tex |= {f"v_{word(i)}": f"v_{{{i}}}" for i in range(1, n + 1)}
    tex |= {f"l{i}": rf"\|\xi_{{{i}}}\|_1" for i in range(1, n + 1)}
    for x in "qk":
        for r in range(1, m_k + 1):
            tex |= {f"{x}_{r}_mu": rf"{x}_{{{r}\mu}}"}
            tex |= {f"{x}_{r}_{word(i)}": rf"{x}_{{{r},{i}}}" for i in range(1, n + 1)}
    return replace(system, tex=tex)


@cache
def saddle() -> System:
    r"""One pair of noise variables while attention is uniform and the signals stand still: A = q + q_mu, B = k - k_mu.

    Read off the derived flow with one sample and one neuron: :math:`a_1 = b_1` (both weights 1/2), :math:`w_1 > 0`.
    """
    made, opaque = derived(1, 1), atoms(1, 1)
    form = sign_form(1, 1)
    half = {atom: num(Fraction(1, 2)) for atom in opaque.meaning if atom not in opaque.slopes}
    gates = {leaf: graph.substitute([form.sign(opaque(made.gradients[leaf][0, 1]))], half)[0] for leaf in "qk"}
    pair = {
        sym("q_1_z1"): sym("A") - sym("q_1_mu"),
        sym("k_1_z1"): sym("B") + sym("k_1_mu"),
        sym("v_z1"): sym("v_mu") + num(1),
    }  # any positive w: only its sign is read
    rows = graph.substitute([-sym("l1") * gates["q"], -sym("l1") * gates["k"]], pair)
    return System.from_equations({"A": rows[0], "B": rows[1]}, parameters=["l1"], tex={"l1": r"\|\xi\|_1"})


def named_system(name: str, parameters: Mapping[str, Any]) -> System | IndexedSystem:
    """A system for the command line, with `written` samples and neurons, or with indices for every number of them."""
    if "symbol" in (parameters["n"], parameters["m_k"]):
        from .special import general_step

        return general_step.size_free(name, parameters["supports"])
    if name == "saddle":
        return saddle()
    size = parameters["written"]
    makers: dict[str, Callable[[], System]] = {
        "raw": lambda: raw(size, size),
        "gradient": lambda: gradient(size, size),
        "heads": lambda: several_heads(size, 1),
        "adam": lambda: adam(size, 1),
        "flow": lambda: reduced(size, size, "flow"),
    }
    return explained(makers.get(name, lambda: reduced(size, size))(), name)
