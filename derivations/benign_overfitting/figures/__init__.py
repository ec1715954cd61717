"""Figures of the benign_overfitting paper, redrawn: `figure_ID` draws figure ID, `plot_run` a simulated run."""

from .image_figure import figure_2
from .paper_figures import figure_1, figure_1finite, figure_1theory, figure_3, figure_4, figure_boundary, plot_run
