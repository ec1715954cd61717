"""Formulas for people: systems and expressions as TeX, MathML and plain text.

Nouns: reading order (what comes first in print), display names (what gets a symbol of its own), documents.
May import: `odesys.verdicts`, `odesys.expr`, `odesys.exact`, `odesys.jit`, `odesys.model`, `odesys.program`.
"""
