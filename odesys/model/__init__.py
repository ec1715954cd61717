"""What a theorist writes down: words, samples, heads, losses, and families of them for every K.

Nouns: `Dictionary`, `Distribution`, `Head`, `Family`.
May import: `odesys.verdicts`, `odesys.expr`, `odesys.exact`.
"""
