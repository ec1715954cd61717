"""The symmetric system with the number of patterns M left open: other M, a hand-written network, the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from derivations.shallow_vit import PAPER, dynamics
from derivations.shallow_vit.claims import book
from derivations.shallow_vit.setting import Case
from derivations.shallow_vit.special import class_network, symmetric_runs
from odesys.cli.commands import app
from odesys.errors import ParameterError
from odesys.expr import graph
from odesys.expr.graph import num, sym
from odesys.verdicts import Evidence


@pytest.mark.parametrize("M", [3, 4, 5, 11])
@pytest.mark.parametrize("gates", symmetric_runs.CHOICES)
def test_at_every_other_number_the_equations_are_the_derived_ones(M: int, gates: str) -> None:
    """M was not among the members; M = 3 has 18 variables, and their equations do not read the other three."""
    assert M not in dynamics.MEMBERS
    every, derived = symmetric_runs.every_number_of_patterns(gates), symmetric_runs.system(M, gates)
    at = dict(zip(every.names, graph.substitute(list(every.nodes), {sym("M"): num(M)}), strict=True))
    seen = graph.substitute([every.observables["F"]], {sym("M"): num(M)})
    assert len(every.names) == 21 and "M" in every.parameters
    assert [at[name] for name in derived.names] == list(derived.nodes)
    assert seen == [derived.observables["F"]]


@pytest.mark.parametrize("M", [4, 17, 30])
def test_one_system_moves_as_a_hand_written_network_with_two_neurons(M: int) -> None:
    case = Case(M=M, alpha_s=0.43, alpha_c=0.17, d=M, m_a=M, m_b=M, m=2, margin=1e9, eta=0.01)
    every, rng = symmetric_runs.every_number_of_patterns(), np.random.default_rng(M)
    print("seed", M)
    x = {name: 0.3 * float(rng.standard_normal()) for name in every.names}
    step = every.compile({**symmetric_runs.parameters(case, 0.3), "M": float(M)})
    state, data = symmetric_runs.lift(x, M, 0.3), symmetric_runs.samples(case)
    values = np.array([x[name] for name in every.names])
    for _ in range(20):
        assert step.observables(0.0, values)["F"] == pytest.approx(
            float(class_network.forward(state, data).F[0]), abs=1e-12
        )
        values = values + case.eta * step(0.0, values)
        class_network.step(state, data, case.eta, case.margin)
    again = symmetric_runs.lift(dict(zip(every.names, values, strict=True)), M, 0.3)
    for name in ("w", "v", "kappa", "rho"):
        assert np.allclose(getattr(again, name), getattr(state, name), atol=1e-12), name


def test_the_claim_is_proved_and_needs_its_multiplicities(monkeypatch) -> None:
    from derivations.shallow_vit.claims import common_equations

    verdict = book.run(book["Beyond.every-M"]).verdict
    assert verdict.as_stated == "holds" and verdict.evidence is Evidence.PROOF
    monkeypatch.setattr(
        common_equations.WrittenOut, "U", property(lambda self: (self.x["d1"], self.x["d2"], self.x["dn"]))
    )
    assert book.run(book["Beyond.every-M"]).verdict.as_stated == "fails"


@pytest.mark.parametrize("arguments", [[], ["--quotient"], ["--set", "gates=paper"]])
def test_the_command_line_leaves_m_open(arguments: list[str], tmp_path) -> None:
    file = tmp_path / "system.json"
    result = CliRunner().invoke(app, ["derive", "shallow_vit", "--set", "M=symbol", *arguments, "--json", str(file)])
    assert result.exit_code == 0 and "d/dt q_kl" in result.output and "(M - 4)" in result.output
    named = [line for line in result.output.splitlines() if line.startswith("P") and line.endswith("*(M - 2)")]
    assert named and not any("/2*" in line for line in named), "named products have no number in front"
    found = json.loads(file.read_text())
    assert found["dimension"] == 21 and "M" in found["free_parameters"] and found["system"] == "quotient"


def test_what_lists_its_patterns_needs_a_number() -> None:
    with pytest.raises(ParameterError, match="for every M; the full system"):
        PAPER.systems["full"](PAPER.read_parameters({"M": "symbol"}, symbols=True))
    with pytest.raises(ParameterError, match="a number is needed here"):
        PAPER.read_parameters({"M": "symbol"})
