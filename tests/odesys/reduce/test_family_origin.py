"""Families written as programs: the same nodes as from an attention model, and what a family can not have."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derivations.two_mixture import setting
from odesys import (
    AttentionModel,
    Data,
    Family,
    Head,
    OtherGroups,
    SampleTemplate,
    Space,
    Units,
    Words,
    cross_entropy,
    family_descent,
    family_flow,
    gradient_flow,
    integrate,
    maps,
    norm,
    relu,
    softmax,
    squared,
)
from odesys.errors import ModelError, OdesysError, SlavingError, SymmetryError
from odesys.model.family_symmetry import TypeSymmetry
from odesys.model.group_count import below
from odesys.reduce import family_origin

HALF = Fraction(1, 2)


def two_mixture(words):
    m = Space("m")

    def head(name):
        w, (W_K, W_Q) = maps("w", 1, words, of=name), maps("W_K W_Q", m, words, of=name)
        return lambda X: relu((w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum() + "b")

    plus, minus = head("p"), head("m")
    return lambda X: plus(X) - minus(X)


def attention(words):
    return AttentionModel(words, [Head(sign, activation="relu", bias="b") for sign in (+1, -1)])


def frozen_rows(words):
    """Two pinned read-out vectors that are not orthonormal, in front of two trained maps."""
    rows, v = Words("a1 a2", [[1, HALF], [HALF, 2]], name="A"), Space("v")
    W, V, Z = maps("W", rows, v), maps("V", v, words), maps("Z", words, words)
    return lambda X: relu(rows.all.T @ W @ V @ X @ softmax(X.T @ Z @ X)).sum()


def pairs() -> Family:
    noise = OtherGroups(["v", "-v"])
    return Family(["c", "v"], [SampleTemplate(["c", s, noise], y, HALF) for s, y in (("v", 1), ("-v", -1))])


@pytest.mark.parametrize("K", ["symbol", "infinity", 4])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_same_nodes_as_from_the_model(K, scaled: bool) -> None:
    old = family_flow(setting.family(3), attention, K=K, scaled=scaled)
    new = family_flow(setting.family(3), two_mixture, K=K, scaled=scaled)
    assert old.system.names == new.system.names and old.system.tex == new.system.tex
    assert all(a is b for a, b in zip(old.system.nodes, new.system.nodes, strict=True))
    assert new.system.observables.keys() <= old.system.observables.keys()
    assert all(node is old.system.observables[name] for name, node in new.system.observables.items())
    assert old.symmetries == new.symmetries
    assert np.array_equal(old.initial_state(omega=0.3), new.initial_state(omega=0.3))


def test_the_same_step_and_the_same_stage() -> None:
    old, new = (family_descent(setting.family(3), shape) for shape in (attention, two_mixture))
    assert all(a is b for a, b in zip(old.system.nodes, new.system.nodes, strict=True))
    old = family_flow(setting.family(3), attention, train=["w"], carry=["w", "W_K", "W_Q"])
    new = family_flow(setting.family(3), two_mixture, train="w", carry="w W_K W_Q")
    assert all(a is b for a, b in zip(old.system.nodes, new.system.nodes, strict=True))


@pytest.mark.parametrize("shape", [two_mixture, frozen_rows])
def test_the_law_of_the_lift_holds_for_every_number_of_groups(shape) -> None:
    flow = family_flow(pairs(), shape, train=None if shape is two_mixture else "V Z", symmetries=())
    rng = np.random.default_rng(3)
    given = {"b": 0.2} if "b" in flow.system.parameters else {}
    for K in (2, 3):
        bound, z = flow.bind(K=K), rng.normal(size=flow.system.dimension)
        rate = flow.system.compile({**given, "K": K})(0.0, z)
        full = bound.source.compile(given)(0.0, bound.lift(z))
        assert np.abs(bound.lift(rate) - full).max() < 1e-12
        assert np.abs(bound.project(bound.lift(z)) - z).max() < 1e-12


def test_many_groups_run_from_the_symbol() -> None:
    flow = family_flow(pairs(), two_mixture)
    start = flow.initial_state(omega=0.5)
    run = integrate(flow.system, start, (0.0, 500.0), {"K": 1000, "b": 0.1})
    few = family_flow(pairs(), two_mixture, K=3)
    full = gradient_flow(setting.model(3), Data(setting.words(3), pairs().distribution(3).samples)).system
    again = integrate(few.system, few.initial_state(omega=0.5), (0.0, 5.0), {"b": 0.1})
    listed = integrate(full, few.lift(few.initial_state(omega=0.5)), (0.0, 5.0), {"b": 0.1})
    assert run.final["loss"] < run.observable("loss")[0]
    assert again.final["loss"] == pytest.approx(listed.final["loss"], abs=1e-8)


def test_weights_of_a_network_start_it() -> None:
    flow = family_flow(pairs(), _linear, K=2)
    state = flow.initial_state(weights={"w": [[0.5, 0.5, -1.0, -1.0]]})
    assert dict(zip(flow.system.names, state, strict=True)) == {"w_c": 0.5, "w_v": -1.0}
    with pytest.raises(SymmetryError, match="breaks the symmetry"):
        flow.initial_state(weights={"w": [[0.5, 0.4, -1.0, -1.0]]})


def _linear(words):
    w = maps("w", 1, words)
    return lambda X: (w @ X).mean() + Fraction(1, 3)


def test_other_losses() -> None:
    flow = family_flow(pairs(), _linear, loss=squared, K=3)
    assert set(flow.system.observables) == {"loss", *(f"f_{i + 1}" for i in range(len(flow.samples.orbits)))}


def test_a_wrong_symmetry_is_refused() -> None:
    swap = TypeSymmetry(((0, 1), (1, -1)), ((1, 1), (0, 1)), -1)
    assert family_flow(pairs(), two_mixture, symmetries=[swap]).symmetries == (swap,)
    wrong = TypeSymmetry(((0, 1), (1, -1)), ((0, 1), (1, 1)), -1)
    with pytest.raises(SymmetryError, match="v -> -v, label -> -label does not map"):
        family_flow(pairs(), two_mixture, symmetries=[wrong])


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (lambda w, words: lambda X: w @ X[0], "order of the tokens"),
        (lambda w, words: lambda X: (w @ X * [1, 2, 3]).sum(), "order of the tokens"),
        (lambda w, words: lambda X: (w @ X @ [1, 2, 3]).sum(), "order of the tokens"),
        (lambda w, words: lambda X: (w @ X).sum() + (w @ words.all).sum(), "words.all"),
        (lambda w, words: lambda X: (w @ X).sum() + "K", "the parameter K"),
        (lambda w, words: 3, "a function of X"),
        (lambda w, words: lambda X: 3, "returns int"),
    ],
)
def test_what_a_family_does_not_have_is_said(program, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        family_flow(pairs(), lambda words: program(maps("w", 1, words), words))


def test_masks_are_refused_and_units_are_not() -> None:
    def masked(words):
        w, Z = maps("w", 1, words), maps("Z", words, words)
        return lambda X: (w @ X @ softmax(X.T @ Z @ X, mask=lambda key, query: key <= query)).sum()

    with pytest.raises(ModelError, match="order of the tokens"):
        family_flow(pairs(), masked)

    def layer(words):
        r = Units("r", 2)
        W, a = maps("W", r, words), maps("a", 1, r)
        return lambda X: (a @ relu(W @ X)).sum()

    flow = family_flow(pairs(), layer, symmetries=())
    assert flow.system.names == ("a_r1", "a_r2", "W_r1_c", "W_r1_v", "W_r2_c", "W_r2_v")
    with pytest.raises(SlavingError, match="slaving needs a path of two trained maps"):
        flow.slaved()


# ---- a class, or a word, for each group ------------------------------------------------------------------------------


def decoder(words):
    Y, Z = maps("Y", Units("y", words), words), maps("Z", words, words)
    return lambda X: Y @ X @ softmax(X.T @ Z @ words["q"])


def vocabulary(words):
    """Next words: one logit for each word, after two maps through a free space."""
    A, (U, V) = maps("A", words, words), maps("U V", Space("v"), words)
    return lambda X: words.all.T @ U.T @ V @ X @ softmax(X.T @ A @ words["q"])


def between_classes(words):
    """Classes are contracted, averaged, measured and compared by softmax before the output."""
    classes, hidden = Units("y", words), Units("r", 2)
    Y, V, U = maps("Y", classes, words), maps("V", hidden, classes), maps("U", classes, hidden)
    return lambda X: U @ (V @ softmax(Y @ X.mean(1))) - ((Y @ X.mean(1)).mean() + norm(Y @ X).sum()) * (Y @ X.mean(1))


def pairs_of_classes(words):
    classes = Units("y", words)
    Y, V = maps("Y", classes, words), maps("V", classes, classes)
    return lambda X: V @ softmax(Y @ X.mean(1))


def memory(words):
    Z, V = maps("Z", words, words), maps("V", words, words)
    return lambda X: words.all.T @ V @ words.all @ softmax(words.all.T @ Z @ X.mean(1))


def own_class(*others, shared=("q", "c")) -> Family:
    return Family(
        ["d", "e"], [SampleTemplate(["d", "c", *others], "d", HALF), SampleTemplate(["e"], "e", HALF)], shared
    )


@pytest.mark.parametrize("shape", [decoder, vocabulary, between_classes])
@pytest.mark.parametrize("loss", [cross_entropy, squared])
def test_classes_of_groups_are_those_of_every_member(shape, loss) -> None:
    for family in (own_class(), own_class(OtherGroups(["d", "e"]))):
        flow = family_flow(family, shape, loss=loss, symmetries=())
        assert "K" in flow.system.parameters
        for K in (2, 3):
            assert str(flow.bind(K=K).law().as_stated) == "holds", (shape, loss, K)


def test_k_classes_are_proved_and_run_at_a_thousand() -> None:
    flow = family_flow(own_class(), decoder, loss=cross_entropy)
    verdict = flow.bind(K=5).law()
    assert (verdict.as_stated, str(verdict.evidence)) == ("holds", "proof")
    start = np.zeros(flow.system.dimension)
    assert flow.system.compile({"K": 1000}).observables(0.0, start)["loss"] == pytest.approx(np.log(1000))
    whole = family_flow(own_class(), decoder, K=4, loss=cross_entropy)
    assert whole.system.substitute({}).nodes == flow.system.substitute({"K": 4}).nodes
    step = family_descent(own_class(), decoder, loss=cross_entropy)
    assert step.bind(K=3).law().as_stated == "holds"


def test_a_count_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one class too many the law of every member fails."""
    monkeypatch.setattr(family_origin, "below", lambda r: below(r - 1))
    flow = family_flow(own_class(), decoder, loss=cross_entropy)
    assert flow.bind(K=3).law().as_stated == "fails"


