"""Figures inside a page."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from odesys.report import svg


def test_svg_ids_do_not_clash_and_dense_figures_become_pictures(tmp_path: Path) -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE svg><svg width="9pt" viewBox="0 0 90.123456 50"><defs><path id="p" d="M '
        '1.234567 0.012345678"/></defs><g id="axes_1"><use xlink:href="#p" style="clip-path: url(#p)"/></g></svg>'
    )
    made = svg.small(text, "f3", "a <title>")
    assert 'id="f3-p"' in made and '"#f3-p"' in made and "url(#f3-p)" in made and "axes_1" not in made
    assert "1.23 " in made and "0.0123457" in made and "width=" not in made and "a &lt;title&gt;" in made
    (tmp_path / "a.svg").write_text(text.replace("</svg>", "<g/>" * svg.LARGEST_SVG + "</svg>"))
    (alone,) = svg.inline([tmp_path / "a.svg"], "f", "t")
    assert alone.svg.startswith("<svg")  # nothing else to show
    Image.new("RGB", (3000, 300), "red").save(tmp_path / "a.png")
    both = [tmp_path / "a.svg", tmp_path / "a.png"]
    (picture,) = svg.inline(both, "f", "t")
    assert picture.data.startswith("data:image/webp;base64,") and not picture.svg and picture.title == "t"
    assert opened(picture.data).size == (svg.WIDEST, 120)
    assert svg.inline(both, "f", "t", limit=10**9) == [alone]
    assert svg.inline([], "f", "t") == []


def opened(address: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))


def test_a_thumbnail_is_the_left_part_of_a_picture(tmp_path: Path) -> None:
    wide = Image.new("RGB", (900, 100), "white")
    wide.paste("red", (0, 0, 160, 100))
    wide.save(tmp_path / "a.png")
    small = opened(svg.thumbnail([tmp_path / "a.svg", tmp_path / "a.png"]))
    assert small.size == svg.THUMBNAIL and small.convert("RGB").getpixel((200, 100))[1] < 60  # type: ignore[index]
    assert svg.thumbnail([tmp_path / "a.svg"]) == ""


def test_figures_of_different_names_have_different_ids(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.svg").write_text('<svg><path id="p"/><use href="#p"/></svg>')
    made = svg.inline([tmp_path / "a.svg", tmp_path / "b.svg"], "f", "t")
    assert 'id="f0-p"' in made[0].svg and 'id="f1-p"' in made[1].svg


def test_a_file_that_is_no_svg_is_said_to_be_none() -> None:
    assert "a &lt;b: the file is not SVG" in svg.small("<html>", "f", "a <b")


def test_letters_of_figures_are_drawn_once() -> None:
    letter = '<defs><path id="{}-DejaVuSans-41" d="M0 1L2 3z" transform="scale(0.015625)"/></defs>'
    figure = letter + '<use href="#{}-DejaVuSans-41" x="1"/><use href="#{}-m1"/>'
    page = "".join(figure.format(name, name, name) for name in ("f0", "f1"))
    made = svg.share_glyphs(page + '<a href="#f1-DejaVuSans-41">')
    assert made.count("M0 1L2 3z") == 1 and made.count('<use href="#g0" x="1"/>') == 2 and made.count("<defs>") == 1
    assert '<use href="#f1-m1"/>' in made and '<a href="#f1-DejaVuSans-41">' in made
    assert svg.without_glyphs(letter) == "<defs></defs>"


def test_paths_and_styles_have_no_blanks_that_say_nothing() -> None:
    made = svg.small(
        '<svg viewBox="0 0 9 9"><path d="M 0 1 \nL 2 -3 \nz" style="fill: none; stroke: red"/></svg>', "f", "t"
    )
    assert 'd="M0 1L2 -3z"' in made and 'style="fill:none;stroke:red"' in made


def test_a_thumbnail_begins_at_the_left_edge_and_keeps_the_proportions(tmp_path: Path) -> None:
    """Of three columns and two rows every one is seen."""
    tiny = Image.new("RGB", (3, 2))
    colours = {
        (0, 0): (255, 0, 0),
        (1, 0): (0, 255, 0),
        (2, 0): (0, 0, 255),
        (0, 1): (0, 0, 0),
        (1, 1): (255, 255, 255),
    }
    for place, colour in colours.items():
        tiny.putpixel(place, colour)
    tiny.save(tmp_path / "a.png")
    width, height = svg.THUMBNAIL
    small = opened(svg.thumbnail([tmp_path / "a.png"])).convert("RGB")
    wide = min(3, round(2 * width / height))
    assert small.size == (width, round(2 * width / wide))
    for (column, row), colour in colours.items():
        if column < wide:
            place = (round((column + 0.5) * width / wide), round((row + 0.5) * small.height / 2))
            seen = small.getpixel(place)
            assert max(abs(a - b) for a, b in zip(seen, colour, strict=True)) < 60  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("1.2345", "1.23"),
        ("-1.2345", "-1.23"),
        ("0.0500", "0.05"),
        ("0.04999", "0.04999"),
        ("-0.012345678", "-0.0123457"),
        ("100.000", "100"),
        ("10.100", "10.1"),
        ("1.25", "1.25"),
    ],
)
def test_numbers_have_two_decimals_unless_they_are_small(number: str, shown: str) -> None:
    made = svg.small(f'<svg viewBox="0 0 9 9"><g x="{number}"/></svg>', "f", "t")
    assert f'x="{shown}"' in made


def test_a_figure_has_its_natural_size_and_a_title() -> None:
    made = svg.small('<svg width="9pt" height="7pt" viewBox="0 -1 100.4 50"><g/> \n <g/> </svg>', "f", "t")
    head = '<svg class="figure" style="--natural:141px" role="img" aria-labelledby="f-title" viewBox="0 -1 100.4 50">'
    assert made.replace("natural: ", "natural:") == f'{head}<title id="f-title">t</title><g/><g/></svg>'
    assert "natural" not in svg.small("<svg><g/></svg>", "f", "t")


def test_the_first_file_of_a_name_and_a_kind_is_shown_as_svg_up_to_the_limit(tmp_path: Path) -> None:
    text = '<svg viewBox="0 0 9 9"><g/></svg>'
    for name in ("a.svg", "b.svg"):
        (tmp_path / name).write_text(text)
    for name in ("a.png", "c.png"):
        Image.new("RGB", (10, 20), "red").save(tmp_path / name)
    length = len(svg.small(text, "f0", "t"))
    files = [tmp_path / name for name in ("a.svg", "a.png", "b.svg", "c.png")]
    for limit, kinds in ((length, "svg svg data"), (length - 1, "data svg data"), (0, "data svg data")):
        found = svg.inline(files, "f", "t", limit)
        assert ["svg" if figure.svg else "data" for figure in found] == kinds.split()
        assert all(bool(figure.svg) != bool(figure.data) for figure in found)
    (tmp_path / "nothing.txt").touch()
    assert svg.inline([tmp_path / "nothing.txt"], "f", "t") == []


@pytest.mark.parametrize(("size", "shown"), [((100, 50), (100, 50)), ((101, 50), (100, 50)), ((301, 90), (100, 30))])
def test_pictures_are_made_as_wide_as_they_may_be(
    tmp_path: Path, size: tuple[int, int], shown: tuple[int, int]
) -> None:
    Image.new("RGB", size, "red").save(tmp_path / "a.png")
    (figure,) = svg.inline([tmp_path / "a.png"], "f", "t", width=100)
    assert opened(figure.data).size == shown


def test_glyphs_are_named_in_the_order_in_which_they_are_met() -> None:
    glyph = '<path id="{}" d="{}" transform="scale(0.015625)"/>'
    page = "<defs>" + glyph.format("a", "M0") + glyph.format("b", "M1") + "</defs>" + glyph.format("c", "M0")
    made = svg.share_glyphs(page + '<use href="#c"/><use href="#b"/><use href="#z"/>')
    assert made == (
        "<defs>" + glyph.format("g0", "M0") + glyph.format("g1", "M1") + "</defs>"
        '<use href="#g0"/><use href="#g1"/><use href="#z"/>'
    )
