"""The picture of who drives whom has every state and one arrow per dependence."""

from __future__ import annotations

from pathlib import Path

import pytest

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
