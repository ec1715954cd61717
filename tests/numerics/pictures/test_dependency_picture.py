"""The picture of who drives whom has every state and one arrow per dependence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

from numerics.pictures import dependency_picture as module
from numerics.pictures.dependency_picture import dependency_picture
from odesys import System


@pytest.mark.parametrize(("equations", "arrows"), [("x' = y; y' = -x", 2), ("x' = -x; y' = x; z' = x*y", 3)])
def test_one_arrow_per_dependence(equations: str, arrows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    make = module.new_figure

    def seen(*args: object, **options: object) -> object:
        figure = make(*args, **options)  # type: ignore[arg-type]
        drawn.append(figure[1])
        return figure

    monkeypatch.setattr(module, "new_figure", seen)
    system = System.from_strings(equations)
    (file,) = dependency_picture(system, tmp_path)
    assert file.stat().st_size > 500
    texts = [text.get_text() for text in drawn[0].texts]
    assert texts.count("") == arrows and {*system.names} <= {*texts}


def test_nothing_for_one_state_or_very_many(tmp_path: Path) -> None:
    assert dependency_picture(System.from_strings("x' = -x"), tmp_path) == []
    many = System.from_strings({f"x{k}": f"-x{k}" for k in range(30)})
    assert dependency_picture(many, tmp_path) == []


def test_states_stand_on_a_circle_from_the_top_and_arrows_go_from_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clockwise; an arrow ends short of both names, and two that go both ways are bent."""
    figures = []
    monkeypatch.setattr(module, "save_figure", lambda fig, folder, name, formats: figures.append(fig) or [])
    for count in (2, 3, 4):
        equations = {f"x{k}": f"-x{k} + x{(k + 1) % count}" for k in range(count)}
        dependency_picture(System.from_strings(equations), tmp_path)
        (axis,) = figures[-1].axes
        names = {text.get_text(): np.array(text.get_position()) for text in axis.texts if text.get_text()}
        angles = [np.pi / 2 - 2 * np.pi * k / count for k in range(count)]
        for k, angle in enumerate(angles):
            assert names[f"x{k}"] == pytest.approx([np.cos(angle), np.sin(angle)])
        arrows = [text for text in axis.texts if not text.get_text()]
        assert len(arrows) == count
        for k, arrow in enumerate(
            sorted(arrows, key=lambda a: sorted(names, key=lambda n: np.hypot(*(names[n] - a.xyann)))[0])
        ):
            here, there = names[f"x{k}"], names[f"x{(k - 1) % count}"]
            way = (there - here) / np.linalg.norm(there - here)
            assert np.array(arrow.xyann) == pytest.approx(here + 0.16 * way)
            assert np.array(arrow.xy) == pytest.approx(there - 0.16 * way)
            assert arrow.arrowprops["connectionstyle"] == ("arc3,rad=0.15" if count == 2 else "arc3")
        assert figures[-1].get_size_inches() == pytest.approx([2 + 0.12 * count] * 2)
        assert not axis.axison and axis.get_xlim() == axis.get_ylim() == (-1.3, 1.3)
    for fig in figures:
        pyplot.close(fig)


def test_up_to_twenty_four_states_are_drawn(tmp_path: Path) -> None:
    for count, drawn in ((1, 0), (2, 1), (24, 1), (25, 0)):
        system = System.from_strings({f"x{k}": f"-x{k}" for k in range(count)})
        assert len(dependency_picture(system, tmp_path)) == drawn
