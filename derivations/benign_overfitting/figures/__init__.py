"""Figures of the benign_overfitting paper, redrawn."""
