"""A network as a function you write down: spaces, maps, expressions in them, data and losses.

A program is a plain Python function of one sample; calling it on the matrix of its tokens gives an `Expr`. `reading`
turns expressions into blocks over path scalars.
"""
