"""Figures of the shallow_vit paper, redrawn."""
