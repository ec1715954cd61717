"""Stepwise training: maps iterated, and the cycles they end in.

Nouns: `iterate`, `Alternation` (a cycle of two steps).
May import: `odesys`, `numerics.flows`, `numerics.compiled`, `numerics.pictures`.
"""
