"""When two expressions are equal, or one is positive: named rewriting, the zero test, signs, balls.

Nouns: `ZeroResult` (zero, non-zero with a witness, undecided), `Expansion` (multiplied out), balls (rounded outward).
May import: `odesys.verdicts`, `odesys.expr`.
"""
