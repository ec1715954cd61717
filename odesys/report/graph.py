"""The proof graph in layers, as SVG whose nodes are links and as TikZ; colours come from the verdicts' classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

CHARACTER, PADDING, HEIGHT, APART, GAP, EDGE = 7.4, 22.0, 22.0, 14.0, 30.0, 12.0
PAGE_WIDTH = 1080.0  # width that a page has for the graph
SWEEPS = 8


@dataclass(frozen=True)
class Layout:
    """Centres and widths of the nodes, and the edges; all in pixels."""

    places: Mapping[str, tuple[float, float]]
    widths: Mapping[str, float]
    edges: tuple[tuple[str, str], ...]
    size: tuple[float, float]


def layers(graph: nx.DiGraph) -> Layout:
    """Rows from top to bottom by the longest way from a claim that uses none; claims without edges stand below.

    Neighbours are pulled together by sweeps over the rows; a row too wide for the page is broken.
    """
    import networkx as nx

    linked = graph.subgraph([node for node in graph if graph.degree(node)])
    rows = [sorted(row) for row in nx.topological_generations(linked)]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for k in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            rows[k] = _pulled(rows, k, linked.predecessors if down else linked.successors)
    width = {node: PADDING + CHARACTER * len(node) for node in graph}
    places: dict[str, tuple[float, float]] = {}
    y, right = EDGE, 0.0
    loners = sorted(set(graph) - set(linked))
    for group in [*rows, *([loners] if loners else [])]:
        for line in _broken(group, width):
            total = sum(width[node] for node in line)
            apart = min((PAGE_WIDTH - 2 * EDGE - total) / (len(line) + 1), 6 * APART) if len(line) > 1 else 0.0
            x = (PAGE_WIDTH - total - apart * (len(line) - 1)) / 2
            for node in line:
                places[node] = (x + width[node] / 2, y + HEIGHT / 2)
                x += width[node] + apart
            right = max(right, x)
            y += HEIGHT + APART
        y += GAP - APART
    return Layout(places, width, tuple(sorted(linked.edges)), (max(PAGE_WIDTH, right + EDGE), y))


def _pulled(rows: list[list[str]], k: int, near: Callable[[str], Iterable[str]]) -> list[str]:
    """A row sorted by the mean place of each node's neighbours."""
    place = {node: (i + 0.5) / len(row) for row in rows for i, node in enumerate(row)}

    def pull(node: str) -> tuple[float, str]:
        around = [place[other] for other in near(node)]
        return (sum(around) / len(around) if around else place[node], node)

    return sorted(rows[k], key=pull)


def _broken(row: list[str], width: Mapping[str, float]) -> list[list[str]]:
    """A row in as many lines as the page needs."""
    lines: list[list[str]] = [[]]
    used = 0.0
    for node in row:
        if lines[-1] and used + width[node] > PAGE_WIDTH - 2 * EDGE:
            lines.append([])
            used = 0.0
        lines[-1].append(node)
        used += width[node] + APART
    return lines


def svg(
    layout: Layout,
    classes: Mapping[str, str],
    marks: Mapping[str, str],
    titles: Mapping[str, str],
    links: Mapping[str, str],
    label: str,
) -> str:
    """Inline SVG: a node is a link to its claim; `classes` give the colour, `marks` say the verdict without colour."""
    wide, high = layout.size
    parts = [
        f'<svg class="graph" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" height="{high:.0f}" '
        f'role="group" aria-label="{escape(label)}">'
    ]
    for start, end in layout.edges:
        (x0, y0), (x1, y1) = layout.places[start], layout.places[end]
        a, b = y0 + HEIGHT / 2, y1 - HEIGHT / 2
        bend = (b - a) / 2
        parts.append(
            f'<path class="edge" d="M{x0:.0f} {a:.0f}C{x0:.0f} {a + bend:.0f} {x1:.0f} {b - bend:.0f} '
            f'{x1:.0f} {b:.0f}"/>'
        )
    for node, (x, y) in layout.places.items():
        w = layout.widths[node]
        parts.append(
            f'<a href="#{escape(links[node])}" class="{classes[node]}"><title>{escape(titles[node])}</title>'
            f'<rect x="{x - w / 2:.0f}" y="{y - 11:.0f}" width="{w:.0f}" height="22" rx="5"/>'
            f'<text x="{x:.0f}" y="{y + 4:.0f}">{escape(marks[node])} {escape(node)}</text></a>'
        )
    return "".join(parts) + "</svg>"


def tikz(layout: Layout, colours: Mapping[str, str], texts: Mapping[str, str], room: float = 16.0) -> str:
    """The same picture for LaTeX, `room` centimetres wide; `colours` are those of the xcolor package by claim."""
    scale = min(room / layout.size[0], 22.0 / layout.size[1])
    names = {node: f"n{k}" for k, node in enumerate(layout.places)}
    size = r"\tiny" if scale * 22 < 0.42 else r"\scriptsize"
    lines = [
        rf"\begin{{tikzpicture}}[x={scale:.5f}cm,y=-{scale:.5f}cm,"
        rf"every node/.style={{draw=gray,rounded corners=1pt,inner sep=1pt,font={size}}}]"
    ]
    for node, (x, y) in layout.places.items():
        lines.append(rf"\node[fill={colours[node]}] ({names[node]}) at ({x:.0f},{y:.0f}) {{{texts[node]}}};")
    lines += [rf"\draw[gray!60,very thin] ({names[a]}) -- ({names[b]});" for a, b in layout.edges]
    return "\n".join([*lines, r"\end{tikzpicture}"])
