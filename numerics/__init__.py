"""numerics: floats live here. Integration by stages, maps, networks trained for real, and their comparison.

flows       switch by switch, slide by slide, stage by stage: integrate, integrate_stages, Stage, StopWhen, Trajectory,
            clearances
compiled    whole runs in machine code: CompiledFlow
pictures    one look for all of them, phase portraits, proof graphs
maps        gradient descent and the like: iterate
sweeps      many runs, and the powers fitted to them: fit_power_law
networks    finite width, weights really moved: ProgramNetwork, simulate_network, compare

The public names are importable from `odesys`, which lists them.
"""
