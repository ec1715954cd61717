"""The surface of the shallow vision transformer: sentences for bad numbers, commands, protocols."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from derivations.shallow_vit import PAPER, dynamics, setting
from derivations.shallow_vit import compare as comparison
from derivations.shallow_vit.setting import Case
from derivations.shallow_vit.special import class_network, network, observables, symmetric_runs
from odesys.cli.commands import app
from odesys.errors import IntegrationError, ParameterError


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alpha_s": 0.1, "alpha_c": 0.2}, "the label is the majority"),
        ({"alpha_s": 0.9, "alpha_c": 0.2}, "at most 1"),
        ({"M": 2}, "at least 3"),
        ({"m_a": 4}, "m_a is at least M = 5"),
        ({"N": 5}, "N is even"),
        ({"m": 5}, "m is even"),
        ({"B": 100}, "a batch has between 1 and N = 40"),
        ({"eta": 0.0}, "positive and finite"),
        ({"margin": math.inf}, "positive and finite"),
        ({"sigma": math.nan}, "not negative"),
        ({"readout": "none"}, "choose shared or per_position"),
        ({"filling": "x"}, "choose balanced or random or one"),
    ],
)
def test_bad_numbers_get_a_sentence(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Case(**settings)  # type: ignore[arg-type]


def test_further_sentences() -> None:
    with pytest.raises(ParameterError, match="have no majority"):
        setting.draw_counts(Case(L=2, alpha_s=0.6, alpha_c=0.4), np.random.default_rng(0))
    with pytest.raises(ParameterError, match="0 < pi <= 1/2"):
        symmetric_runs.flow(Case(), "fixed", 0.7)
    with pytest.raises(ParameterError, match="choose auto or fixed or paper"):
        symmetric_runs.flow(Case(), "on", 0.3)
    with pytest.raises(ParameterError, match="widths are even"):
        comparison.compare([63], 1, PAPER.read_parameters({}), workers=1)
    with pytest.raises(ParameterError, match="too many to write out"):
        dynamics.named_system("full", {**PAPER.read_parameters({}), "M": 12})
    for train in (class_network.train, network.train):
        with pytest.raises(IntegrationError, match="a step size below eta = 1e\\+80 may help"):
            train(Case(m=4, N=2, L=10, alpha_c=0.1, eta=1e80, margin=1e300), 0)  # type: ignore[operator]
    with pytest.raises(ParameterError, match="has no class-level system"):
        PAPER.protocols["classes"](PAPER.read_parameters({"readout": "per_position"}), lambda what, done: None)
    case = Case(m=4, L=10, alpha_c=0.1, readout="per_position")
    data = network.draw(replace(case, L=12), np.random.default_rng(0))
    with pytest.raises(ParameterError, match="10 positions but a sample has 12 tokens"):
        network.train(case, 0, data)


def test_commands(tmp_path) -> None:
    runner = CliRunner()
    result = tmp_path / "result.json"
    derive = ["derive", "shallow_vit", "--json", str(result)]
    for more, name, size in (
        (["--system", "full", "--set", "M=3"], "full", 36),
        (["--quotient", "--set", "gates=fixed"], "quotient", 21),
        (["--system", "descent", "--set", "M=3"], "descent", 36),
        (["--system", "coordinates", "--set", "M=3"], "coordinates", 33),
    ):
        found = runner.invoke(app, derive + more)
        assert found.exit_code == 0, found.output
        written = json.loads(result.read_text())
        assert (written["system"], written["dimension"]) == (name, size) and "alpha_s" in written["free_parameters"]
    found = runner.invoke(app, ["simulate", "shallow_vit", "--protocol", "classes", "--set", "m=50"])
    assert found.exit_code == 0 and "T_train" in found.output
    for wrong in ("gates=open", "alpha_c=0.7", "N=3"):
        found = runner.invoke(app, ["simulate", "shallow_vit", "--set", wrong])
        assert found.exit_code == 2 and wrong.partition("=")[0] in found.output, found.output


def test_protocols_report_the_same_observables() -> None:
    given = PAPER.read_parameters({"m": "60", "N": "6", "L": "20", "alpha_c": "0.1", "steps": "400"})
    runs = {name: PAPER.protocols[name](given, lambda what, done: None) for name in PAPER.protocols}
    for name, run in runs.items():
        assert run.final["F"] >= 1 - 1e-9 and set(observables.QUERIES) <= set(run.final), name
        assert set(observables.LOGITS) <= set(run.columns) and run.invariant_drift is not None
        assert set(run.final) <= set(run.meanings), "every row says what it is"
    assert runs["symmetric"].invariant_drift < 1e-7
    assert runs["classes"].final["lucky_kept_signed"] == 1.0
    short = PAPER.protocols["tokens"]({**given, "steps": 3}, lambda what, done: None)
    assert "stopped after 3 steps" in short.note and not short.events
    with_error = PAPER.protocols["symmetric"]({**given, "sigma": 0.1}, lambda what, done: None)
    assert "sigma does not enter here, but with --protocol tokens" in with_error.note
