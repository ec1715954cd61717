"""Systems as people have them: text, equations of SymPy, files of other programs.

Nouns: a grammar (text to expressions, never run as code), a Reading (a system with its numbers, and what was left out).
May import: everything up to `odesys.reduce`.
"""
