"""What a theorist writes down: words, samples, networks, losses, and families of them for every K.

Nouns: `Dictionary`, `Distribution`, `AttentionModel`, `Family`.
May import: `odesys.expr`, `odesys.exact`.
"""
