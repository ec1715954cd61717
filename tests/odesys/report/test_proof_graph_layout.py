"""The proof graph on a page."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from odesys.report.proof_graph_layout import (
    CHARACTER_WIDTH,
    NODE_GAP,
    NODE_HEIGHT,
    PAGE_MARGIN,
    PAGE_WIDTH,
    ROW_GAP,
    Box,
    _ordered_rows,
    _place_line,
    _sorted_by_neighbours,
    _split_to_page_width,
    layered_layout,
)


def test_graph_layout_has_no_overlaps_and_points_down() -> None:
    graph = nx.gnp_random_graph(60, 0.08, seed=4, directed=True)
    graph = nx.DiGraph([(f"claim{a}", f"claim{b}") for a, b in graph.edges if a < b])
    graph.add_nodes_from(f"alone{k}" for k in range(30))
    layout = layered_layout(graph)
    assert set(layout.boxes) == {node for node in graph if graph.degree(node)}
    assert set(layout.alone) == set(graph) - set(layout.boxes)
    assert all(layout.boxes[a].y < layout.boxes[b].y for a, b in graph.edges)
    boxes = [(box.left, box.left + box.width, box.y) for box in layout.boxes.values()]
    assert all(a >= 0 and b <= PAGE_WIDTH for a, b, _ in boxes)
    for i, (a, b, y) in enumerate(boxes):
        assert all(d <= a or b <= c or abs(y - z) >= NODE_HEIGHT for c, d, z in boxes[:i])


def test_edges_that_another_way_replaces_are_not_drawn() -> None:
    layout = layered_layout(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")]))
    assert layout.edges == (("a", "b"), ("b", "c"))


def test_curves_lead_from_below_a_claim_to_above_the_one_that_uses_it() -> None:
    layout = layered_layout(nx.DiGraph([("a", "b")]))
    ((x, y, to_x, to_y),) = layout.curves()
    assert (x, to_x) == (PAGE_WIDTH / 2, PAGE_WIDTH / 2)
    assert y == PAGE_MARGIN + NODE_HEIGHT and to_y == layout.boxes["b"].y - NODE_HEIGHT / 2 and y < to_y


def test_the_order_in_which_edges_came_changes_nothing() -> None:
    graph = nx.gnp_random_graph(60, 0.1, seed=5, directed=True)
    edges = [(f"claim{a}", f"claim{b}") for a, b in graph.edges if a < b]
    assert layered_layout(nx.DiGraph(edges)).boxes == layered_layout(nx.DiGraph(edges[::-1])).boxes


def test_neighbours_stand_near_each_other() -> None:
    layout = layered_layout(nx.DiGraph([("a", "z"), ("b", "y"), ("c", "x")]))  # by name the edges would cross
    assert all(layout.boxes[a].x == layout.boxes[b].x for a, b in layout.edges)


def test_a_graph_without_claims_has_a_size() -> None:
    layout = layered_layout(nx.DiGraph())
    assert layout.boxes == {} and (layout.width, layout.height) == (PAGE_WIDTH, PAGE_MARGIN)


def test_a_claim_too_wide_for_the_rest_of_its_line_begins_another() -> None:
    wide = PAGE_WIDTH - 2 * PAGE_MARGIN
    names = [letter * int(0.55 * wide / CHARACTER_WIDTH) for letter in "abc"]
    boxes = layered_layout(nx.DiGraph([(name, "all") for name in names])).boxes
    assert all(box.width < wide for box in boxes.values()), "each has room for itself"
    assert len({boxes[name].y for name in names}) == 3
    assert {boxes[name].x for name in names} == {PAGE_WIDTH / 2}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_edges_of_trees_cross(seed: int, turned: bool) -> None:
    """Roots in one row, all leaves in another, under shuffled names."""
    rng = np.random.default_rng(seed)
    names = [f"{k:03}" for k in rng.permutation(150)]
    rows, edges = [[names.pop() for _ in range(3)]], []
    for _ in range(3):
        below = [(parent, names.pop()) for parent in rows[-1] for _ in range(rng.integers(1, 3))]
        edges += [(b, a) if turned else (a, b) for a, b in below]
        rows.append([child for _, child in below])
    curves = layered_layout(nx.DiGraph([edges[k] for k in rng.permutation(len(edges))])).curves()
    assert len(curves) == len(edges)
    for x, y, to_x, _ in curves:
        assert all((x - a) * (to_x - b) >= 0 for a, height, b, _ in curves if height == y), (seed, turned)


def test_what_a_line_has_no_room_for_is_spread_evenly_over_the_page() -> None:
    boxes = layered_layout(nx.DiGraph([(name, "all") for name in ("one", "three", "sixteen")])).boxes
    row = sorted((boxes[name] for name in ("one", "three", "sixteen")), key=lambda box: box.x)
    gaps = [b.left - (a.left + a.width) for a, b in pairwise(row)]
    assert gaps[0] == pytest.approx(gaps[1]) and gaps[0] >= NODE_GAP
    assert row[0].left + row[-1].left + row[-1].width == pytest.approx(PAGE_WIDTH)
    assert boxes["sixteen"].width - boxes["one"].width == pytest.approx(4 * CHARACTER_WIDTH)


def test_lines_are_filled_and_keep_inside_the_margins() -> None:
    """In each but the last there is no room for the next claim; claims of a line have a gap between them."""
    rng, room = np.random.default_rng(3), PAGE_WIDTH - 2 * PAGE_MARGIN
    for count in range(1, 60):
        names = [f"{k:02}" + "x" * rng.integers(0, 12) for k in range(count)]
        boxes = layered_layout(nx.DiGraph([(name, "all") for name in names])).boxes
        lines: dict[float, list[Box]] = {}
        for name in names:
            lines.setdefault(boxes[name].y, []).append(boxes[name])
        rows = list(lines.values())
        for k, line in enumerate(rows):
            gaps = [b.left - a.left - a.width for a, b in pairwise(line)]
            assert all(0 < gap <= 6 * NODE_GAP + 1e-9 for gap in gaps)
            assert line[0].left >= PAGE_MARGIN and line[-1].left + line[-1].width <= PAGE_WIDTH - PAGE_MARGIN
            if gaps and gaps[0] < 6 * NODE_GAP - 1e-9:  # as much to the left and to the right of them
                assert line[0].left - PAGE_MARGIN == pytest.approx(gaps[0])
            used = sum(box.width + NODE_GAP for box in line)
            assert k == len(rows) - 1 or used + rows[k + 1][0].width > room >= used - NODE_GAP


def test_a_claim_wider_than_a_page_makes_the_page_wider() -> None:
    layout = layered_layout(nx.DiGraph([("a" * 200, "b"), ("b", "c")]))
    box = layout.boxes["a" * 200]
    assert box.width > PAGE_WIDTH and layout.width == box.left + box.width + PAGE_MARGIN
    heights = [layout.boxes[name].y for name in ("a" * 200, "b", "c")] + [layout.height + NODE_HEIGHT / 2]
    assert {b - a for a, b in pairwise(heights)} == {NODE_HEIGHT + ROW_GAP}


# ---- exactly ---------------------------------------------------------------------------------------------------------


def test_a_chain_stands_in_the_middle_row_below_row() -> None:
    made = layered_layout(nx.DiGraph([("a", "bcd"), ("bcd", "ef")]))
    assert {name: (box.x, box.y) for name, box in made.boxes.items()} == {
        "a": (590.0, 23.0),
        "bcd": (590.0, 66.0),
        "ef": (590.0, 109.0),
    }
    assert [made.boxes[name].width for name in ("a", "bcd", "ef")] == pytest.approx([41.4, 56.2, 48.8])
    assert (made.width, made.height) == (1180.0, 12 + 3 * 43) and made.edges == (("a", "bcd"), ("bcd", "ef"))
    assert made.curves() == [(590.0, 34.0, 590.0, 55.0), (590.0, 77.0, 590.0, 98.0)]
    empty = layered_layout(nx.DiGraph())
    assert (dict(empty.boxes), empty.edges, empty.width, empty.height, empty.alone) == ({}, (), 1180.0, 12.0, ())


def test_a_line_is_spread_over_the_page_but_not_too_far() -> None:
    for count in (2, 5, 12):
        names = [f"n{k:02d}" for k in range(count)]
        boxes = _place_line(names, 50.0)
        lefts = [boxes[name].left for name in names]
        gaps = [lefts[k + 1] - lefts[k] - boxes[names[k]].width for k in range(count - 1)]
        free = (1180 - 24 - count * 56.2) / (count + 1)
        assert gaps == pytest.approx([min(free, 84.0)] * (count - 1))
        right = boxes[names[-1]].left + boxes[names[-1]].width
        assert lefts[0] + right == pytest.approx(1180.0), "in the middle" and {box.y for box in boxes.values()} == {
            50.0
        }
    assert _place_line(["one"], 3.0)["one"].x == pytest.approx(590.0)


def test_a_row_goes_on_in_the_next_line_where_the_page_ends() -> None:
    """A page has 1156 pixels between its margins, and between two nodes are 14."""
    width = 1156 - 34  # of one node in characters of 7.4 pixels
    wide = "w" * int(width / 7.4)
    assert _split_to_page_width([wide]) == [[wide]] and _split_to_page_width([]) == [[]]
    assert _split_to_page_width([wide, "a"]) == [[wide], ["a"]]
    row = [f"n{k:02d}" for k in range(40)]
    lines = _split_to_page_width(row)
    assert [name for line in lines for name in line] == row
    used = [sum(56.2 for _ in line) + 14 * (len(line) - 1) for line in lines]
    assert all(length <= 1156 for length in used) and all(length + 14 + 56.2 > 1156 for length in used[:-1])
    assert [len(line) for line in lines] == [16, 16, 8]


def test_a_row_is_sorted_by_the_mean_place_of_its_neighbours_and_then_by_name() -> None:
    graph = nx.DiGraph([("a", "z"), ("b", "y"), ("a", "x"), ("c", "x"), ("b", "w")])
    rows = [["a", "b", "c"], ["w", "x", "y", "z"]]
    assert _sorted_by_neighbours(rows, 1, graph.predecessors) == ["z", "w", "x", "y"]
    assert _sorted_by_neighbours([["a", "b", "c"], ["alone", "z"]], 1, lambda n: ["c"] if n == "z" else []) == [
        "alone",
        "z",
    ]
    assert _sorted_by_neighbours([["a", "b", "c"], ["z", "alone"]], 1, lambda n: ["a"] if n == "z" else []) == [
        "z",
        "alone",
    ]


def test_neighbours_are_brought_near_each_other() -> None:
    """Of two rows in the opposite order one is turned round, so that no edges cross; three rows likewise."""
    for length in (2, 3, 4):
        edges = [
            (f"{k}{name}", f"{k + 1}{chr(ord('a') + (ord('d') - ord(name)))}")
            for k in range(length - 1)
            for name in "abcd"
        ]
        rows = _ordered_rows(nx.DiGraph(edges))
        assert [len(row) for row in rows] == [4] * length
        place = {node: i for row in rows for i, node in enumerate(row)}
        assert all(place[a] == place[b] for a, b in edges)


def test_sweeps_end_with_one_upwards() -> None:
    """So a row is in the order of what stands below it: here the last two rows agree, and the first follows."""
    graph = nx.DiGraph([("a", "p"), ("a", "q"), ("b", "p"), ("b", "r"), ("c", "q"), ("p", "x"), ("q", "y"), ("r", "x")])
    rows = _ordered_rows(graph)
    for k in range(len(rows) - 1):
        assert _sorted_by_neighbours(rows, k, graph.successors) == rows[k]
