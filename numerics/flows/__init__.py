"""Flows integrated piece by piece: switches located, slides followed, stages strung together.

Nouns: `Trajectory`, `Stage`, `StopWhen`.
May import: `odesys` only. `integrate` is a door: it hands a long run on to compiled code.
"""
