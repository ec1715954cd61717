"""From a program and its data to a closed system: paths, their closure, start values, rules of training.

Nouns: `Flow` (a network with its closed system), `Closure` (the paths it needs), `Rule` (how maps move).
May import: everything up to `odesys.tex`. `Flow` is a door like `System`.
"""
