"""Figures of the signgd paper, redrawn: `figure_ID` draws figure ID, `plot_run` a simulated run."""

from .deeper import figure_14, figure_15, figure_tables
from .optimisers import (
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
    figure_10,
    figure_11,
    figure_12,
    figure_13,
    figure_16,
    figure_17,
)
from .panels import plot_run
from .paper_figures import figure_1, figure_18, figure_19, figure_alignment, figure_overlap
from .power_laws import figure_laws, figure_trap
