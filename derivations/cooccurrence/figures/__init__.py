"""Figures of the cooccurrence paper, redrawn."""
