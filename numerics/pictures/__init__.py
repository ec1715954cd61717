"""Pictures: one look for all of them, phase portraits, proof graphs.

Nouns: `save_figure`, `phase_portrait`.
May import: `odesys`, `numerics.flows`.
"""
