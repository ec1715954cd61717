"""A paper as data: what it offers, its claims, how they are run, and systems broken on purpose.

Nouns: `Paper`, `ClaimBook`, `BaseLaboratory`.
May import: everything up to `odesys.proofs`.
"""
