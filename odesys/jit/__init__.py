"""From expressions to code: Python, block code, LLVM assembly and machine code, and systems as JSON.

Nouns: `Compiled` (a system as functions of floats), `MachineCode` (functions by their addresses), loops (functions with
loops). May import: `odesys.verdicts`, `odesys.expr`, `odesys.exact`.
"""
