"""Figures of the signgd paper, redrawn."""
