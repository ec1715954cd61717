"""Figures of the shallow vision transformer: what must be visible is there, and the files are written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from derivations.shallow_vit import PAPER
from derivations.shallow_vit.figures import attention, paper_figures, sizes
from derivations.shallow_vit.special import bounds, sparsify, symmetric_runs, training_sweeps
from odesys import new_figure
from odesys.errors import ParameterError
from odesys.terminal import silent


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "cache"))


def test_simulations_can_be_plotted(tmp_path: Path) -> None:
    run = PAPER.protocols["symmetric"](PAPER.read_parameters({}), silent)
    assert run.plot is not None and {f.name for f in run.plot(tmp_path)} == {"run.png", "run.svg"}


def test_few_samples_fail_and_many_succeed(tmp_path: Path) -> None:
    size = replace(sizes.QUICK, alphas=(0.48, 0.35), samples=(4, 512))
    cases = paper_figures.map_cases(size=size)
    losses = paper_figures.success_map(cases, 6, silent, tmp_path)
    assert losses.shape == (2, 2, 6)
    assert (losses[:, 1] < size.level).all() and losses[1, 0].mean() > size.level
    again = paper_figures.success_map(cases, 6, silent, tmp_path)
    assert (again == losses).all()


def test_attention_of_the_token_networks_orders_queries_and_margins() -> None:
    case = replace(attention.ATTENTION, m=60, N=10, L=20, alpha_c=0.1)
    one, more = (attention.attention_run(replace(case, margin=margin)) for margin in (1.0, 20.0))
    assert one.table["rel"][-1] < more.table["rel"][-1] < 0.95
    assert more.table["rel_s"][-1] > more.table["rel_n"][-1] > more.table["rel_c"][-1]
    assert bounds.token_ceiling(case) == pytest.approx(bounds.attention_ceiling(10, 2))


def test_removal_table_is_by_rule_and_fraction(tmp_path: Path) -> None:
    case = replace(sparsify.EXPERIMENT, N=20, L=20, m=40, alpha_c=0.1)
    table = attention.removal_table(case, ("random", "irrelevant"), 2, silent, tmp_path, (0.0, 0.3))
    assert table["random"].shape == (2, 2) and (table["random"][0] == table["irrelevant"][0]).all()
    assert (table["irrelevant"][1] < table["irrelevant"][0]).all()


def test_a_row_of_the_map_is_trained_at_once_as_one_by_one(tmp_path: Path) -> None:
    (row, *_) = paper_figures.map_cases(size=replace(sizes.QUICK, samples=(4, 16)))
    together = paper_figures.success_map([row], 2, silent, None)
    for k, case in enumerate(row):
        assert together[0, k].tolist() == pytest.approx(training_sweeps.generalisation((case, (0, 1))), abs=1e-12)
    with pytest.raises(ParameterError, match="differ by more than N"):
        paper_figures.success_map([[row[0], replace(row[0], N=8, alpha_s=0.6)]], 1, silent, None)


def test_two_mirrored_neurons_follow_the_symmetric_system() -> None:
    case = replace(attention.many_case(5), margin=3.0)
    pi = symmetric_runs.living(case, count=500)
    run, theory = attention.mirrored_neurons(case, pi), symmetric_runs.flow(case, "auto", pi, rtol=1e-8)
    wanted = symmetric_runs.scalars(dict(zip(theory.names, theory.end_state, strict=True)), case, pi)
    assert run.eta_T == pytest.approx(theory.end_time, abs=0.04)
    for name in ("rel_s", "rel_c", "rel_n", "rel"):
        assert run.table[name][-1] == pytest.approx(wanted[name], abs=2e-3), name


def test_figures_near_the_papers_size_say_how_large_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(attention, "save_figure", lambda fig, folder, name: said.append(fig.get_supxlabel()) or [])
    few = {"images": replace(sizes.QUICK.images, steps=2), "pictures": 1, "shares": (0.0, 1.0), "workers": 1}
    for size in (sizes.QUICK, sizes.FULL):
        attention.figure_6(tmp_path, size=replace(size, **few))
    assert said[0] == "" and "$m = 40$" in said[1] and said[1].endswith("1 trials")
    assert list((tmp_path / "cache").rglob("*.json")), "runs of long figures are kept"
    fig, _ = new_figure()
    sizes.say_size(fig, sizes.FULL, sizes.FULL.removal, 3, patterns=(10, 15, 20))
    assert fig.get_supxlabel().startswith("$M = 10, 15, 20$, "), "all numbers of patterns that are drawn"


@pytest.mark.nightly
@pytest.mark.parametrize("key", [key for key in PAPER.figures if key != "proof" and not key.endswith("_full")])
def test_every_figure_is_drawn(key: str, tmp_path: Path) -> None:
    seen: list[float] = []
    files = PAPER.figures[key].draw(tmp_path, lambda what, done: seen.append(done))
    assert [file.name for file in files] == [f"{key}.png", f"{key}.svg"] and seen
    assert not list((tmp_path / "cache").rglob("*.json")), "finished runs are forgotten when the figure is drawn"
    assert np.isfinite(seen).all()
