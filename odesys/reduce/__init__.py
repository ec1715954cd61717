"""From a system to a smaller one, with the way back.

Nouns: `Reduction` (system, source, lift, project, law), of which `Quotient` (one variable per orbit), `Slaved`
(self-scores eliminated), `FamilyFlow` (every K at once), `InvariantSubspace` and `InNewVariables` are instances.
May import: everything up to `odesys.derive`.
"""
