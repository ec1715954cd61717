"""numerics: floats live here. Integration by stages, maps, networks trained for real, and their comparison.

flows       switch by switch, slide by slide, stage by stage: integrate, integrate_stages, Stage, StopWhen, Trajectory
compiled    whole runs in machine code: CompiledFlow
pictures    one look for all of them, phase portraits, proof graphs
maps        gradient descent and the like: iterate
sweeps      many runs, and the powers fitted to them: fit_power_law
networks    finite width, weights really moved: Network, random_network, simulate_network, compare

The public names are importable from here and from `odesys`, which lists them.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    import odesys

    if not odesys.place(name).startswith(f"{__name__}."):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(odesys, name)
