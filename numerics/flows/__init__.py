"""Flows integrated piece by piece: switches located, slides followed, stages strung together.

Nouns: `Trajectory`, `Stage`, `StopWhen`.
May import: `odesys`.
"""
