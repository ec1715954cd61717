"""Flows run whole in machine code: steps, switches and events in one function.

Nouns: `CompiledFlow`, the kernel (a run), crossings (what a step meets).
May import: `odesys`, `numerics.flows`.
"""
