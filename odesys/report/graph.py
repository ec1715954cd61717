"""The proof graph in layers, as SVG whose nodes are links and as TikZ; colours come from the verdicts' classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

CHARACTER, PADDING, ROW, GAP, EDGE = 7.4, 22.0, 30.0, 64.0, 12.0
SWEEPS = 8


@dataclass(frozen=True)
class Layout:
    """Centres and widths of the nodes, and the edges; all in pixels."""

    places: Mapping[str, tuple[float, float]]
    widths: Mapping[str, float]
    edges: tuple[tuple[str, str], ...]
    size: tuple[float, float]


def layers(graph: nx.DiGraph) -> Layout:
    """Columns by the longest way from a claim that uses none; neighbours are pulled together; loners stand below."""
    import networkx as nx

    linked = graph.subgraph([node for node in graph if graph.degree(node)])
    columns = [sorted(column) for column in nx.topological_generations(linked)]
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for k in range(1, len(columns)) if forward else range(len(columns) - 2, -1, -1):
            near = linked.predecessors if forward else linked.successors
            height = {node: i / len(column) for column in columns for i, node in enumerate(column)}
            def pull(node: str, near=near, height=height) -> tuple[float, str]:  # type: ignore[no-untyped-def]
                around = [height[other] for other in near(node)]
                return (sum(around) / len(around) if around else height[node], node)
            columns[k] = sorted(columns[k], key=pull)
    width = {node: PADDING + CHARACTER * len(node) for node in graph}
    places: dict[str, tuple[float, float]] = {}
    tallest = max((len(column) for column in columns), default=0) * ROW
    x = EDGE
    for column in columns:
        wide = max(width[node] for node in column)
        step = tallest / len(column)
        for i, node in enumerate(column):
            places[node] = (x + wide / 2, EDGE + (i + 0.5) * step)
        x += wide + GAP
    right = max(x - GAP + EDGE if columns else 0.0, 640.0)
    bottom = EDGE + tallest
    across, down = EDGE, bottom + ROW
    for node in sorted(set(graph) - set(linked)):
        if across + width[node] > right - EDGE:
            across, down = EDGE, down + ROW
        places[node] = (across + width[node] / 2, down)
        across += width[node] + 10
        bottom = down + ROW / 2
    return Layout(places, width, tuple(sorted(linked.edges)), (right, bottom + EDGE))


def svg(layout: Layout, classes: Mapping[str, str], marks: Mapping[str, str], titles: Mapping[str, str],
        links: Mapping[str, str], label: str) -> str:
    """Inline SVG: a node is a link to its claim; `classes` give the colour, `marks` say the verdict without colour."""
    wide, high = layout.size
    parts = [f'<svg class="graph" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" height="{high:.0f}" '
             f'role="group" aria-label="{escape(label)}">']
    for start, end in layout.edges:
        (x0, y0), (x1, y1) = layout.places[start], layout.places[end]
        a, b = x0 + layout.widths[start] / 2, x1 - layout.widths[end] / 2
        bend = (b - a) / 2
        parts.append(f'<path class="edge" d="M{a:.0f} {y0:.0f}C{a + bend:.0f} {y0:.0f} {b - bend:.0f} {y1:.0f} '
                     f'{b:.0f} {y1:.0f}"/>')
    for node, (x, y) in layout.places.items():
        w = layout.widths[node]
        parts.append(f'<a href="#{escape(links[node])}" class="{classes[node]}"><title>{escape(titles[node])}</title>'
                     f'<rect x="{x - w / 2:.0f}" y="{y - 11:.0f}" width="{w:.0f}" height="22" rx="5"/>'
                     f'<text x="{x:.0f}" y="{y + 4:.0f}">{escape(marks[node])} {escape(node)}</text></a>')
    return "".join(parts) + "</svg>"


def tikz(layout: Layout, colours: Mapping[str, str], texts: Mapping[str, str], room: float = 16.0) -> str:
    """The same picture for LaTeX, `room` centimetres wide; `colours` are those of the xcolor package by claim."""
    scale = min(room / layout.size[0], 22.0 / layout.size[1])
    names = {node: f"n{k}" for k, node in enumerate(layout.places)}
    size = r"\tiny" if scale * 22 < 0.42 else r"\scriptsize"
    lines = [rf"\begin{{tikzpicture}}[x={scale:.5f}cm,y=-{scale:.5f}cm,every node/.style={{draw=gray,rounded corners=1pt,"
             rf"inner sep=1pt,font={size}}}]"]
    for node, (x, y) in layout.places.items():
        lines.append(rf"\node[fill={colours[node]}] ({names[node]}) at ({x:.0f},{y:.0f}) {{{texts[node]}}};")
    lines += [rf"\draw[gray!60,very thin] ({names[a]}) -- ({names[b]});" for a, b in layout.edges]
    return "\n".join([*lines, r"\end{tikzpicture}"])
