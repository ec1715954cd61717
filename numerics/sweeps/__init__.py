"""Many runs: grids of parameters, spread over processes, kept as they finish.

Nouns: `Plan` (the points of a grid), `SweepStore` (their rows on disk), cells (independent runs).
May import: `odesys`, `numerics.flows`, `numerics.compiled`, `numerics.pictures`.
"""
