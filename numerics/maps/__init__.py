"""Stepwise training: maps iterated, and the cycles they end in.

Nouns: `iterate`, `Cycle`.
May import: `odesys`, `numerics.flows`.
"""
