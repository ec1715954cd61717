"""Figures of the shallow_vit paper, redrawn: `figure_ID` draws figure ID, `plot_run` a simulated run."""

from .attention import figure_4, figure_5, figure_6, figure_7, figure_8
from .paper_figures import figure_1a, figure_1b, figure_2, figure_3, plot_run