def test_a_shared_word_taken_by_its_name_is_read_beside_maps_of_words() -> None:
    """Labels are signs here, so that groups are not listed; words.all itself is refused."""
    family = Family(["c"], [SampleTemplate(["c", "q"], 1, HALF), SampleTemplate(["-c"], -1, HALF)], shared=["q"])

    def asking(words):
        w, Z = maps("w", 1, words), maps("Z", words, words)
        return lambda X: (w @ X @ softmax(X.T @ Z @ words["q"])).sum()

    flow = family_flow(family, asking)
    assert "K" in flow.system.parameters
    assert [flow.bind(K=K).law().as_stated for K in (2, 3)] == ["holds"] * 2
    with pytest.raises(ModelError, match=r"reads words\.all, but a family has K groups of words"):
        family_flow(family, lambda words: lambda X: asking(words)(X) + (maps("u", 1, words) @ words.all).sum())


def test_class_labels_that_are_misread_are_refused() -> None:
    plain = Family(["d"], [SampleTemplate(["d"], 1)], shared=["q"])
    cases = [
        (lambda: family_flow(own_class(), decoder, loss="logistic"), "the loss logistic takes the labels"),
        (lambda: family_flow(own_class(), decoder, K="infinity", loss=cross_entropy), "no limit for K = infinity"),
        (lambda: family_flow(plain, decoder), "these words have no groups"),
        (
            lambda: family_flow(own_class(), lambda words: lambda X: (maps("w", 1, words) @ X).sum(), loss=squared),
            "row",
        ),
        (
            lambda: family_flow(own_class(), lambda w: lambda X: decoder(w)(X).T[0], loss=squared),
            "one group by its place",
        ),
        (lambda: family_flow(own_class(), lambda w: lambda X: maps("w", 1, w) @ w["d1"], loss=squared), "shared word"),
        (lambda: family_flow(own_class(), pairs_of_classes, loss=squared), "sums over the 2 y of a family"),
        (lambda: family_flow(own_class(), memory, loss=squared), "sums over the .* word of a family"),
        (lambda: Family(["d"], [SampleTemplate(["d"], "x")]), "the label 'x' is no word type"),
        (lambda: Family(["d"], [SampleTemplate(["d"], "d", HALF), SampleTemplate(["d"], 1, HALF)]), "give one kind"),
    ]
    for make, text in cases:
        with pytest.raises(OdesysError, match=text):
            make()


