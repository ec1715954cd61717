"""A network as a function you write down: spaces, maps, expressions in them, data, and what a program reads.

Nouns: `Words`, `Space`, `Units` (what indices are), `Expr` (what is written), `Data`, `Program` (loss and paths read),
`AttentionModel` (heads given by their parts, as one program).
May import: `odesys.verdicts`, `odesys.expr`, `odesys.exact`, `odesys.jit`, `odesys.model`.
"""
