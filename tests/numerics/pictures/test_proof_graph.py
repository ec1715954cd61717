"""The proof graph: every claim has the colour of its verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from numerics.pictures import proof_graph
from numerics.pictures.proof_graph import VERDICT_COLOURS, draw_proof_graph
from odesys.papers.claims import ClaimBook
from odesys.terminal import silent
from odesys.verdicts import Verdict, certified, measured, proved, refuted, undecided

ANSWERS = {
    "1": (proved(), "holds, proof"),
    "2": (certified(), "holds, certificate"),
    "3": (measured(True), "holds, measurement"),
    "4": (refuted({"x": 1}), "fails as printed"),
    "5": (undecided("x"), "undecided"),
}


def book() -> ClaimBook:
    made = ClaimBook("toy", laboratory=dict)
    for number, (verdict, _) in ANSWERS.items():
        uses = ["1"] if number != "1" else []
        claim = made.claim(number, "A step", kind="identity", statement="0 = 0", reading="it is", uses=uses)

        @claim
        def check(lab: Any, verdict: Verdict = verdict) -> Verdict:
            return verdict

    made.claim("6", "Long", kind="identity", statement="s", reading="r", uses=["4"], level="full")(lambda lab: proved())
    return made


def test_colours_are_those_of_the_verdicts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: dict[str, str] = {}
    draw = proof_graph.draw_layers

    def noted(graph: Any, colours: dict[str, str], legend: Any, title: str) -> Any:
        seen.update(colours)
        return draw(graph, colours, legend, title)

    monkeypatch.setattr(proof_graph, "draw_layers", noted)
    files = draw_proof_graph(book(), tmp_path, silent)
    expected = {number: VERDICT_COLOURS[kind] for number, (_, kind) in ANSWERS.items()}
    assert seen == expected | {"6": VERDICT_COLOURS["not run"]}
    assert {file.name for file in files} == {"proof.png", "proof.svg"} and all(file.exists() for file in files)
