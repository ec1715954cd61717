"""Networks trained for real, in weight space, and their distance from the theory.

Nouns: `Network`, `compare`, `Ensemble`.
May import: `odesys` and every other room of numerics.
"""
