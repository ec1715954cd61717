"""Networks trained for real, in weight space, and their distance from the theory.

Nouns: `ProgramNetwork` (one network or several side by side), `compare`.
May import: `odesys` and every other room of numerics.
"""
