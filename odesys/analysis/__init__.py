"""What can be said about a system: who drives whom, equilibria, integrals, linear parts, switching surfaces.

Nouns: dependency graph, `Equilibrium`, `FirstIntegral`, `LinearSystem`.
May import: everything up to `odesys.reduce`.
"""
