"""Pictures: one look for all of them, phase portraits, proof graphs, live pages.

Nouns: `save_figure`, `phase_portrait`, `page`.
May import: `odesys`, `numerics.flows`.
"""
