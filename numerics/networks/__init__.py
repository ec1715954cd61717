"""Networks trained for real, in weight space, and their distance from the theory.

Nouns: `Network`, `compare`, `Ensemble`.
May import: `odesys`, `numerics.flows`, `numerics.compiled`, `numerics.maps`.
"""
