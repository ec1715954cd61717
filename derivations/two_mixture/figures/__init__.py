"""Figures of the two_mixture paper, redrawn: `figure_ID` draws figure ID, `plot_run` a simulated run."""

from .groups import figure_5, figure_6, figure_7, figure_law, figure_phase
from .paper_figures import figure_1, figure_2, figure_3, figure_4, figure_sliding, plot_run
