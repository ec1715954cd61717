"""Automorphism groups against known orders, brute force, and the two data sets whose symmetries we need."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations, permutations, product
from math import factorial

import pytest
from sympy.combinatorics import Permutation
from sympy.combinatorics import PermutationGroup as SympyGroup

from odesys.reduce.automorphism import ColouredGraph, PermutationGroup, automorphisms, is_automorphism

Pairs = Sequence[tuple[int, int]]
SEED = 20240607


def undirected(n: int, pairs: Pairs, colours: Sequence[Hashable] | None = None) -> ColouredGraph:
    """Give each pair as two arrows, on vertices of one colour unless told otherwise."""
    edges = tuple((u, v, "edge") for a, b in pairs for u, v in ((a, b), (b, a)))
    return ColouredGraph((0,) * n if colours is None else tuple(colours), edges)


def arrows(n: int, pairs: Pairs, labels: Sequence[Hashable] | None = None) -> ColouredGraph:
    labels = [0] * len(pairs) if labels is None else labels
    return ColouredGraph((0,) * n, tuple((u, v, label) for (u, v), label in zip(pairs, labels, strict=True)))


def union(*graphs: ColouredGraph) -> ColouredGraph:
    """Put graphs side by side."""
    colours: list[Hashable] = []
    edges: list[tuple[int, int, Hashable]] = []
    for graph in graphs:
        edges += [(u + len(colours), v + len(colours), label) for u, v, label in graph.edges]
        colours += graph.colours
    return ColouredGraph(tuple(colours), tuple(edges))


def shuffled(graph: ColouredGraph, rng: random.Random) -> ColouredGraph:
    """Rename the vertices at random."""
    n = len(graph.colours)
    name = rng.sample(range(n), n)
    colours = [graph.colours[name.index(v)] for v in range(n)]
    return ColouredGraph(tuple(colours), tuple((name[u], name[v], label) for u, v, label in graph.edges))


def checked(graph: ColouredGraph) -> PermutationGroup:
    """Compute the group and check what holds for every graph."""
    group = automorphisms(graph)
    assert group.degree == len(graph.colours)
    assert all(is_automorphism(graph, g) for g in group.generators)
    assert len(group.generators) <= group.degree - len(group.orbits())  # each joins two orbits
    assert len(set(group.base)) == len(group.base) <= group.order.bit_length() - 1  # basic orbits of two or more
    return group


# --- known groups --------------------------------------------------------------------------------------------------


def path(n: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(n - 1)]


def cycle(n: int) -> list[tuple[int, int]]:
    return [(i, (i + 1) % n) for i in range(n)]


def joined(points: Iterable[Hashable], related) -> ColouredGraph:
    """Join the related ones among the points."""
    points = list(points)
    return undirected(
        len(points), [(i, j) for i, j in combinations(range(len(points)), 2) if related(points[i], points[j])]
    )


COMPLETE = undirected(7, list(combinations(range(7), 2)))
CUBE = joined(product((0, 1), repeat=3), lambda a, b: sum(x != y for x, y in zip(a, b, strict=True)) == 1)
PETERSEN = joined(combinations(range(5), 2), lambda a, b: not set(a) & set(b))
# Two strongly regular graphs with the same parameters (16, 6, 2, 2): refinement sees no difference within or between.
SHRIKHANDE = joined(
    product(range(4), repeat=2),
    lambda a, b: ((a[0] - b[0]) % 4, (a[1] - b[1]) % 4) in {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)},
)
ROOK = joined(product(range(4), repeat=2), lambda a, b: (a[0] == b[0]) != (a[1] == b[1]))
# The smallest tree without symmetry: legs of length 1, 2 and 3 at vertex 0.
RIGID_TREE = undirected(7, [(0, 1), (0, 2), (2, 3), (0, 4), (4, 5), (5, 6)])
# The Frucht graph is cubic, hence one single cell for refinement, and still without symmetry.
FRUCHT_SPOKES = [(0, 7), (1, 7), (2, 8), (3, 9), (4, 9), (5, 10), (6, 10), (7, 11), (8, 11), (8, 9), (10, 11)]
FRUCHT = undirected(12, cycle(7) + FRUCHT_SPOKES)
# Points and lines of the plane over Z_3, exchanged by duality: the order is 2 |PGL(3, 3)|.
PLANE_POINTS = [p for p in product(range(3), repeat=3) if any(p) and next(x for x in p if x) == 1]
PLANE = joined(
    product("pl", PLANE_POINTS),
    lambda a, b: a[0] != b[0] and sum(x * y for x, y in zip(a[1], b[1], strict=True)) % 3 == 0,
)

KNOWN = {
    "no vertices": (undirected(0, []), 1),
    "one vertex": (undirected(1, []), 1),
    "no edges": (undirected(6, []), factorial(6)),
    "path": (undirected(6, path(6)), 2),
    "cycle": (undirected(9, cycle(9)), 18),
    "complete": (COMPLETE, factorial(7)),
    "cube": (CUBE, 48),
    "Petersen": (PETERSEN, 120),
    "Shrikhande": (SHRIKHANDE, 192),
    "rook": (ROOK, 1152),
    "projective plane": (PLANE, 2 * 5616),
    "rigid tree": (RIGID_TREE, 1),
    "Frucht": (FRUCHT, 1),
    "two Petersen": (union(PETERSEN, PETERSEN), 2 * 120**2),
    "three Frucht": (union(FRUCHT, FRUCHT, FRUCHT), 6),
    "Shrikhande and rook": (union(SHRIKHANDE, ROOK), 192 * 1152),
    "two of each": (union(SHRIKHANDE, ROOK, ROOK, SHRIKHANDE), 4 * (192 * 1152) ** 2),
    "directed cycle": (arrows(9, cycle(9)), 9),
    "directed path": (arrows(3, [(0, 1), (1, 2)]), 1),
    "two arrows in": (arrows(3, [(0, 1), (2, 1)]), 2),
    "two arrows out": (arrows(3, [(1, 0), (1, 2)]), 2),
    "one edge of a 6-cycle labelled": (arrows(6, cycle(6) + [(b, a) for a, b in cycle(6)], ([1] + [0] * 5) * 2), 2),
    "6-cycle with alternating labels": (arrows(6, cycle(6) + [(b, a) for a, b in cycle(6)], [0, 1] * 6), 6),
    "directed 6-cycle with alternating labels": (arrows(6, cycle(6), [0, 1] * 3), 3),
    "label on one way only": (arrows(2, [(0, 1), (1, 0)], ["to", "fro"]), 1),
    "doubled edge": (arrows(3, [(0, 1), (0, 1), (2, 1)]), 1),
    "loop": (arrows(3, [(0, 0)]), 2),
    "loops with labels": (arrows(3, [(0, 0), (1, 1), (2, 2)], ["a", "b", "a"]), 2),
    "coloured complete": (undirected(5, list(combinations(range(5), 2)), "aabbb"), 2 * 6),
    "coloured cycle": (undirected(6, cycle(6), "abaaaa"), 2),
    "coloured cube": (undirected(8, [e[:2] for e in CUBE.edges[::2]], [1] + [0] * 7), 6),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_order(name):
    graph, order = KNOWN[name]
    group = checked(graph)
    assert group.order == order
    if order > 1:  # an independent Schreier-Sims: the generators give that order, no less and no more
        assert SympyGroup([Permutation(list(g)) for g in group.generators]).order() == order
    else:
        assert group.generators == () == group.base


@pytest.mark.parametrize(
    "name", ["Shrikhande and rook", "two of each", "three Frucht", "projective plane", "two Petersen"]
)
def test_order_does_not_depend_on_the_names_of_vertices(name):
    graph, order = KNOWN[name]
    rng = random.Random(SEED)
    assert [checked(shuffled(graph, rng)).order for _ in range(5)] == [order] * 5, f"seed {SEED}"


def test_a_long_base():
    n = 150
    group = checked(undirected(2 * n, [(2 * i, 2 * i + 1) for i in range(n)]))
    assert group.order == 2**n * factorial(n)
    assert group.orbits() == (tuple(range(2 * n)),)


# --- brute force ---------------------------------------------------------------------------------------------------


def random_graph(rng: random.Random) -> ColouredGraph:
    """Draw few colours and labels, and often close the edges under a random permutation, so that symmetry is common."""
    n = rng.randint(1, 6)
    colours = tuple(rng.choice((0, 0, 0, "other")) for _ in range(n))
    density = rng.choice((0.1, 0.3, 0.6))
    edges = [(u, v, rng.choice("aab")) for u, v in product(range(n), repeat=2) if rng.random() < density]
    if rng.random() < 0.6:
        image = rng.sample(range(n), n)
        for _ in range(rng.randint(1, 5)):
            edges += [(image[u], image[v], label) for u, v, label in edges]
            edges = sorted(set(edges))
    if rng.random() < 0.3:
        edges += rng.choices(edges, k=2) if edges else []
    return ColouredGraph(colours, tuple(edges))


def brute_force(graph: ColouredGraph) -> set[tuple[int, ...]]:
    """Try all permutations on the adjacency matrix of sorted label lists."""
    n = len(graph.colours)
    labels = {(u, v): sorted(str(e[2]) for e in graph.edges if e[:2] == (u, v)) for u, v in product(range(n), repeat=2)}
    return {
        g
        for g in permutations(range(n))
        if all(graph.colours[v] == graph.colours[g[v]] for v in range(n))
        and all(labels[u, v] == labels[g[u], g[v]] for u, v in labels)
    }


def test_small_graphs_against_all_permutations():
    rng = random.Random(SEED)
    orders: Counter[int] = Counter()
    for number in range(400):
        graph = random_graph(rng)
        group, expected = checked(graph), brute_force(graph)
        listed = list(group.elements())
        assert set(listed) == expected and len(listed) == group.order, f"seed {SEED}, graph {number}: {graph}"
        for g in permutations(range(group.degree)):
            assert is_automorphism(graph, g) == (g in expected), f"seed {SEED}, graph {number}: {graph}, {g}"
        orders[group.order] += 1
    # The sample has to be worth its name: rigid and symmetric graphs, and several kinds of symmetry.
    assert orders[1] > 50 and sum(orders.values()) - orders[1] > 50 and len(orders) >= 8


# --- data sets -----------------------------------------------------------------------------------------------------


class DataGraph:
    """Collect signed words, samples with tokens and a label, as the symmetry search of a data set does."""

    def __init__(self) -> None:
        self.colours: list[Hashable] = []
        self.edges: list[tuple[int, int, Hashable]] = []

    def vertex(self, colour: Hashable) -> int:
        self.colours.append(colour)
        return len(self.colours) - 1

    def opposite(self, colour: Hashable) -> dict[int, int]:
        """Add a + and a - vertex joined by an edge."""
        pair = {+1: self.vertex(colour), -1: self.vertex(colour)}
        self.edges += [(pair[+1], pair[-1], "opposite"), (pair[-1], pair[+1], "opposite")]
        return pair

    def sample(self, tokens: Iterable[int], label: int) -> None:
        sample = self.vertex("sample")
        self.edges += [(sample, token, "token") for token in tokens] + [(sample, label, "label")]

    def graph(self) -> ColouredGraph:
        return ColouredGraph(tuple(self.colours), tuple(self.edges))


def mixture(k: int, leave_out: int = 0) -> ColouredGraph:
    """Samples (c_i, y v_i, s v_j) with label y, for j other than i and signs y, s, and two heads of opposite sign."""
    data = DataGraph()
    c, v = ([data.opposite("word") for _ in range(k)] for _ in range(2))
    label, head = data.opposite("label"), data.opposite("head")
    data.edges += [(head[s], label[s], "favours") for s in (+1, -1)]
    samples = [s for s in product(range(k), range(k), (+1, -1), (+1, -1)) if s[0] != s[1]]
    for i, j, y, s in samples[leave_out:]:
        data.sample([c[i][+1], v[i][y], v[j][s]], label[y])
    return data.graph()


def cooccurrence(mislabelled: int = 0) -> ColouredGraph:
    """Samples of four classes, told apart by which of m1, m2, m3 they contain; all their other words are private."""
    data = DataGraph()
    m1, m2, m3 = (data.opposite("word")[+1] for _ in range(3))
    plus, minus = data.vertex("label +"), data.vertex("label -")
    for shared, private, count in (((m1, m2, m3), 2, 30), ((m1, m3), 3, 10), ((m2, m3), 3, 10), ((m3,), 4, 10)):
        for number in range(count):
            tokens = [*shared, *(data.opposite("word")[+1] for _ in range(private))]
            data.sample(tokens, plus if private == 2 and number >= mislabelled else minus)
    return data.graph()


def test_mixture_has_the_permutations_of_groups_and_the_sign_flip():
    graph = mixture(8)
    assert Counter(graph.colours) == {"word": 32, "sample": 224, "label": 2, "head": 2}
    assert checked(graph).order == 2 * factorial(8)


def test_mixture_without_one_sample_keeps_what_fixes_that_sample():
    # Samples with s = y and with s = -y are one orbit each, of 112; the stabiliser permutes the six other groups.
    assert checked(mixture(8, leave_out=1)).order == 2 * factorial(8) // 112 == factorial(6)


def test_cooccurrence_exchanges_private_words_samples_of_a_class_and_two_words():
    graph = cooccurrence()
    assert Counter(graph.colours) == {"word": 326, "sample": 60, "label +": 1, "label -": 1}
    one = 2**30 * factorial(30)
    two_and_three = (6**10 * factorial(10)) ** 2 * 2
    four = 24**10 * factorial(10)
    group = checked(graph)
    assert group.order == one * two_and_three * four
    m1, m2, m3 = 0, 2, 4
    orbit_of = {v: orbit for orbit in group.orbits() for v in orbit}
    assert orbit_of[m1] == (m1, m2) and orbit_of[m3] == (m3,)


def test_cooccurrence_with_a_wrong_label_singles_that_sample_out():
    assert checked(cooccurrence(mislabelled=1)).order * 30 == checked(cooccurrence()).order


# --- the interface -------------------------------------------------------------------------------------------------


def test_is_automorphism_rejects():
    graph = undirected(4, path(4), "abba")
    assert is_automorphism(graph, (3, 2, 1, 0)) and is_automorphism(graph, [0, 1, 2, 3])
    assert not is_automorphism(graph, (0, 2, 1, 3))  # tears an edge
    assert not is_automorphism(undirected(4, path(4), "abbb"), (3, 2, 1, 0))  # changes a colour
    assert not is_automorphism(arrows(4, path(4)), (3, 2, 1, 0))  # turns arrows round
    assert not is_automorphism(graph, (0, 1, 2))
    assert not is_automorphism(undirected(3, []), (0, 0, 2))


def test_orbits_are_sorted_and_include_fixed_points():
    assert automorphisms(undirected(5, path(5))).orbits() == ((0, 4), (1, 3), (2,))


def test_elements_start_with_the_identity_and_form_a_group():
    elements = list(automorphisms(CUBE).elements())
    assert elements[0] == tuple(range(8))
    assert len(elements) == len(set(elements)) == 48
    assert {tuple(g[x] for x in h) for g in elements for h in elements} == set(elements)


def test_elements_refuses_a_large_group_at_once():
    group = automorphisms(undirected(8, []))
    with pytest.raises(ValueError, match=r"limited to 10000 elements, but it has at least 2\^15"):
        group.elements()
    assert len(set(group.elements(limit=factorial(8)))) == factorial(8)


@pytest.mark.parametrize("edge", [(0, 2, "x"), (-1, 0, "x")])
def test_an_edge_must_stay_in_the_graph(edge):
    with pytest.raises(ValueError, match="leaves the graph, which has 2 vertices"):
        ColouredGraph((0, 0), (edge,))
