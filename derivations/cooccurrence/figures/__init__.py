"""Figures of the cooccurrence paper, redrawn: `figure_ID` draws figure ID, `plot_run` a simulated run."""

from .paper_figures import (
    figure_1,
    figure_1clean,
    figure_1full,
    figure_balance,
    figure_finite_n,
    figure_portrait,
    plot_run,
)
