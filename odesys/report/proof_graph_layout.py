"""Where the claims of a proof graph stand on a page: in rows from what is used to what uses it.

Only edges that no other way replaces are drawn; claims that nothing is linked to are listed, not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

CHARACTER_WIDTH, NODE_PADDING, NODE_HEIGHT, NODE_GAP = 7.4, 34.0, 22.0, 14.0
ROW_GAP, PAGE_MARGIN, PAGE_WIDTH = 21.0, 12.0, 1180.0
ORDERING_SWEEPS = 8


@dataclass(frozen=True)
class Box:
    """A node: its centre and its width, in pixels."""

    x: float
    y: float
    width: float
    height: float = NODE_HEIGHT

    @property
    def left(self) -> float:
        """The left side."""
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        """The upper side."""
        return self.y - self.height / 2


@dataclass(frozen=True)
class GraphLayout:
    """The nodes as boxes, the edges by the names of their ends, and the size of the whole."""

    boxes: Mapping[str, Box]
    edges: tuple[tuple[str, str], ...]
    width: float
    height: float
    alone: tuple[str, ...] = ()  # claims without edges

    def curves(self) -> list[tuple[float, float, float, float]]:
        """Each edge from the lower side of a box to the upper side of another: x, y, x, y."""
        ends = [(self.boxes[start], self.boxes[end]) for start, end in self.edges]
        return [(a.x, a.top + a.height, b.x, b.top) for a, b in ends]


def layered_layout(graph: nx.DiGraph) -> GraphLayout:
    """Rows from top to bottom by the longest way from a claim that uses none."""
    import networkx as nx

    reduced = nx.transitive_reduction(graph)
    linked = reduced.subgraph([node for node in graph if reduced.degree(node)])
    boxes: dict[str, Box] = {}
    y = PAGE_MARGIN
    for row in _ordered_rows(linked):
        for line in _split_to_page_width(row):
            boxes |= _place_line(line, y + NODE_HEIGHT / 2)
            y += NODE_HEIGHT + NODE_GAP
        y += ROW_GAP - NODE_GAP
    right = max((box.left + box.width for box in boxes.values()), default=0.0)
    alone = tuple(node for node in graph if node not in boxes)
    return GraphLayout(boxes, tuple(sorted(linked.edges)), max(PAGE_WIDTH, right + PAGE_MARGIN), y, alone)


def _ordered_rows(linked: nx.DiGraph) -> list[list[str]]:
    """The generations of the graph, neighbours brought near each other by sweeps down and up."""
    import networkx as nx

    rows = [sorted(row) for row in nx.topological_generations(linked)]
    for sweep in range(ORDERING_SWEEPS):
        down = sweep % 2 == 0
        for k in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            rows[k] = _sorted_by_neighbours(rows, k, linked.predecessors if down else linked.successors)
    return rows


def _sorted_by_neighbours(rows: list[list[str]], k: int, neighbours: Callable[[str], Iterable[str]]) -> list[str]:
    """A row sorted by the mean place of each node's neighbours."""
    place = {node: (i + 0.5) / len(row) for row in rows for i, node in enumerate(row)}

    def mean_place(node: str) -> tuple[float, str]:
        around = [place[other] for other in neighbours(node)]
        mean = math.fsum(around) / len(around) if around else place[node]  # exact: the order of edges may differ
        return mean, node

    return sorted(rows[k], key=mean_place)


def _node_width(node: str) -> float:
    return NODE_PADDING + CHARACTER_WIDTH * len(node)


def _split_to_page_width(row: list[str]) -> list[list[str]]:
    """A row in as many lines as the page needs."""
    lines: list[list[str]] = [[]]
    used = 0.0
    for node in row:
        if lines[-1] and used + _node_width(node) > PAGE_WIDTH - 2 * PAGE_MARGIN:
            lines.append([])
            used = 0.0
        lines[-1].append(node)
        used += _node_width(node) + NODE_GAP
    return lines


def _place_line(line: list[str], y: float) -> dict[str, Box]:
    """A line of nodes, spread over the page but not too far from each other."""
    total = sum(map(_node_width, line))
    spacing = min((PAGE_WIDTH - 2 * PAGE_MARGIN - total) / (len(line) + 1), 6 * NODE_GAP) if len(line) > 1 else 0.0
    x = (PAGE_WIDTH - total - spacing * (len(line) - 1)) / 2
    boxes = {}
    for node in line:
        boxes[node] = Box(x + _node_width(node) / 2, y, _node_width(node))
        x += _node_width(node) + spacing
    return boxes
