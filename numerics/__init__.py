"""numerics: floats live here. Integration by stages, maps, networks trained for real, and their comparison.

integrate, integrate_stages, Stage, StopWhen    flows, switch by switch, slide by slide and stage by stage
iterate                                         maps (gradient descent and the like)
random_network, simulate_network                finite width: weights really moved, measured as the same path scalars
compare                                         theory against networks over widths and seeds
"""

from .finite_width import Network, random_network
from .integrate import Stage, integrate, integrate_stages
from .iterate import iterate
from .network_runs import compare, simulate_network
from .trajectory import StopWhen, Trajectory

__all__ = [
    "integrate",
    "integrate_stages",
    "Stage",
    "StopWhen",
    "Trajectory",
    "iterate",
    "Network",
    "random_network",
    "simulate_network",
    "compare",
]
