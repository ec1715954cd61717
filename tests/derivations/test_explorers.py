"""The explorer of every paper: small enough, and in a browser it says what the paper's own protocol says."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odesys import Explorer
from odesys.report.explorer import LARGEST, fragment
from tests.browser import Browser, browser
from tests.live_pages import needs_browser, show, solve, times

pytestmark = [pytest.mark.slow, needs_browser]
ROOM = 1_500  # bytes left for the next change
CASES = {  # n = 12 of cooccurrence has the same 113 variables and is derived on the way to every n
    "two_mixture": {},
    "benign_overfitting": {},
    "signgd": {},
    "shallow_vit": {},
    "cooccurrence": {"n": "12"},
}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as session:
        yield session


def parameters(paper: str, **more: str) -> dict[str, Any]:
    return import_module(f"derivations.{paper}").PAPER.read_parameters({**CASES[paper], **more})  # type: ignore[no-any-return]


def explorer(paper: str) -> Explorer:
    return import_module(f"derivations.{paper}.explorer").explorer(parameters(paper))  # type: ignore[no-any-return]


def opened(paper: str, chromium: Browser, folder: Path) -> None:
    """Show the explorer of a paper, which is small enough and starts without a word in the console."""
    made = explorer(paper)
    assert len(fragment(made).script.encode()) <= LARGEST - ROOM
    show(chromium, folder, made, width=375)
    assert chromium.console() == []
    assert chromium.execute_script("return document.documentElement.scrollWidth") == 375
    for protocol in made.protocols:
        assert solve(chromium, protocol.name)["problem"] == ""


def test_two_mixture(chromium: Browser, tmp_path: Path) -> None:
    from derivations.two_mixture import protocol

    opened("two_mixture", chromium, tmp_path)
    for values in ({}, {"K": 3.0, "omega": 0.03, "b": 0.7, "T1": 12.0, "x_star": 1.5, "eps": 0.02}):
        texts = {name: f"{value:g}" for name, value in values.items()}
        run = protocol.three_stage_run(parameters("two_mixture", **texts))
        wanted = {event.name: event.time for event in run.events}
        found = solve(chromium, "three-stage", **values)
        got = {event["name"]: event["time"] for event in found["log"]}
        assert got["T₂"] == pytest.approx(wanted["T2"], rel=1e-8)
        assert got["T₃"] == pytest.approx(wanted["T3"], rel=1e-8)
        assert found["x"] == pytest.approx(run.end_state, abs=1e-8)
        assert times(found, "switch") == pytest.approx(run.times_of("switch"), rel=1e-8)


def test_two_mixture_slides(chromium: Browser, tmp_path: Path) -> None:
    """K = 3, L = 4: the family in the browser against the quotient with all samples listed."""
    from derivations.two_mixture import protocol

    show(chromium, tmp_path, explorer("two_mixture"))
    run = protocol.simultaneous_run(parameters("two_mixture", K="3", L="4", t_end="300"))
    found = solve(chromium, "simultaneous-4", K=3, t_end=300)
    assert len(run.slides) == 2
    wanted = sorted((slide.start, slide.end) for slide in run.slides)
    assert times(found, "slide") == pytest.approx(np.ravel(wanted), abs=1e-6)
    assert found["x"] == pytest.approx(run.end_state, abs=1e-6)


def test_benign_overfitting(chromium: Browser, tmp_path: Path) -> None:
    from derivations.benign_overfitting import protocol
    from derivations.benign_overfitting.setting import Case
    from derivations.benign_overfitting.special import mean_field

    opened("benign_overfitting", chromium, tmp_path)
    kappa = Case.of(parameters("benign_overfitting")).kappa
    for values in ({}, {"mu": 12.0, "N": 20.0, "C_p": 6.0, "eps": 0.02}):
        texts = {name: f"{value:g}" for name, value in values.items()} | {"kappa": repr(kappa)}
        case = Case.of(known := parameters("benign_overfitting", **texts))
        run = mean_field.run_case(case, known["eps"], frozen=False, rtol=1e-11, method="DOP853")
        found = solve(chromium, "mean-field", **values)
        got = {event["name"]: event["time"] for event in found["log"]}
        assert got["T₃"] == pytest.approx(run.end_time, rel=1e-8)
        assert found["x"] == pytest.approx(run.end_state, rel=1e-7, abs=1e-9)
        grid = np.linspace(0.0, run.end_time, 4001)
        regime, events = protocol.stages(case, protocol.columns_of(run, grid))
        by = {"benign": "signal", "harmful": "first noise"}.get(regime, "")
        for event in events[:-1]:  # the protocol takes the first of its rows, the page the moment itself
            name = f"{event['name'].replace('1', '₁').replace('2', '₂')} ({by})"
            if name in got:
                assert 0 <= event["time"] - got[name] <= 1.01 * grid[1]
            else:
                assert event["time"] <= 1.01 * grid[1]  # so from the start


def test_signgd(chromium: Browser, tmp_path: Path) -> None:
    from derivations.signgd.explorer import END, SIZE
    from derivations.signgd.setting import DISJOINT, Case
    from derivations.signgd.special.recursion import draw
    from derivations.signgd.special.sign_flow import integrate_flow

    opened("signgd", chromium, tmp_path)
    small = {"supports": str(DISJOINT), "n": str(SIZE), "m_k": str(SIZE)}
    for values in ({}, {"sigma_0": 0.02, "mu": 2.0}):
        texts = {name: f"{value:g}" for name, value in values.items()}
        case = Case.of(known := parameters("signgd", **small, **texts))
        run = integrate_flow(draw(case, known["seed"]), END)
        found = solve(chromium, "flow", **values)
        assert found["x"] == pytest.approx(run.end_state, abs=1e-6)
        assert times(found, "switch") == pytest.approx(run.times_of("switch"), abs=1e-8)
        assert times(found, "slide") == pytest.approx([t for s in run.slides for t in (s.start, s.end)], abs=1e-6)
    assert run.slides or len(run.events) > 5


def test_shallow_vit(chromium: Browser, tmp_path: Path) -> None:
    from derivations.shallow_vit.explorer import attention
    from derivations.shallow_vit.setting import Case
    from derivations.shallow_vit.special import symmetric_runs as reduced
    from odesys import System, sym

    opened("shallow_vit", chromium, tmp_path)
    pi = reduced.living(Case.of(parameters("shallow_vit")))
    for gates, values in (("auto", {}), ("paper", {}), ("auto", {"M": 7.0, "alpha_c": 0.1, "margin": 2.0})):
        texts = {name: f"{value:g}" for name, value in values.items()}
        case = Case.of(parameters("shallow_vit", **texts))
        run = reduced.flow(case, gates, pi)
        found = solve(chromium, gates, **values)
        assert times(found, "event") == pytest.approx([run.end_time], rel=1e-8)
        assert found["x"] == pytest.approx(run.end_state, abs=1e-7)
        assert times(found, "slide") == pytest.approx([t for s in run.slides for t in (s.start, s.end)], abs=1e-6)
        seen = reduced.scalars(run.final, case, pi)
    shown = System.from_equations(
        {name: 0 * sym(name) for name in run.names},
        ["M", "alpha_s", "alpha_c", "beta"],
        observables=attention(sym("beta")),
    )
    known = {"M": case.M, "alpha_s": case.alpha_s, "alpha_c": case.alpha_c, "beta": case.beta}
    drawn = shown.compile(known).observables(0.0, run.end_state)
    assert {round(v, 9) for v in drawn.values()} <= {round(float(v), 9) for v in seen.values()}


def test_cooccurrence(chromium: Browser, tmp_path: Path) -> None:
    from derivations.cooccurrence import dynamics, protocol, setting

    opened("cooccurrence", chromium, tmp_path)
    known = parameters("cooccurrence")
    systems = {"kernel": dynamics.every_n(known["L"]), "mean-field": dynamics.mean_field(known["n"], known["L"])}
    runs = {"kernel": protocol.kernel(known), "mean-field": protocol.mean_field(known)}
    for name, run in runs.items():
        found = solve(chromium, name)
        wanted = [event["time"] for event in run.events]
        assert times(found, "event") == pytest.approx(wanted, rel=1e-6)  # the protocol's LSODA has rtol 1e-9
        final = dict(zip(systems[name].names, found["x"], strict=True))
        unit = protocol.units(systems[name], setting.scales(known)) if name == "mean-field" else {}
        in_units = {state: value * unit.get(state, 1.0) for state, value in final.items()}  # of the paper
        assert in_units == pytest.approx({state: run.final[state] for state in final}, rel=1e-6, abs=1e-8)
