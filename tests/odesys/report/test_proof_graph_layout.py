"""The proof graph on a page."""

from __future__ import annotations

import networkx as nx

from odesys.report.proof_graph_layout import CHARACTER_WIDTH, NODE_HEIGHT, PAGE_MARGIN, PAGE_WIDTH, layered_layout


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
