"""A paper whose points take a moment, fail, die or are counted, as asked for; and the command line on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from odesys.cli import commands

ROOT = Path(__file__).resolve().parents[1]
#: a paper whose points take a moment, fail, die or are counted, as asked for
SOURCE = """
import os, pathlib, time
from odesys.errors import IntegrationError
from odesys.papers.paper import Paper, Parameter, Simulation

def run(parameters, progress):
    x, y = parameters["x"], parameters["y"]
    time.sleep(parameters["wait"])
    if log := os.environ.get("SWEEP_LOG"):
        with open(log, "a") as file:
            file.write(f"{x!r} {y!r}\\n")
    if y == 13:
        raise IntegrationError("thirteen, is never reached")
    if y == 14:
        raise ZeroDivisionError("a mistake of ours")
    if y == 15:
        os._exit(9)
    events = ({"name": "T", "kind": "stage", "time": x / 3}, {"name": "T", "kind": "stage", "time": 9.0})
    cost = {"steps": y, "seconds": time.perf_counter()}
    return Simulation("run", parameters, {"z": 2 * x**1.5, "loss": y + x / 7}, events, cost, None, {"t": [0.0]})

PAPER = Paper("swept", "A paper to sweep", "none",
              (Parameter("x", 1.0, "a number", low=0, open_low=True), Parameter("y", 1, "a count", int, low=0),
               Parameter("wait", 0.0, "seconds")), {}, {"run": run}, {})
"""


def odesys(*words: object) -> Any:
    return CliRunner().invoke(commands.app, list(map(str, words)), prog_name="odesys")


def refused(*words: object) -> str:
    result = odesys(*words)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1, result.output
    return result.stderr


GRID = ("sweep", "./swept", "--over", "x=log:0.5:8:5", "--over", "y=1,2,3")
