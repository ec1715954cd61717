"""odesys: closed dynamical systems of transformer training, derived exactly and analysed.

Model language:   Dictionary, Sample, Distribution, Head, Value, FixedVector, Neurons, AttentionModel
Derivation:       gradient_flow, gradient_descent -> Flow; Flow.quotient() -> Quotient; .slaved() -> Slaved
Any K groups:     Family, Template, Others; family_flow, family_descent -> FamilyFlow
Systems by hand:  System.from_equations

A name is loaded when it is first used, so that the command line starts without SymPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dictionary import Dictionary
    from .distribution import Distribution, Sample
    from .errors import ClosureError, OdesysError
    from .family import Family, Others, Template
    from .family_gradient import FamilyFlow, family_descent, family_flow
    from .flow import Flow, gradient_descent, gradient_flow
    from .model import AttentionModel, FixedVector, Head, Neurons, Value
    from .quotient import Quotient
    from .slaving import Slaved
    from .system import System

__all__ = [
    "Dictionary",
    "Sample",
    "Distribution",
    "Head",
    "Value",
    "FixedVector",
    "Neurons",
    "AttentionModel",
    "gradient_flow",
    "gradient_descent",
    "Flow",
    "Quotient",
    "Slaved",
    "Family",
    "Template",
    "Others",
    "family_flow",
    "family_descent",
    "FamilyFlow",
    "System",
    "OdesysError",
    "ClosureError",
]

__version__ = "0.1.0"

#: public name -> the module it lives in
_HOME = {
    "Dictionary": "dictionary",
    "Sample": "distribution",
    "Distribution": "distribution",
    "Head": "model",
    "Value": "model",
    "FixedVector": "model",
    "Neurons": "model",
    "AttentionModel": "model",
    "gradient_flow": "flow",
    "gradient_descent": "flow",
    "Flow": "flow",
    "Quotient": "quotient",
    "Slaved": "slaving",
    "Family": "family",
    "Template": "family",
    "Others": "family",
    "family_flow": "family_gradient",
    "family_descent": "family_gradient",
    "FamilyFlow": "family_gradient",
    "System": "system",
    "OdesysError": "errors",
    "ClosureError": "errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
