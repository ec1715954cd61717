"""From expressions to code: Python, block code, LLVM assembly and machine code, and systems as JSON.

Nouns: `CompiledField` (a system as functions of floats), `Code` (a piece of machine code), loops (functions with
loops). May import: `odesys.expr`, `odesys.exact`.
"""
