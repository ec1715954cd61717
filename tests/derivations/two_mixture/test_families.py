"""The two-mixture family: known numbers for K = 3, 4, 8, laws in K, the command line, and figures."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from derivations.two_mixture import PAPER, dynamics, protocol
from derivations.two_mixture.claims import book
from derivations.two_mixture.claims.part_beyond_k_enclosed import stage_two
from derivations.two_mixture.figures import groups
from derivations.two_mixture.laboratory import Laboratory
from derivations.two_mixture.special.enclosed import neurons_at
from numerics.flows.integrate import integrate
from numerics.maps.iterate import iterate
from odesys.certify.validated import enclose
from odesys.cli.commands import app
from odesys.errors import OdesysError, ParameterError
from odesys.expr.graph import sym
from odesys.expr.system import System
from odesys.terminal import silent


def run_cli(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


# ---- gradient descent with more groups, against known numbers --------------------------------------------------------


@pytest.mark.parametrize(
    ("K", "L", "step", "loss", "same", "other"),
    [
        (3, 3, 3000, 0.0155, 3.039, -1.523),
        pytest.param(4, 3, 7000, 0.0051, 4.081, -1.367, marks=pytest.mark.slow),
        pytest.param(8, 3, 20_000, 0.0031, 4.56, -0.66, marks=pytest.mark.slow),
        pytest.param(3, 4, 4000, 0.0103, 3.789, -1.899, marks=pytest.mark.slow),
    ],
)
def test_gradient_descent_of_the_family(K: int, L: int, step: int, loss: float, same: float, other: float) -> None:
    flow = dynamics.family_map(L)
    run = iterate(flow.system, flow.initial_state(0.1), step, {"b": 0.5, "eta": 0.1, "K": K}, [step])
    digits = 6e-4 if K < 8 else 6e-3
    assert run.observable("loss")[0] == pytest.approx(loss, abs=6e-5)
    assert run.final["M_cv_same"] == pytest.approx(same, abs=digits)
    assert run.final["M_cv_other"] == pytest.approx(other, abs=digits)


def test_runs_of_any_K_follow_the_enumerated_ones() -> None:
    parameters = PAPER.read_parameters({"K": "3", "t_end": "300"})
    listed = protocol.simultaneous_run(parameters)
    flow = dynamics.family()
    mine = integrate(flow.system, flow.initial_state(0.1), (0.0, 300.0), {"b": 0.5, "K": 3}, rtol=1e-10)
    assert all(abs(mine.final[name] - listed.final[name]) < 1e-7 for name in listed.names)
    assert [e.kind for e in mine.events] == [e.kind for e in listed.events]


def test_large_K_is_run_through_the_family() -> None:
    settings = {"K": "100000", "T1": "1e6", "t_end": "2e8"}
    result = PAPER.protocols["three-stage"](PAPER.read_parameters(settings), silent)
    assert result.final["loss"] == pytest.approx(0.01, abs=1e-9) and result.invariant_drift < 1e-10
    times = {event["name"]: event["time"] / 1e5 for event in result.events if event["kind"] == "stage"}
    assert times["T2"] == pytest.approx(88.87, abs=0.05), "stage 2 ends at the same t / K for every large K"


# ---- laws --------------------------------------------------------------------------------------------------------


def test_switching_time_by_integration() -> None:
    for K in (2, 7, 1000):
        assert groups.switch_time(K) == pytest.approx(K * np.e / 4, rel=1e-8)


@pytest.mark.slow
def test_numbers_behind_the_laws() -> None:
    linear = book.run(book["Beyond.K.linear"]).verdict
    assert linear.constants["alpha at omega=0.1"] == pytest.approx(84.363, abs=1e-3)
    assert linear.constants["T/K at omega=0.1"]["1000000"] == pytest.approx(84.363, abs=1e-3)
    assert linear.constants["beta at omega=0.1"] == pytest.approx(-53.2342, abs=1e-3)
    assert linear.details["exponent of K"] == pytest.approx([-1, -1, -1], abs=0.1)  # T - alpha K is beta + gamma/K
    duration = book.run(book["Beyond.K.T2"]).verdict
    assert duration.details["exponent of omega"] == pytest.approx([1, 1, 1], abs=0.1)  # the error of the slope
    assert max(duration.scope["K"]) == 10**6
    near = book.run(book["Beyond.K.near_symmetry"]).verdict
    assert near.constants["largest"] == pytest.approx(0.0347, abs=1e-4)
    assert near.constants["outside"]["omega = 0.2, K = 10^6"] > 0.1 and "3.5 percent" in near.sharpened


@pytest.mark.parametrize(
    ("claim", "mutation"),
    [
        ("Beyond.K.T_half", "neurons"),
        ("Beyond.K.kappa", "flip"),
        ("Beyond.K.kappa", "labels"),
        ("Beyond.K.frozen", "flip"),
        ("Beyond.K.limit", "labels"),
        ("Beyond.K.T_half", "consistent"),
    ],
)
def test_laws_notice_broken_systems(claim: str, mutation: str) -> None:
    verdict = book.run(book[claim], mutation=mutation).verdict
    assert verdict.as_stated == "fails" and verdict.witness


def test_mutations_of_the_family() -> None:
    for stage in ("simultaneous", "stage2"):
        plain, listed = Laboratory().family(stage), dynamics.family(stage)
        assert plain.system.nodes == listed.system.nodes
    for mutation in ("labels", "consistent", "flip", "double", "neurons"):
        lab = Laboratory(mutation)
        family, listed = lab.family("stage3", 2).system, lab.reduced("stage3").system
        assert family.nodes == tuple(listed.equations[name] for name in family.names)
    for mutation in ("own", "groups", "start"):
        with pytest.raises(OdesysError, match="is not defined for families"):
            Laboratory(mutation).family("stage1")


def test_sector_equations_are_the_same_flow() -> None:
    K, rng = 7, np.random.default_rng(3)
    made = stage_two(K)
    assert made.law().as_stated == "holds" and made.speed == K
    system, slaved = made.system, made.source
    values = {"b": 0.5, "omega": 0.3, "n_c": 0.3, "n_v": 0.9}
    z = dict(zip(system.names, rng.normal(size=8), strict=True))
    x = made.lift(z)
    assert made.project(x) == pytest.approx(list(z.values()), abs=1e-14)
    moved = dict(zip(slaved.names, slaved.compile(values)(0.0, x), strict=True))
    rates = dict(zip(system.names, system.compile(values)(0.0, list(z.values())), strict=True))
    for pair in ("cc", "cv", "vc", "vv"):
        for sector, factor in (("s", K - 1), ("d", -1)):
            expected = K * (moved[f"M_{pair}_same"] + factor * moved[f"M_{pair}_other"])
            assert rates[f"{sector}_{pair}"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_near_symmetry_is_certified_with_a_million_groups() -> None:
    made = stage_two(10**6)
    system, scores = made.system, made.old
    half = Fraction(1, 2)
    parameters = {"b": half, "omega": Fraction(1, 10), **neurons_at(Fraction(20), half)}
    run = enclose(system, dict.fromkeys(system.names, 0), Fraction(6), parameters, order=12, precision=96)
    verdict = run.certify(scores["M_cv_same"] / 50 - sym("s_cv"))
    assert (verdict.as_stated, str(verdict.evidence)) == ("holds", "certificate")
    assert run.certify(sym("s_cv") - scores["M_cv_same"] / 50).as_stated == "fails"


# ---- command line ------------------------------------------------------------------------------------------------


def test_derive_with_K_a_symbol(tmp_path: Path) -> None:
    out = tmp_path / "derive.json"
    done = run_cli("derive", "two_mixture", "--set", "K=symbol", "--json", str(out))
    assert done.exit_code == 0 and "(K - 1)" in done.stdout and done.stdout.count("d/dt") == 22
    result = json.loads(out.read_text())
    assert (result["system"], result["dimension"]) == ("quotient", 22) and result["free_parameters"] == ["K", "b"]
    form = run_cli("derive", "two_mixture", "--system", "stage2", "--set", "K=symbol", "--format", "json")
    system = System.from_json(form.stdout)
    assert len(system.names) == 8 and "K" in system.parameters
    many = run_cli("derive", "two_mixture", "--set", "K=infinity").stdout
    rows = [line for line in many.splitlines() if not line.startswith("#")]
    assert many.count("d/dt") == 22 and "M_cv_others" in many and "K" not in "".join(rows)
    assert "# _others = the sum over all groups of b other than that of a" in many and "# _other =" not in many
    assert r"\frac{d}{dt}" in run_cli("derive", "two_mixture", "--set", "K=symbol", "--format", "latex").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("derive", "--set", "K=1"), "K = 1 is out of range: it must be a whole number of at least 2"),
        (("derive", "--set", "K=2.5"), "K = '2.5' can not be used: it must be a whole number"),
        (
            ("derive", "--set", "L=2", "--set", "K=symbol"),
            "L = 2 is out of range: it must be a whole number of at least 3",
        ),
        (("derive", "--set", "L=symbol"), "L = 'symbol' can not be used: a symbol is not available for it"),
        (("derive", "--system", "full", "--set", "K=symbol"), "so K can not be symbol; quotient, slaved"),
        (
            ("derive", "--system", "stage2", "--set", "K=symbol", "--set", "L=4"),
            "conflicting samples are defined for L",
        ),
        (("derive", "--system", "descent", "--set", "K=infinity"), "a gradient step has no limit for many groups"),
        (("simulate", "--set", "K=symbol"), "K = 'symbol' can not be used: a number is needed here"),
        (("simulate", "--set", "K=1000", "--set", "L=5"), "three-stage training is defined for L = 3, not L = 5"),
    ],
)
def test_mistakes_get_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    done = run_cli(arguments[0], "two_mixture", *arguments[1:])
    assert done.exit_code == 2 and sentence in done.stderr and done.stderr.count("\n") == 1


def test_large_K_systems_are_derived_through_the_family() -> None:
    for name, size in (("quotient", 22), ("slaved", 10), ("stage1", 2), ("stage2", 8), ("descent", 22)):
        system = dynamics.named_system(name, {"K": 10**6, "L": 3})
        assert system.dimension == size and "K" not in system.parameters
    with pytest.raises(ParameterError, match="more than 20000"):
        dynamics.named_system("full", {"K": 10**6, "L": 3})


# ---- figures -----------------------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(("key", "name"), [("5", "fig5"), ("6", "fig6"), ("7", "fig7"), ("law", "law")])
def test_figures_are_written(tmp_path: Path, key: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "STEPS", {3: 2500, 4: 300, 8: 300})
    monkeypatch.setattr(groups, "LAW_GROUPS", (2, 100, 1_000_000))
    files = PAPER.figures[key].draw(tmp_path, silent)
    assert [f.name for f in files] == [f"{name}.png", f"{name}.svg"] and all(f.stat().st_size > 5_000 for f in files)
    if key == "5":
        run = groups.descent_curves(3, 2500)
        assert run["consistent"][-1] < 0.01 and run["conflicting"][100] > 0.65 > 0.1 > run["conflicting"][-1]
        assert np.abs(run["loss"] - (run["consistent"] + run["conflicting"]) / 2).max() < 1e-12


@pytest.mark.nightly
def test_phase_diagram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {0.2: (421.0, 557.9), 0.1: (545.5, 864.8), 0.05: (669.9, 1134.6)}
    for omega, (learned, second) in known.items():  # times since T1 = 3
        found = groups.transitions(omega, 3.0)
        assert found[0] - 3 == pytest.approx(learned, abs=0.06) and found[1] - 3 == pytest.approx(second, abs=0.1)
    monkeypatch.setattr(groups, "PHASE_OMEGA", np.geomspace(0.01, 0.1, 3))
    monkeypatch.setattr(groups, "PHASE_T1", np.geomspace(10.0, 100.0, 5))
    files = PAPER.figures["phase"].draw(tmp_path, silent)
    assert [f.suffix for f in files] == [".png", ".svg"]


def test_the_phase_diagram_needs_no_machine_code() -> None:
    """`make results` installs no extras: in a process without llvmlite the same times come out."""
    code = (
        "import sys; sys.modules['llvmlite'] = None; from derivations.two_mixture.figures import groups; "
        "print(*groups.transitions(0.1, 20.0))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [float(value) for value in out] == pytest.approx(groups.transitions(0.1, 20.0), rel=1e-6)
