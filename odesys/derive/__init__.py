"""From a model and its data to a closed system: paths, their closure, start values, the gradient flow.

Nouns: `Flow` (a model with its closed system), `Closure` (the paths it needs), sign descent.
May import: `odesys.expr`, `odesys.exact`, `odesys.jit`, `odesys.model`, `odesys.tex`. `Flow` is a door like `System`.
"""
