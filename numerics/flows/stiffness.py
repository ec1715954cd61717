"""Is a run slow because it is stiff? Then its explicit steps are as long as stability allows, and others do better."""

from __future__ import annotations

import numpy as np

from odesys.errors import IntegrationError

from .run import Run

EXPLICIT = {
    "auto": 6.0,
    "DOP853": 6.0,
    "Taylor": 6.0,
    "RK45": 3.3,
    "RK23": 2.5,
}  # about how far their regions of stability reach to the left
AT_LIMIT = 0.3  # of that reach: steps this long are held back by stability rather than by accuracy
LARGEST = 400  # states up to which the rates are looked at


def with_stiffness_hint(error: IntegrationError, run: Run) -> IntegrationError:
    """The error with a sentence on stiffness where steps times the fastest decay are at the limit of stability."""
    if (
        run.method not in EXPLICIT
        or run.stiff_from is not None
        or run.slide is not None
        or run.x.size > LARGEST
        or not run.last_step > 0
    ):
        return error
    jacobian = np.asarray(run.compiled.jacobian(run.t, run.x, run.mode.gates), dtype=float)
    if not np.isfinite(jacobian).all():
        return error
    rates = np.linalg.eigvals(jacobian)
    fastest = float(-rates.real.min())
    if fastest * run.last_step < AT_LIMIT * EXPLICIT[run.method]:
        return error
    hint = (
        f"the system is stiff: something decays at rate {fastest:.3g}, which holds explicit steps at "
        f"{run.last_step:.2g}; use method='Rodas5P', 'Radau', 'BDF' or 'LSODA'"
    )
    return IntegrationError(f"{error}; {hint}", **error.objects)