# ---- parts of an origin ----------------------------------------------------------------------------------------------


def test_heads_are_exchanged_with_all_their_maps_or_not_at_all() -> None:
    """Signed permutations of heads of one kind, against a list written down."""
    origin = family_flow(pairs(), two_mixture, symmetries=[]).origin
    assert origin.labels == ("p", "m") and set(origin.maps) == {f"{n}.{h}" for n in ("w", "W_K", "W_Q") for h in "pm"}
    signs = [(a, b) for a in (1, -1) for b in (1, -1)]
    wanted = {((i, a), (1 - i, b)) for i in (0, 1) for a, b in signs}
    assert set(origin._head_maps()) == wanted and len(list(origin._head_maps())) == 8

    def uneven(words):
        w, (u, v) = maps("w", 1, words, of="p"), maps("w v", 1, words, of="m")
        return lambda X: (w @ X).sum() + (u @ X).sum() * (v @ X).sum()

    other = family_flow(pairs(), uneven, symmetries=[]).origin
    assert set(other._head_maps()) == {((0, a), (1, b)) for a, b in signs}


def test_paths_go_to_the_heads_of_a_symmetry_with_its_signs() -> None:
    flow = family_flow(pairs(), two_mixture, symmetries=[])
    swap = TypeSymmetry(((0, 1), (1, -1)), ((1, -1), (0, 1)), -1)
    for path in flow.closure.paths:
        head = path.letters[0].of
        image, left, right = flow.origin.moved(swap, path)
        assert {x.of for x in image.letters} == {"m" if head == "p" else "p"}
        assert (image.left, image.right) == (path.left, path.right)
        assert [(x.name, x.transposed) for x in image.letters] == [(x.name, x.transposed) for x in path.letters]
        assert (left, right) == ((-1, -1) if head == "p" else (1, 1))
    assert flow.origin.describe(swap) == "v -> -v, head p -> m, head m -> p, value p -> -value, label -> -label"


