"""Runs of AUTO (the package auto-07p of Debian) as a batch: a branch of equilibria, with eigenvalues of its own.

AUTO differentiates the field numerically, corrects points by its own Newton method and marks where stability changes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import sympy as sp

from odesys import System

OBJECTS = Path("/usr/lib/auto-07p/lib")
MISSING = not OBJECTS.is_dir() or not shutil.which("gcc") or not shutil.which("gfortran")
KINDS = {1: "branch point", 2: "fold", 3: "Hopf", 5: "fold", 6: "branch point"}
HEAD = """#include <auto_f2c.h>
int pvls(integer n, const doublereal *u, doublereal *p) { return 0; }
int bcnd(integer n, const doublereal *p, const integer *i, integer k, const doublereal *a, const doublereal *b,
         integer j, doublereal *f, doublereal *d) { return 0; }
int icnd(integer n, const doublereal *p, const integer *i, integer k, const doublereal *u, const doublereal *o,
         const doublereal *d, const doublereal *q, integer j, doublereal *f, doublereal *e) { return 0; }
int fopt(integer n, const doublereal *u, const integer *i, const doublereal *p, integer j, doublereal *f,
         doublereal *d, doublereal *e) { return 0; }
"""


@dataclass(frozen=True)
class Row:
    """A point of a branch: what AUTO marks it as, the parameter, the states."""

    kind: str
    parameter: float
    states: tuple[float, ...]


@dataclass(frozen=True)
class Branch:
    """The points of a branch, and the eigenvalues at its start."""

    rows: tuple[Row, ...]
    eigenvalues: tuple[complex, ...]


def auto_branch(
    system: System,
    values: Mapping[str, float],
    start: Mapping[str, float],
    parameter: str,
    end: float,
    folder: Path,
    points: int = 4000,
) -> Branch:
    """The branch of equilibria through `start` as one parameter goes to `end`; it may be one the field has not."""
    others = [name for name in system.parameters if name != parameter]
    numbers = [float(values.get(name, 0)) for name in (parameter, *others)]
    symbols = {sp.Symbol(n, real=True): sp.Symbol(f"u_{i}") for i, n in enumerate(system.names)}
    symbols |= {sp.Symbol(n, real=True): sp.Symbol(f"p_{i}") for i, n in enumerate((parameter, *others))}
    code = [HEAD, "int func(integer n, const doublereal *u, const integer *icp, const doublereal *par, integer ijac,"]
    code += ["         doublereal *f, doublereal *dfdu, doublereal *dfdp) {"]
    code += [f"  double u_{i} = u[{i}];" for i in range(system.dimension)]
    code += [f"  double p_{i} = par[{i}];" for i in range(len(numbers))]
    code += [f"  f[{i}] = {sp.ccode(rhs.xreplace(symbols))};" for i, rhs in enumerate(system.rhs)]
    code += ["  return 0; }", "int stpnt(integer n, doublereal t, doublereal *u, doublereal *par) {"]
    code += [f"  par[{i}] = {value!r};" for i, value in enumerate(numbers)]
    code += [f"  u[{i}] = {float(start[name])!r};" for i, name in enumerate(system.names)]
    (folder / "field.c").write_text("\n".join([*code, "  return 0; }", ""]))
    (folder / "fort.3").write_text("")
    low, high = sorted((numbers[0], end))
    step = (end - numbers[0]) / 400
    constants = f"""NDIM={system.dimension}, IPS=1, IRS=0, ILP=1, ICP=[1], NPAR={len(numbers)}
NTST=20, NCOL=4, IAD=3, ISP=2, ISW=1, IPLT=0, NBC=0, NINT=0
NMX={points}, NPR=0, MXBF=0, IID=2, ITMX=12, ITNW=8, NWTN=3, JAC=0, EPSL=1e-10, EPSU=1e-10, EPSS=1e-8
DS={step!r}, DSMIN={abs(step) / 1e5!r}, DSMAX={4 * abs(step)!r}, IADS=1, RL0={low!r}, RL1={high!r}
"""
    build = ["gcc", "-c", "field.c"]
    link = ["gfortran", "-fopenmp", "field.o", *map(str, sorted(OBJECTS.glob("*.o"))), str(OBJECTS / "libauto_c.a")]
    for command in (build, [*link, "-o", "field.exe"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    subprocess.run(["./field.exe"], cwd=folder, check=True, capture_output=True, timeout=120, input=constants.encode())
    rows = []
    for line in (folder / "fort.7").read_text().splitlines():
        words = line.split()
        if words[0] != "0":
            kind = KINDS.get(int(words[2]) % 10, "")
            rows.append(Row(kind, float(words[4]), tuple(map(float, words[6 : 6 + system.dimension]))))
    found = re.findall(r"^ +1 +1 +Eigenvalue +\d+: +(\S+) +(\S+)", (folder / "fort.9").read_text(), re.MULTILINE)
    eigenvalues = tuple(complex(float(re_), float(im)) for re_, im in found[: system.dimension])
    return Branch(tuple(rows), eigenvalues)
