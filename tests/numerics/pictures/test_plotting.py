"""One look for all pictures: sizes, layers from left to right, files whole and the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from numerics.pictures.plotting import LEAST, SIZE, WIDE, draw_layers, new_figure, save_figure


def test_a_figure_grows_with_its_panels_and_is_not_shown() -> None:
    import matplotlib

    fig, axes = new_figure(2, 1)
    assert axes.shape == (2,) and tuple(fig.get_size_inches()) == (SIZE[0], 2 * SIZE[1])
    assert matplotlib.get_backend().lower() == "agg"


def test_a_wide_figure_is_drawn_smaller_so_that_its_letters_can_be_read() -> None:
    for width in (12.0, 20.0):
        fig, _ = new_figure(1, 3, (width, 4.0))
        shown, high = fig.get_size_inches()
        assert shown == pytest.approx(max(WIDE, LEAST * width)) and shown / width < high / 4.0 < 1


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        fig, ax = new_figure()
        ax.plot([0, 1], [1, 0])
        names = [file.name for file in save_figure(fig, tmp_path / folder, "line", ("svg", "pdf", "png"))]
        assert names == ["line.svg", "line.pdf", "line.png"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_format_that_does_not_exist_leaves_no_file(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    fig, _ = new_figure()
    with pytest.raises(ValueError, match="not supported"):
        save_figure(fig, tmp_path, "line", ("nonsense",))
    assert list(tmp_path.iterdir()) == [] and set(plt.get_fignums()) == before


def test_what_rests_on_something_stands_to_the_right_of_it() -> None:
    graph = nx.DiGraph([("1", "2"), ("1", "3"), ("2", "4"), ("3", "4")])
    fig = draw_layers(graph, dict.fromkeys("1234", "#ffffff"), {"all": "#ffffff"}, "what rests on what")
    places = {text.get_text(): text.get_position()[0] for text in fig.axes[0].texts}
    assert all(places[a] < places[b] for a, b in graph.edges) and fig.axes[0].get_title() == "what rests on what"
