"""Elements that users write are checked exactly."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from odesys import (
    Data,
    Flow,
    OdesysError,
    Space,
    Units,
    Words,
    gradient_descent,
    gradient_flow,
    graph,
    heavy_ball,
    logistic,
    maps,
    relu,
    softmax,
    squared,
    sym,
)
from odesys.program.functions import function
from odesys.reduce.program_symmetry import LossCheck, ProgramSymmetry, is_program_symmetry

WORDS = Words("a b c")
w, Z = maps("w", 1, WORDS), maps("Z", WORDS, WORDS)


def flow(target: int = 1):
    data = Data(WORDS, [("a c", 1), ("b c", target)])
    return gradient_flow(lambda X: w @ X @ softmax(X.T @ Z @ X[-1]), data, squared)


SWAP = ProgramSymmetry(pins=(("E", (("E", 1, 1), ("E", 0, 1), ("E", 2, 1))),))


def test_exchange_of_words() -> None:
    assert is_program_symmetry(flow(), SWAP) and not is_program_symmetry(flow(2), SWAP)
    target, sign = SWAP.on_states(flow())
    names = flow().system.names
    assert names[target[names.index("Z_a_c")]] == "Z_b_c" and (sign == 1).all()
    assert SWAP.describe(flow()) == "a -> b, b -> a"


def test_twice_is_the_identity() -> None:
    made = flow()
    target, sign = SWAP.after(SWAP).on_states(made)
    assert (target == np.arange(made.system.dimension)).all() and (sign == 1).all()


def test_a_wrong_generator_is_refused() -> None:
    assert flow().quotient([SWAP]).system.dimension == 7
    with pytest.raises(OdesysError):
        flow(2).quotient([SWAP])


@pytest.mark.parametrize(
    ("gram", "keeps"),
    [
        (None, True),
        ([[2, 1, 0], [1, 2, 0], [0, 0, 1]], True),
        ([[2, 1, 1], [1, 2, 1], [1, 1, 3]], True),
        ([[2, 0, 0], [0, 3, 0], [0, 0, 2]], False),  # other lengths
        ([[2, 0, 1], [0, 2, 0], [1, 0, 2]], False),  # another angle to the third
        ([[2, 0, 1], [0, 2, -1], [1, -1, 2]], False),  # the same angle with the other sign
    ],
)
def test_words_are_exchanged_only_with_their_inner_products(gram: list[list[int]] | None, keeps: bool) -> None:
    words = Words("a b c", gram)
    v, A = maps("w", 1, words), maps("Z", words, words)
    data = Data(words, [("a c", 1), ("b c", 1)])
    made = gradient_flow(lambda X: v @ X @ softmax(X.T @ A @ X[-1]), data, squared)
    assert is_program_symmetry(made, SWAP) == keeps


# ---- elements against moved weights and against values of the loss ---------------------------------------------------


def scored(rates=None, train=None, rule=gradient_flow, **more):
    """A score between two words through maps that may be exchanged with each other."""
    words, m = Words("a b"), Space("m")
    K, Q = maps("W_K W_Q", m, words)
    data = Data(words, [("a b", 1), ("b a", 1)])
    return rule(lambda X: X[0].T @ K.T @ Q @ X[1], data, squared, train=train, rates=rates, **more)


def two_heads(**more):
    """Two heads with opposite signs: an exchange of both words goes with an exchange of the heads."""
    words = Words("a b")
    p, m = maps("w", 1, words, of="p"), maps("w", 1, words, of="m")
    data = Data(words, [("a", 1), ("b", -1)])
    return gradient_flow(lambda X: relu(p @ X[0]) - relu(m @ X[0]), data, logistic, **more)


def two_layers(data, words):
    """Units between two maps: they may be exchanged, and turned over where words are too."""
    hidden = Units("r", 2)
    W, V = maps("W", hidden, words), maps("V", 1, hidden)
    odd = function(graph.call("tanh", sym("z")))
    return gradient_flow(lambda X: V @ odd(W @ X[0]), Data(words, data), squared)


def signed(set_name: str, size: int) -> list[tuple[tuple[str, int, int], ...]]:
    """All signed permutations of a set of pinned vectors."""
    return [
        tuple((set_name, j, s) for j, s in zip(order, signs, strict=True))
        for order in permutations(range(size))
        for signs in product((1, -1), repeat=size)
    ]


def elements(flow: Flow, stems: bool = True) -> list[ProgramSymmetry]:
    """All signed permutations of the vectors of each set, with all of the maps where `stems` says so."""
    pins = [(name, signed(name, pin.size)) for name, pin in flow.naming.pins.items() if name != "one"]
    names = list(flow.naming.letters)
    moves = [
        tuple((n, (image, s)) for n, image, s in zip(names, order, signs, strict=True))
        for order in (permutations(names) if stems else [names])
        for signs in product((1, -1), repeat=len(names))
    ]
    return [
        ProgramSymmetry(tuple(zip([name for name, _ in pins], images, strict=True)), own)
        for *images, own in product(*(choice for _, choice in pins), moves)
    ]


def acted(flow: Flow, element: ProgramSymmetry, state: np.ndarray) -> np.ndarray:
    target, sign = element.on_states(flow)
    out = np.empty_like(state)
    out[target] = sign * state
    return out


def loss_at(flow: Flow, state: np.ndarray) -> float:
    point = dict(zip(flow.system.names, state, strict=True))
    return float(graph.evaluate([flow.loss], point, graph.FLOAT_FUNCTIONS, float)[0])


def test_the_action_on_states_is_that_on_weights() -> None:
    """Columns of W_K and W_Q moved, signed and exchanged, and inner products taken after that."""
    flow, rng = scored(), np.random.default_rng(5)
    weights = {"W_K": rng.normal(size=(3, 2)), "W_Q": rng.normal(size=(3, 2))}
    state = flow.initial_state(weights=weights)
    found = elements(flow)
    assert len(found) == 8 * 8
    for element in found:
        moved = {name: np.empty((3, 2)) for name in weights}
        for name, (image, s) in element.maps:
            for i, (_, j, t) in enumerate(element.pins[0][1]):
                moved[image][:, j] = s * t * weights[name][:, i]
        assert np.allclose(acted(flow, element, state), flow.initial_state(weights=moved), atol=1e-14), element


@pytest.mark.parametrize(
    ("make", "stems"),
    [
        (scored, True),
        (two_heads, True),
        (lambda: two_layers([("a", 1), ("-b", -1)], Words("a b")), False),
        (lambda: two_layers([("a", 1), ("b", 2)], Words("a b")), False),
        (lambda: flow(2), False),
    ],
)
def test_symmetries_are_those_that_keep_the_value_of_the_loss(make, stems: bool) -> None:
    """All signed permutations: with one rate for all maps and orthonormal words nothing but the loss can differ."""
    made, rng = make(), np.random.default_rng(6)
    points = [rng.normal(size=made.system.dimension) for _ in range(3)]
    at = [loss_at(made, x) for x in points]
    check, right = LossCheck(made), 0
    for element in elements(made, stems):
        keeps = all(abs(loss_at(made, acted(made, element, x)) - v) < 1e-9 for x, v in zip(points, at, strict=True))
        assert is_program_symmetry(made, element, check) is keeps, element.describe(made)
        right += keeps
    assert 1 <= right < len(elements(made, stems))


def test_one_after_the_other_acts_as_the_product() -> None:
    made, rng = two_heads(), np.random.default_rng(7)
    state, all_of_them = rng.normal(size=4), elements(made)
    for _ in range(40):
        first, second = (all_of_them[k] for k in rng.integers(len(all_of_them), size=2))
        product_of = second.after(first)
        assert np.array_equal(acted(made, product_of, state), acted(made, second, acted(made, first, state)))
        path = made.closure.paths[0]
        image, sign = first.path(path)
        then, other = second.path(image)
        assert product_of.path(path) == (then, sign * other)


# ---- what is no permutation, no symmetry of the rule, or of single steps ---------------------------------------------

STAY = (("W_K", ("W_K", 1)), ("W_Q", ("W_Q", 1)))
CHANGE = (("W_K", ("W_Q", 1)), ("W_Q", ("W_K", 1)))


@pytest.mark.parametrize(
    ("pins", "maps_moved"),
    [
        ((("E", (("E", 0, 1),)),), STAY),  # one vector of two
        ((("F", (("F", 0, 1), ("F", 1, 1))),), STAY),  # no such set
        ((("E", (("E", 0, 1), ("E", 0, 1))),), STAY),  # one vector twice
        ((("E", (("E", 0, 1), ("E", 1, 2))),), STAY),  # no sign
        ((("E", (("E", 0, 1), ("F", 1, 1))),), STAY),  # half of a set
        ((("E", (("E", 0, 1), ("E", 1, 1))),) * 2, STAY),  # one set twice
        ((), (("W_K", ("W_Q", 1)),)),  # and what goes to W_K?
        ((), (("W_K", ("W_K", 1)), ("W_K", ("W_K", 1)))),
        ((), (("W_K", ("W_Q", 1)), ("W_Q", ("W_Q", 1)))),
        ((), (("W_K", ("W_K", 2)), ("W_Q", ("W_Q", 1)))),
        ((), (("W_K", ("W_K", -2)), ("W_Q", ("W_Q", -2)))),
        ((), (("W", ("W", 1)),)),  # no such map
    ],
)
def test_what_is_no_signed_permutation_is_no_symmetry(pins: tuple, maps_moved: tuple) -> None:
    assert is_program_symmetry(scored(), ProgramSymmetry(pins, maps_moved)) is False


def test_the_identity_is_one() -> None:
    assert is_program_symmetry(scored(), ProgramSymmetry()) is True
    assert is_program_symmetry(scored(), ProgramSymmetry((("E", (("E", 0, 1), ("E", 1, 1))),), STAY)) is True


@pytest.mark.parametrize(
    ("more", "keeps"),
    [
        ({}, True),
        ({"rates": {"W_K": 2, "W_Q": 2}}, True),
        ({"rates": {"W_K": 2}}, False),  # other rates
        ({"train": ["W_K", "W_Q"]}, True),
        ({"train": ["W_K"], "carry": ["W_K", "W_Q"]}, False),  # one of them rests
        ({"decay": 2}, True),
    ],
)
def test_maps_are_exchanged_only_with_their_rates(more: dict, keeps: bool) -> None:
    exchange = ProgramSymmetry((), CHANGE)
    made = scored(**more)
    assert is_program_symmetry(made, exchange) is keeps
    assert is_program_symmetry(made, ProgramSymmetry((), STAY)) is True


@pytest.mark.parametrize("step", [False, True])
def test_a_velocity_goes_along_with_its_map(step: bool) -> None:
    words = Words("a b")
    p, m = maps("w", 1, words, of="p"), maps("w", 1, words, of="m")
    data = Data(words, [("a", 1), ("b", 1)])
    made = heavy_ball(lambda X: (p @ X[0]) * (m @ X[0]), data, squared, friction="gamma", decay=3, step=step)
    assert set(made.naming.letters) == {"w.p", "w.m", "dw.p", "dw.m"}

    def element(**images: str) -> ProgramSymmetry:
        moves = {f"{n[:-2]}.{n[-1]}": image.replace("_", ".") for n, image in images.items()}
        return ProgramSymmetry((), tuple((n, (i.lstrip("-"), -1 if "-" in i else 1)) for n, i in moves.items()))

    whole = element(w_p="w_m", w_m="w_p", dw_p="dw_m", dw_m="dw_p")
    assert is_program_symmetry(made, whole) is True and whole.describe(made) == "maps .m <-> .p"
    turned = element(w_p="-w_p", w_m="-w_m", dw_p="-dw_p", dw_m="-dw_m")
    assert is_program_symmetry(made, turned) is True
    assert turned.describe(made) == "w.p -> -w.p, w.m -> -w.m, dw.p -> -dw.p, dw.m -> -dw.m"
    for wrong in (
        element(w_p="w_m", w_m="w_p"),
        element(dw_p="dw_m", dw_m="dw_p"),
        element(w_p="-w_p", w_m="-w_m"),
        element(dw_p="-dw_p", dw_m="-dw_m"),
        element(w_p="-w_p", w_m="-w_m", dw_p="-dw_p", dw_m="dw_m"),
        element(w_p="dw_p", dw_p="w_p", w_m="dw_m", dw_m="w_m"),
    ):
        assert is_program_symmetry(made, wrong) is False, wrong.describe(made)


@pytest.mark.parametrize(
    ("one", "other", "keeps"),
    [
        (None, None, True),
        ([[2, 1], [1, 3]], [[2, 1], [1, 3]], True),
        ([[2, 1], [1, 3]], [[2, 1], [1, 2]], False),
        ([[2, 1], [1, 3]], [[2, 0], [0, 3]], False),
        ([[2, 1], [1, 3]], None, False),
        (None, [[2, 1], [1, 3]], False),
    ],
)
def test_two_sets_of_words_are_exchanged_only_with_their_inner_products(one, other, keeps: bool) -> None:
    """All scores of words u with words v, added: the exchange of both sets and both maps transposes the table."""
    element = ProgramSymmetry(
        (("u", (("v", 0, 1), ("v", 1, 1))), ("v", (("u", 0, 1), ("u", 1, 1)))), (("B", ("C", 1)), ("C", ("B", 1)))
    )
    words, u, v, m = Words("a"), Words("p q", gram=one, name="u"), Words("r s", gram=other, name="v"), Space("m")
    w, B, C = maps("w", 1, words), maps("B", m, u), maps("C", m, v)
    made = gradient_flow(
        lambda X: (w @ X[0]) * (u.all.T @ B.T @ C @ v.all).sum(0).sum(), Data(words, [("a", 1)]), squared
    )
    assert is_program_symmetry(made, element) is keeps


def test_a_mini_batch_sees_more_than_the_loss() -> None:
    """Targets 1 and -1 of one word have the mean 0 of another: alike to the loss, not to the mean of squared steps."""
    words, m = Words("a b"), Space("m")
    A, v = maps("A", m, words), maps("v", 1, m)
    swap = ProgramSymmetry((("E", (("E", 1, 1), ("E", 0, 1))),))

    def step(samples, **more):
        return gradient_descent(lambda X: v @ A @ X[0], Data(words, samples), squared, **more)

    uneven, even = [("a", 1), ("a", -1), ("b", 0), ("b", 0)], [("a", 1), ("b", 1), ("a", -1), ("b", -1)]
    assert is_program_symmetry(step(uneven), swap) is True
    assert is_program_symmetry(step(uneven, batch=1), swap) is False
    assert is_program_symmetry(step(even, batch=1), swap) is True


def test_the_text_names_what_moves() -> None:
    made = two_heads()
    change = (("w.p", ("w.m", 1)), ("w.m", ("w.p", 1)))
    both = ProgramSymmetry((("E", (("E", 1, 1), ("E", 0, 1))),), change)
    assert both.describe(made) == "a -> b, b -> a, maps .m <-> .p"
    assert ProgramSymmetry((), change[::-1]).describe(made) == "maps .m <-> .p"
    assert ProgramSymmetry().describe(made) == "identity"
    stay = ProgramSymmetry((("E", (("E", 0, 1), ("E", 1, 1))),), (("w.p", ("w.p", 1)), ("w.m", ("w.m", 1))))
    assert stay.describe(made) == "identity"
    assert ProgramSymmetry((("E", (("E", 0, -1), ("E", 1, 1))),)).describe(made) == "a -> -a"
    assert ProgramSymmetry((("one", (("one", 0, -1),)),)).describe(made) == "value -> -value"
    turned = tuple((name, (image, -1)) for name, (image, _) in change)
    assert ProgramSymmetry((), turned).describe(made) == "maps .m <-> .p, w.p -> -w.m, w.m -> -w.p"
    plain = scored()
    assert ProgramSymmetry((), CHANGE).describe(plain) == "W_K -> W_Q, W_Q -> W_K"
    assert ProgramSymmetry((), (("W_K", ("W_K", -1)),)).describe(plain) == "W_K -> -W_K"


def test_three_heads_in_a_circle_and_heads_that_do_not_go_as_a_whole() -> None:
    words = Words("a b")
    heads = {h: maps("w v", 1, words, of=h) for h in "abc"}

    def program(X):
        return sum(((w @ X[0]) * (v @ X[0]) for w, v in list(heads.values())[1:]), heads["a"][0] @ X[0]) + (
            heads["a"][1] @ X[0]
        )

    made = gradient_flow(program, Data(words, [("a", 1)]), squared)
    circle = {f"{s}.{h}": (f"{s}.{g}", 1) for s in "wv" for h, g in zip("abc", "bca", strict=True)}
    assert ProgramSymmetry((), tuple(circle.items())).describe(made) == "maps .a -> .b, maps .b -> .c, maps .c -> .a"
    split = {"w.a": ("w.b", 1), "w.b": ("w.a", 1), "v.a": ("v.a", 1), "v.b": ("v.b", 1)}
    assert ProgramSymmetry((), tuple(split.items())).describe(made) == "w.a -> w.b, w.b -> w.a"
    stems = {"w.a": ("v.a", 1), "v.a": ("w.a", 1)}
    assert ProgramSymmetry((), tuple(stems.items())).describe(made) == "w.a -> v.a, v.a -> w.a"
