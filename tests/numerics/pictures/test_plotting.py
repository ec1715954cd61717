"""One look for all pictures: sizes, layers from left to right, files whole and the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex

from numerics.pictures.plotting import LEAST, SIZE, WIDE, draw_layers, new_figure, save_figure
from odesys.files import figure_formats


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


@pytest.mark.parametrize(
    ("rows", "columns", "size", "shown"),
    [
        (1, 1, None, (6.0, 4.0)),
        (3, 1, None, (6.0, 12.0)),
        (1, 1, (10.5, 2.0), (10.5, 2.0)),
        (1, 2, None, (10.5, (1 + 10.5 / 12) / 2 * 4)),
        (1, 1, (10.5 / 0.72, 5.0), (10.5, 0.86 * 5)),
        (2, 1, (20.0, 5.0), (14.4, 0.86 * 5)),
    ],
)
def test_a_figure_shrinks_to_the_width_of_a_page_and_not_below_a_share(
    rows: int, columns: int, size: tuple[float, float] | None, shown: tuple[float, float]
) -> None:
    fig, _ = new_figure(rows, columns, size)
    assert tuple(fig.get_size_inches()) == pytest.approx(shown)
    pyplot.close(fig)


def test_layers_stand_side_by_side_and_odd_ones_a_little_higher() -> None:
    graph = nx.DiGraph([("b", "d"), ("a", "c"), ("c", "e"), ("d", "e")])
    colours = {node: f"#0000{k}0" for k, node in enumerate("abcde")}
    fig = draw_layers(graph, colours, {"first": "#000000", "second": "#ffffff"}, "title")
    (axis,) = fig.axes
    assert {text.get_text(): text.get_position() for text in axis.texts} == {
        "a": (0.0, pytest.approx(0.25)),
        "b": (0.0, pytest.approx(0.75)),
        "c": (1.0, pytest.approx(0.28)),
        "d": (1.0, pytest.approx(0.78)),
        "e": (2.0, pytest.approx(0.5)),
    }
    for text in axis.texts:
        assert to_hex(text.get_bbox_patch().get_facecolor()) == colours[text.get_text()]
    legend = axis.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["first", "second"] and legend._ncols == 2
    assert not axis.axison and axis.get_title() == "title" and axis.margins() == (0.06, 0.06)
    assert tuple(fig.get_size_inches()) == pytest.approx((10.5, (1 + 10.5 / 12) / 2 * 9))
    pyplot.close(fig)
    long = nx.path_graph(20, nx.DiGraph)
    fig = draw_layers(nx.relabel_nodes(long, str), {str(k): "#ffffff" for k in range(20)}, {"all": "#ffffff"}, "")
    assert fig.get_size_inches()[0] == pytest.approx(max(10.5, 0.72 * 1.15 * 20))
    pyplot.close(fig)


def test_a_picture_is_written_in_the_formats_of_the_command_and_closed(tmp_path: Path) -> None:
    token = figure_formats.set(("svg",))
    try:
        fig, _ = new_figure()
        assert [file.name for file in save_figure(fig, tmp_path, "line")] == ["line.svg"]
        assert not pyplot.fignum_exists(fig.number) and "<dc:date>" not in (tmp_path / "line.svg").read_text()
    finally:
        figure_formats.reset(token)
    fig, _ = new_figure(size=(2.0, 1.0))
    fig.set_layout_engine(None)
    (file,) = save_figure(fig, tmp_path, "small", ("png",))
    assert pyplot.imread(file).shape[:2] == (150, 300), "150 dots per inch"
