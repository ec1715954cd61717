"""What no rounding can break: bounds on regions, minima over boxes, enclosed trajectories.

Nouns: `Region` (where a bound is asked for), `BoundResult` (what was found), `Enclosure` (a trajectory in balls).
May import: everything up to `odesys.analysis`.
"""
