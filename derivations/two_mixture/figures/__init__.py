"""Figures of the two_mixture paper, redrawn."""
