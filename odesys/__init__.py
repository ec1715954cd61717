"""odesys: closed dynamical systems of transformer training, derived exactly and analysed.

Programs:         Words, Space, Units, maps, Data, softmax, relu, function, norm; AttentionModel for heads by parts
Derivation:       gradient_flow, gradient_descent -> Flow; Flow.quotient() -> Quotient; .slaved() -> Slaved
Any K groups:     Family, SampleTemplate, OtherGroups; family_flow, family_descent -> FamilyFlow
Systems by hand:  System.from_equations
Floats:           integrate, CompiledFlow, iterate, Flow.network, simulate_network, compare, phase_portrait
Claims:           ClaimBook, Verdict; identity, measured, enclose

All public names are in ``__init__.pyi``, which type checkers read and from which this file takes its table. A name is
loaded when it is first used, so that the command line starts without SymPy.

>>> from odesys import System, sym
>>> System.from_equations({"x": sym("y"), "y": -sym("x")}).first_integrals()[0].node
Node(x**2 + y**2)
"""

__version__ = "0.4.0"


def _modules() -> dict[str, str]:
    """Public name -> its module, from the lines ``from module import name as name`` of the stub."""
    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as stub:
        lines = [line.split() for line in stub if line.startswith("from ")]
    return {name: f"{__name__ if module[0] == '.' else ''}{module}" for _, module, _, name, *_ in lines}


_MODULES = _modules()
__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    from importlib import import_module  # not above: an interrupt is one line only once `__main__` has begun

    if name not in _MODULES:
        from difflib import get_close_matches

        hint = "".join(f"; did you mean {near}?" for near in get_close_matches(name, __all__, 1))
        raise AttributeError(f"odesys has no public name {name!r}, odesys.__all__ lists them{hint}", name=name)
    try:
        module = import_module(_MODULES[name])
    except ImportError:
        from .neighbours import find_neighbours

        find_neighbours()  # says so if another package of the same name was found
        module = import_module(_MODULES[name])
    value = getattr(module, name) if hasattr(module, name) else import_module(f"{module.__name__}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