def test_a_symmetry_needs_samples_heads_and_what_is_asked_of_it() -> None:
    origin = family_flow(pairs(), two_mixture, symmetries=[]).origin
    flip = TypeSymmetry(((0, 1), (1, -1)), ((1, 1), (0, 1)), -1)
    assert origin.is_symmetry(flip, lambda element: True) is True
    assert origin.is_symmetry(flip, lambda element: False) is False
    wrong = TypeSymmetry(((0, 1), (1, -1)), ((1, 1), (0, 1)), 1)
    assert origin.is_symmetry(wrong, lambda element: True) is False
    heads = TypeSymmetry(((0, 1), (1, -1)), ((1, 1), (1, 1)), -1)
    assert origin.is_symmetry(heads, lambda element: True) is False
    found = origin.symmetries(lambda element: True)
    still = (((0, 1), (1, 1)), ((0, 1), (1, 1)))
    assert flip in found and all((e.types, e.heads) != still for e in found)
    assert origin.symmetries(lambda element: element == flip) == (flip,)


def test_rules_are_kept_by_heads_that_move_alike() -> None:
    swap = TypeSymmetry(((0, 1), (1, 1)), ((1, 1), (0, 1)), 1)
    stay = TypeSymmetry(((0, 1), (1, 1)), ((0, 1), (1, 1)), 1)
    for more, keeps in (
        ({}, True),
        ({"rates": {"w": 2}}, True),
        ({"rates": {"w.p": 2}}, False),
        ({"train": "w.p W_K W_Q"}, False),
        ({"decay": 2}, True),
        ({"train": "w", "carry": "w W_K W_Q"}, True),
    ):
        flow = family_flow(pairs(), two_mixture, symmetries=[], **more)
        assert flow.origin.keeps_rule(swap, flow.rule) is keeps, more
        assert flow.origin.keeps_rule(stay, flow.rule) is True


def test_parameters_and_words_of_an_origin() -> None:
    flow = family_flow(pairs(), two_mixture, symmetries=[])
    assert flow.origin.parameters == {"b"}
    assert family_flow(pairs(), _linear, symmetries=[]).origin.parameters == set()
    words = family_origin.family_words(pairs(), 3)
    assert len(words) == 6 and flow.origin.naming_of(3).pins["E"].labels == pairs().dictionary(3).words
    classes = family_flow(own_class(), decoder, loss=cross_entropy, symmetries=[]).origin
    assert classes.naming_of(4).pins["y"].size == 4 and classes.naming.pins["y"].size == classes.samples.window
    with pytest.raises(ModelError, match="the shape of a family is a function of its words that gives a program"):
        family_flow(pairs(), lambda words: 3)


def test_shared_words_may_be_taken_by_their_places_and_others_not() -> None:
    """A shared word has a place of its own; words of groups are all alike, and so are classes."""
    family = Family(["d"], [SampleTemplate(["d", "q"], "d")], shared=["q"])

    def at(where):
        def shape(words):
            Y, Z = maps("Y", Units("y", words), words), maps("Z", words, words)
            chosen = words.all[where]
            return lambda X: Y @ X @ softmax(X.T @ Z @ (chosen.sum(1) if isinstance(where, slice) else chosen))

        return shape

    for where in (0, slice(0, None), slice(-2, None)):
        with pytest.raises(ModelError, match="takes one group by its place, but the groups of a family are all alike"):
            family_flow(family, at(where), loss=cross_entropy)
    for where in (-1, slice(-1, None)):
        assert family_flow(family, at(where), loss=cross_entropy).bind(K=2).law().as_stated == "holds"
