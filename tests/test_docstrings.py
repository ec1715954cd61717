"""Docstrings of the public names in numpydoc form: every parameter with its type and what it is, results, examples."""

from __future__ import annotations

import inspect
import re
from types import FunctionType
from typing import Any

import pytest

import odesys

numpydoc = pytest.importorskip("numpydoc.docscrape", reason="numpydoc comes with the dev extra")

CALLED = [n for n in odesys.__all__ if isinstance(getattr(odesys, n), type | FunctionType)]
#: classes that nobody makes by calling them
NOT_MADE = {"AsymmetryWarning", "BrokenRunWarning", "Evidence", "Node", "NothingMovesWarning", "Reduction"}


def parsed(value: Any) -> Any:
    return numpydoc.NumpyDocString(inspect.getdoc(value) or "")


def named(value: Any) -> list[str]:
    star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(value).parameters.values()
    return [
        f"{star.get(p.kind, '')}{p.name}" for p in found if not p.name.startswith("_") and p.name not in ("self", "cls")
    ]


def faults(value: Any, wanted: list[str], returns: bool) -> list[str]:
    """What is missing in a docstring; none where it is complete."""
    doc, found = parsed(value), []
    listed = [*doc["Parameters"], *doc["Returns"], *doc["Yields"], *doc["Attributes"]]
    if [p.name for p in doc["Parameters"]] != wanted:
        found.append(f"parameters {[p.name for p in doc['Parameters']]}, not {wanted}")
    for entry in listed:
        if not entry.type or not "".join(entry.desc).strip():
            found.append(f"{entry.name or entry.type} has no type or no description")
        if re.search(r"[.;]$", entry.type) or len(entry.type.split()) > 12:
            found.append(f"the type of {entry.name} is a sentence: {entry.type}")
    if returns and not doc["Returns"] and not doc["Yields"]:
        found.append("does not say what it returns")
    if not "".join(doc["Summary"]).strip() or not doc["Examples"]:
        found.append("has no summary or no examples")
    return found


def test_there_are_many_public_names() -> None:
    assert len(CALLED) > 150 and set(CALLED) >= NOT_MADE


@pytest.mark.parametrize("name", CALLED)
def test_a_public_name_says_what_it_takes_and_gives(name: str) -> None:
    value = getattr(odesys, name)
    wanted = [] if name in NOT_MADE else named(value)
    gives = isinstance(value, FunctionType) and inspect.signature(value).return_annotation not in ("None", None)
    assert not faults(value, wanted, gives)


def methods() -> list[tuple[str, Any]]:
    found = {}
    for name in CALLED:
        value = getattr(odesys, name)
        for method, what in vars(value).items() if isinstance(value, type) else ():
            function = getattr(what, "fget", None) or getattr(what, "func", None) or getattr(what, "__func__", what)
            own = getattr(function, "__qualname__", "").startswith(f"{name}.")
            if own and not method.startswith("_") and isinstance(function, FunctionType):
                found[f"{name}.{method}"] = function
    return sorted(found.items())


def test_methods_say_what_they_do_and_list_parameters_with_types() -> None:
    found = dict(methods())
    assert len(found) > 150
    assert not [name for name, method in found.items() if not (method.__doc__ or "").strip()]
    listed = {name: method for name, method in found.items() if parsed(method)["Parameters"]}
    wrong = {name: faults(method, named(method), False) for name, method in listed.items()}
    real = {name: [f for f in found if "no examples" not in f] for name, found in wrong.items()}
    assert len(listed) > 35 and not {name: found for name, found in real.items() if found}


def test_the_check_can_fail() -> None:
    def old(x: int) -> int:
        """Old form.

        Parameters
        ----------
        x : the number, which is large.
        """
        return x

    found = faults(old, ["x"], True)
    assert len(found) == 4, "no description, a sentence as type, no result, no examples"
