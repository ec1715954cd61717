"""What an expression is: exact nodes, arrays of them, right-hand sides and the `System` they make.

Nouns: `Node` (one exact scalar), `Block` (one exact array), `System` (named states with their equations).
May import: `odesys.errors` and `odesys.verdicts` only. `System` is a door: its methods load later rooms when called.
"""
