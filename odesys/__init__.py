"""odesys: closed dynamical systems of transformer training, derived exactly and analysed.

Model language:   Dictionary, Sample, Distribution, Head, Value, FixedVector, Neurons, AttentionModel
Derivation:       gradient_flow, gradient_descent -> Flow; Flow.quotient() -> Quotient; .slaved() -> Slaved
Systems by hand:  System.from_equations
"""

from .dictionary import Dictionary
from .distribution import Distribution, Sample
from .errors import ClosureError, OdesysError
from .flow import Flow, gradient_descent, gradient_flow
from .model import AttentionModel, FixedVector, Head, Neurons, Value
from .quotient import Quotient
from .slaving import Slaved
from .system import System

__all__ = [
    "Dictionary", "Sample", "Distribution",
    "Head", "Value", "FixedVector", "Neurons", "AttentionModel",
    "gradient_flow", "gradient_descent", "Flow", "Quotient", "Slaved",
    "System",
    "OdesysError", "ClosureError",
]  # fmt: skip

__version__ = "0.1.0"
