"""Families without self-scores: words that groups share are slaved too."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import AttentionModel, FixedVector, Head, Neurons, Value, gradient_flow, graph
from odesys.errors import SlavingError
from odesys.model.family import Family, OtherGroups, SampleTemplate
from odesys.reduce.family_gradient import FamilyFlow, family_flow
from odesys.reduce.family_slaving import STANDARD, TRIVIAL, sector_matrix
from odesys.reduce.slaving import check_start

HALF = Fraction(1, 2)
SEED = 20


def states(dimension: int, count: int = 6) -> np.ndarray:
    """Random states, large enough that gates are on and off."""
    return np.random.default_rng(SEED).normal(size=(count, dimension)) * np.linspace(0.2, 2.0, count)[:, None]


SHAPES = {
    "two heads": lambda words: AttentionModel(words, [Head(1, "relu", "b"), Head(-1, "relu", "b")]),
    "linear": lambda words: AttentionModel(words, [Head()], pooling="mean", scale=2),
    "output": lambda words: AttentionModel(words, [Head()], Value(("W", "W_V"), FixedVector("a", 3))),
    "neurons": lambda words: AttentionModel(words, [Head(1, "linear", HALF)], Value(("W_V",), Neurons((1, -2)))),
}


def test_shared_words_are_slaved_too() -> None:
    templates = [SampleTemplate(["c", OtherGroups(["c"]), "the"], 1, HALF), SampleTemplate(["c", "-the"], -1, HALF)]
    family = Family(["c"], templates, shared=["the"])
    flow: FamilyFlow = family_flow(family, SHAPES["linear"])
    slaved = flow.slaved()
    listed = gradient_flow(SHAPES["linear"](family.dictionary(3)), family.distribution(3))
    z = states(slaved.system.dimension, 1)[0]
    full = flow.bind(K=3).then(slaved.bind(K=3, omega=0.4)).lift(z)
    assert check_start(listed, full) == pytest.approx(0.4, rel=1e-9)


TWO = [
    SampleTemplate(["c", "v", OtherGroups(["v"])], 1, HALF),
    SampleTemplate(["c", "-v", OtherGroups(["c"])], -1, HALF),
]
ONE = [SampleTemplate(["c", OtherGroups(["c"]), "the"], 1, HALF), SampleTemplate(["c", "-the"], -1, HALF)]
FAMILIES = {
    "two types": (Family(["c", "v"], TWO), {}),
    "two types, scaled": (Family(["c", "v"], TWO), {"scaled": True}),
    "a shared word": (Family(["c"], ONE, shared=["the"]), {}),
    "one type": (Family(["c"], [SampleTemplate(["c", OtherGroups(["c"])], 1)]), {}),
    "one type, scaled": (Family(["c"], [SampleTemplate(["c", OtherGroups(["c"])], 1)]), {"scaled": True}),
}


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("name", FAMILIES)
def test_slaved_families_satisfy_the_identity_and_follow_the_flow(name: str, K: int) -> None:
    """The lift to all words has (J S)^2 = omega^4 I, and the smaller field is that of the larger at it."""
    family, more = FAMILIES[name]
    flow = family_flow(family, SHAPES["linear"], symmetries=[], **more)
    slaved, omega = flow.slaved(), 0.6
    bound = slaved.bind(K=K, omega=omega)
    for z in states(slaved.system.dimension, 2):
        middle = bound.lift(z)
        full = flow.bind(K=K).lift(middle)
        listed = gradient_flow(SHAPES["linear"](family.dictionary(K)), family.distribution(K))
        assert check_start(listed, full) == pytest.approx(omega, rel=1e-9)
        rate = flow.compile(K=K)(0.0, middle)
        assert np.allclose(bound.project(rate), slaved.system.compile(K=K, omega=omega)(0.0, z), rtol=1e-9, atol=1e-12)
    sizes = len(family.types), len(family.words)
    assert slaved.sizes == sizes and set(slaved.needs) == {"omega", "K"}
    assert set(slaved.eliminated) == {n for n in flow.system.names if n.startswith(("KK", "QQ"))}


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("name", FAMILIES)
def test_sector_matrices_have_the_eigenvalues_of_the_whole(name: str, K: int) -> None:
    """A symmetric matrix of all words: the trivial sector once and the standard one K - 1 times."""
    family, more = FAMILIES[name]
    flow = family_flow(family, SHAPES["linear"], symmetries=[], **more)
    path = next(p for p in flow.closure.paths if flow.naming.leaf(p) == "KK")
    bound, rng = flow.bind(K=K), np.random.default_rng(K)
    z = rng.normal(size=flow.system.dimension)
    full = dict(zip(bound.source.names, bound.lift(z), strict=True))
    words = family.dictionary(K).words
    whole = np.array([[full.get(f"KK_{a}_{b}", full.get(f"KK_{b}_{a}")) for b in words] for a in words])
    values = flow.segment(path).fill(np.array([graph.sym(n) for n in flow.system.names], dtype=object))
    column = [graph.as_node(v) for v in values[:, 0]]
    point = dict(zip(flow.system.names, z, strict=True)) | {"K": float(K)}
    found = []
    for sector, size, times in ((TRIVIAL, len(family.types), 1), (STANDARD, len(family.words), K - 1)):
        nodes = sector_matrix(flow, column, flow.space(path), sector)[:size, :size]
        at = graph.evaluate(list(nodes.ravel()), point, graph.FLOAT_FUNCTIONS, float)
        found += [*np.linalg.eigvalsh(np.array(at, dtype=float).reshape(size, size))] * times
    assert sorted(found) == pytest.approx(np.linalg.eigvalsh(whole))


def test_families_whose_sectors_are_too_large_are_refused() -> None:
    three = Family(["c", "u", "v"], [SampleTemplate(["c", "u", "v"], 1)])
    with pytest.raises(SlavingError, match="a sector of this family has size 3; closed forms stop at 2, use the flow"):
        family_flow(three, SHAPES["linear"]).slaved()
    two = Family(["c", "u"], [SampleTemplate(["c", "u", "the"], 1)], shared=["the"])
    with pytest.raises(SlavingError, match="a sector of this family has size 3"):
        family_flow(two, SHAPES["linear"]).slaved()
    shared = Family(["c"], ONE, shared=["the"])
    with pytest.raises(SlavingError, match="shared words scale like the root of K"):
        family_flow(shared, SHAPES["linear"], scaled=True).slaved()
