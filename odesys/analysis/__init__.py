"""What can be said about a system: who drives whom, equilibria, integrals, linear parts, switching surfaces.

Nouns: dependency graph, `Equilibrium`, `FirstIntegral`, `LinearSystem`, `Lumping`, `LinearSymmetry`.
May import: everything up to `odesys.reading`.
"""
