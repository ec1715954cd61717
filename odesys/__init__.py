"""odesys: closed dynamical systems of transformer training, derived exactly and analysed.

Model language:   Dictionary, Sample, Distribution, Head, Value, FixedVector, Neurons, AttentionModel
Derivation:       gradient_flow, gradient_descent -> Flow; Flow.quotient() -> Quotient; .slaved() -> Slaved
Any K groups:     Family, SampleTemplate, OtherGroups; family_flow, family_descent -> FamilyFlow
Systems by hand:  System.from_equations
Floats:           integrate, CompiledFlow, iterate, simulate_network, compare, phase_portrait

All public names are in ``__init__.pyi``, which type checkers read and from which this file takes its table. A name is
loaded when it is first used, so that the command line starts without SymPy.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.2.0"


def _table() -> dict[str, str]:
    """Public name -> where it is, as ``module:name``, read from the stub beside this file."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.name: f"{'odesys.' if node.level else ''}{node.module}:{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


_PLACES = _table()
__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    try:
        value = getattr(import_module(module), attribute)
    except AttributeError:  # a public module, such as graph
        value = import_module(f"{module}.{attribute}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
