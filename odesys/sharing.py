r"""Names for display: softmax rows and subexpressions used more than once become short symbols with definitions.

A right-hand side from `graph` is exact but flat. Three exact rewritings, all on nodes, make it readable:

1. what all terms of a sum share is pulled out, first within the terms of one sample (same gates, same loss slope);
2. :math:`e^{a_j}/\sum_k e^{a_k}` becomes an entry of a softmax row;
3. what is used more than once and is not small becomes a part with a name; a sum inside a longer sum counts as used.

Nothing here depends on what else was built before: terms are put in an order of their own (`Order`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from . import graph
from .graph import ONE, Node, Number
from .loss_functions import FLOAT  # placeholder
