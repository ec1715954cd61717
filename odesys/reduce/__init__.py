"""From a system to a smaller one, with the way back.

Nouns: `Quotient` (one variable per orbit), `Slaved` (self-scores eliminated), `FamilyFlow` (every K at once).
May import: everything up to `odesys.derive`.
"""
