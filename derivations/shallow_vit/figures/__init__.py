"""Figures of the shallow_vit paper, redrawn: `figure_ID` draws figure ID, `plot_run` a simulated run."""

from .attention import figure_4, figure_5, figure_5_full, figure_6, figure_6_full, figure_7, figure_8, figure_8_full
from .paper_figures import (
    figure_1a,
    figure_1a_full,
    figure_1b,
    figure_1b_full,
    figure_2,
    figure_2_full,
    figure_3,
    figure_3_full,
    plot_run,
)
