"""Peers, each run in a process of its own: python -m benchmarks.peers NAME prints one JSON object.

Every peer gives named rows: seconds of one call, seconds to get ready, and the error of the end against the reference.
A row is also given in yardsticks, a piece of NumPy timed in the same process, so that rows of different processes can
be compared.
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from . import task

Rows = dict[str, dict[str, Any]]
STAGE_TWO = "field of the 36-variable block of stage 2"
TRAJECTORY = "trajectory of all 80 variables"
STEP = "gradient descent step, m = 1024"
FIELD = "field of all 80 variables"
SPIN = "integrate three states to t = 100"  # from the second run on: code is looked up
SPIN_END = 100.0
SPIN_RUN = {"rtol": 1e-9, "atol": 1e-12}
WEIGHTS = "2 heads, 8 samples"


def _row(
    work: Callable[[], Any], size: str, ready: float = 0.0, error: float | None = None, share: int = 1
) -> dict[str, Any]:
    return {"seconds": task.seconds(work) / share, "size": size, "ready": ready, "error": error}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return work(), time.process_time() - began


def stage_two_block() -> Any:
    """Scores and self-scores of the plus head in stage 2, neurons as parameters: 16 + 10 + 10 equations."""
    from derivations.two_mixture import dynamics
    from odesys.analysis.switching import hold_gates

    system = dynamics.full_flow("stage2").system.substitute({"b": task.graph.num("1/2")})
    system = hold_gates(system, dict.fromkeys(range(len(system.surfaces)), 1)).freeze_still()
    plus = [n for n in system.names if "_p_" in n]
    from odesys.expr.field import ScalarField
    from odesys.expr.system import System

    nodes = [node for name, node in system.equations.items() if name in plus]
    rest = tuple(n for n in system.names if n not in plus)
    return System(tuple(plus), ScalarField(tuple(nodes), {}), (*system.parameters, *rest))


def stage_two_point(block: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A point of the block, its parameters, and the field there by straight-line Python code."""
    rng = np.random.default_rng(0)
    x, p = rng.normal(size=len(block.names)) / 2, rng.normal(size=len(block.parameters)) / 2
    return x, p, block.compile(dict(zip(block.parameters, p, strict=True)), "scalar")(0.0, x)


def odesys() -> Rows:
    """Compiled flows: through the quotient, the full system, and one evaluation of a field."""
    from derivations.two_mixture import dynamics
    from derivations.two_mixture.compare import start_network
    from numerics.compiled.compiled_flow import CompiledFlow
    from numerics.flows.integrate import integrate

    quotient = dynamics.reduced("simultaneous")
    z0, span = quotient.project(task.start()), (task.START, task.END)
    given = {"b": task.BIAS}
    rows: Rows = {}

    def through(flow: CompiledFlow) -> tuple[np.ndarray, str]:
        run = flow.run(z0, span, given, rtol=task.RTOL)
        return np.asarray(quotient.lift(run.states))[-1], _work(run, quotient.system.compile(given))

    flow, ready = _timed(lambda: CompiledFlow(quotient.system))
    _, more = _timed(lambda: flow.run(z0, span, given, rtol=task.RTOL))
    end, size = through(flow)
    rows[f"{TRAJECTORY}, through the quotient"] = _row(
        lambda: quotient.lift(flow.run(z0, span, given, rtol=task.RTOL).states), size, ready + more, task.end_error(end)
    )
    whole, ready = _timed(lambda: CompiledFlow(task.full()))
    run, more = _timed(lambda: whole.run(task.start(), span, rtol=task.RTOL))
    rows[TRAJECTORY] = _row(
        lambda: whole.run(task.start(), span, rtol=task.RTOL),
        _work(run, task.full().compile()),
        ready + more,
        task.end_error(run.end_state),
    )
    system, z = dynamics.full_flow("simultaneous").system, task.start()
    compiled, ready = _timed(lambda: system.compile(given))
    found, more = _timed(lambda: compiled(0.0, z))
    rows[FIELD] = _row(
        lambda: compiled(0.0, z),
        f"80 states, {compiled.operations} operations",
        ready + more,
        task.field_error(found),
    )
    body = task.rigid_body()
    run, ready = _timed(lambda: integrate(body, task.SPIN, (0.0, SPIN_END), **SPIN_RUN))
    rows[SPIN] = _row(
        lambda: integrate(body, task.SPIN, (0.0, SPIN_END), **SPIN_RUN),
        f"3 states, {run.cost.steps} steps",
        ready,
        task.spin_error(SPIN_END, run.end_state),
    )
    block = stage_two_block()
    x, p, expected = stage_two_point(block)
    compiled, ready = _timed(lambda: block.compile(dict(zip(block.parameters, p, strict=True)), "native"))
    found, more = _timed(lambda: compiled(0.0, x))
    rows[STAGE_TWO] = _row(
        lambda: compiled(0.0, x),
        f"36 states, {compiled.operations} operations",
        ready + more,
        float(np.abs(found - expected).max()),
    )
    net = start_network(1024, 0, {"K": 2, "omega": task.OMEGA, "b": task.BIAS})
    nets = net.flow.networks(range(100), 1024, omega=task.OMEGA, parameters=given)
    rows[STEP] = _row(lambda: net.descend(0.1, 50), WEIGHTS, share=50)
    rows[f"{STEP}, one of 100 seeds"] = _row(lambda: nets.descend(0.1, 10), WEIGHTS, share=1000)
    return rows


def _work(run: Any, compiled: Any) -> str:
    """States, operations of the field, and steps of a run."""
    return f"{len(run.names)} states, {compiled.operations} operations, {run.cost.steps} steps"


def numpy() -> Rows:
    """Hand-written vectorised NumPy under SciPy's DOP853."""
    from scipy.integrate import solve_ivp

    matrices = task.Matrices()
    z0 = matrices.pack(task.start())

    def work() -> Any:
        return solve_ivp(matrices.field, (task.START, task.END), z0, "DOP853", rtol=task.RTOL, atol=1e-14)

    run = work()
    error, size = task.end_error(matrices.unpack(run.y[:, -1])), f"104 states, {len(run.t) - 1} steps"
    block = task.StageTwo()
    z, expected = block.pack(*stage_two_point(stage_two_block()))
    gap = max(float(np.abs(a - b).max()) for a, b in zip(block.field(*z), expected, strict=True))
    return {
        TRAJECTORY: _row(work, size, 0.0, error),
        STAGE_TWO: _row(lambda: block.field(*z), "48 states", 0.0, gap),
        FIELD: _row(
            lambda: matrices.field(0.0, z0),
            "104 states",
            0.0,
            task.field_error(matrices.unpack(matrices.field(0.0, z0))),
        ),
    }


def lambdify() -> Rows:
    """SymPy's lambdify with common subexpressions taken out, under SciPy's DOP853."""
    import sympy as sp
    from scipy.integrate import solve_ivp

    def build() -> Any:
        return sp.lambdify([task.full().states], list(task.full().rhs), modules="math", cse=True)

    function, ready = _timed(build)

    def work() -> Any:
        return solve_ivp(
            lambda t, x: function(x.tolist()),
            (task.START, task.END),
            task.start(),
            "DOP853",
            rtol=task.RTOL,
            atol=1e-14,
        )

    run = work()
    rows = {TRAJECTORY: _row(work, f"80 states, {len(run.t) - 1} steps", ready, task.end_error(run.y[:, -1]))}
    body = task.rigid_body()
    three = sp.lambdify([sp.Symbol("t"), body.states], list(body.rhs), modules="math")

    def around() -> Any:
        return solve_ivp(three, (0.0, SPIN_END), task.SPIN, "DOP853", **SPIN_RUN)

    run = around()
    error = task.spin_error(SPIN_END, run.y[:, -1])
    return {**rows, SPIN: _row(around, f"3 states, {len(run.t) - 1} steps", 0.0, error)}


def _heyoka_expressions(system: Any) -> list[Any]:
    import heyoka as hy

    symbols = {name: hy.expression(name) for name in (*system.names, *system.parameters)}
    return task.convert(list(system.nodes), symbols, {"exp": hy.exp, "sigmoid": hy.sigmoid})


def heyoka_default(compact: bool = False) -> Rows:
    """Taylor integrator, compiled by LLVM; its default mode compiles 80 equations for minutes."""
    import heyoka as hy

    def build() -> Any:
        system = task.full()
        pairs = list(zip((hy.expression(n) for n in system.names), _heyoka_expressions(system), strict=True))
        return hy.taylor_adaptive(pairs, task.start(), time=task.START, tol=1e-13, compact_mode=compact)

    integrator, ready = _timed(build)

    def work() -> Any:
        integrator.time = task.START
        integrator.state[:] = task.start()
        return integrator.propagate_until(task.END)[3]

    steps = work()
    return {TRAJECTORY: _row(work, f"80 states, {steps} steps", ready, task.end_error(integrator.state.copy()))}


def heyoka() -> Rows:
    """The same in compact mode, and one evaluation of a field."""
    import heyoka as hy

    rows = heyoka_default(compact=True)
    block = stage_two_block()
    names = [*block.names, *block.parameters]
    code, ready = _timed(lambda: hy.cfunc(_heyoka_expressions(block), [hy.expression(n) for n in names]))
    x, p, expected = stage_two_point(block)
    given, out = np.concatenate([x, p]), np.empty(len(block.names))
    gap = float(np.abs(code(given) - expected).max())
    rows[STAGE_TWO] = _row(lambda: code(given, outputs=out), "36 states", ready, gap)
    return rows


def jitcode() -> Rows:
    """C code for SciPy's integrators; every node is a helper, or the compiler would be given megabytes."""
    import symengine
    from jitcode import jitcode as make
    from jitcode import y

    def build() -> Any:
        system = task.full()
        names = {name: y(i) for i, name in enumerate(system.names)}
        functions = {"exp": symengine.exp, "sigmoid": lambda z: 1 / (1 + symengine.exp(-z))}
        helpers, values = task.shared(list(system.nodes), names, functions, symengine.Symbol)
        ode = make(values, helpers=helpers, verbose=False)
        ode.generate_f_C(simplify=False)
        ode.compile_C()
        ode.set_integrator("dop853", rtol=task.RTOL, atol=1e-14, nsteps=10**6)
        return ode

    sys.setrecursionlimit(20_000)  # jitcode sorts helpers by recursion
    began = time.perf_counter()  # its compiler is another process
    ode, ready = build(), time.perf_counter() - began

    def work() -> Any:
        ode.set_initial_value(task.start(), task.START)
        return ode.integrate(task.END)

    return {TRAJECTORY: _row(work, "80 states", ready, task.end_error(np.asarray(work())))}


def diffrax() -> Rows:
    """Dopri8 of diffrax on a hand-written JAX field."""
    import diffrax as dx
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    matrices = task.Matrices(jnp)
    z0 = jnp.asarray(matrices.pack(task.start()))
    term, solver = dx.ODETerm(lambda t, z, args: matrices.field(t, z)), dx.Dopri8()
    control = dx.PIDController(rtol=task.RTOL, atol=1e-14)

    @jax.jit
    def end(z: Any) -> Any:
        run = dx.diffeqsolve(
            term, solver, task.START, task.END, None, z, stepsize_controller=control, max_steps=100_000
        )
        return run.ys[-1], run.stats["num_accepted_steps"]

    (found, steps), ready = _timed(lambda: jax.block_until_ready(end(z0)))
    return {
        TRAJECTORY: _row(
            lambda: jax.block_until_ready(end(z0)),
            f"104 states, {int(steps)} steps",
            ready,
            task.end_error(matrices.unpack(found)),
        )
    }


def torch() -> Rows:
    """Autograd and torch.optim.SGD on one network of width 1024."""
    import torch as th

    from derivations.two_mixture.compare import start_network

    th.set_num_threads(1)
    net = start_network(1024, 0, {"K": 2, "omega": task.OMEGA, "b": task.BIAS})
    matrices = task.Matrices()
    stacked = {name: np.array([net.weights[f"{name}.{h}"] for h in "pm"]) for name in ("w", "W_K", "W_Q")}
    tensors = {name: th.tensor(array, requires_grad=True) for name, array in stacked.items()}
    X = th.tensor(np.asarray(matrices.tokens) @ net.words["E"].T).mT
    labels, weights = th.tensor(np.asarray(matrices.labels)), th.tensor(np.asarray(matrices.weights))
    signs, optimiser = th.tensor(np.asarray(matrices.signs)), th.optim.SGD(list(tensors.values()), lr=0.1)

    def step() -> None:
        optimiser.zero_grad()
        keys, queries = tensors["W_K"][:, None] @ X, tensors["W_Q"][:, None] @ X
        p = th.softmax(queries.mT @ keys, dim=-1)
        values = (tensors["w"][:, None] @ X)[..., 0, :]
        head = (p @ values[..., None])[..., 0].sum(dim=-1) + task.BIAS
        output = (signs * th.relu(head)).sum(dim=0)
        (weights * th.nn.functional.softplus(-labels * output)).sum().backward()
        optimiser.step()

    return {STEP: _row(step, WEIGHTS)}


PEERS: dict[str, tuple[Callable[[], Rows], tuple[str, ...]]] = {
    "odesys": (odesys, ("numpy", "llvmlite")),
    "numpy": (numpy, ("numpy", "scipy")),
    "lambdify": (lambdify, ("sympy",)),
    "heyoka": (heyoka, ("heyoka",)),
    "heyoka-default": (heyoka_default, ("heyoka",)),
    "jitcode": (jitcode, ("jitcode",)),
    "diffrax": (diffrax, ("diffrax", "jax")),
    "torch": (torch, ("torch",)),
}


def main(name: str) -> None:
    """Run one peer and print its rows."""
    work, packages = PEERS[name]
    began = task.yardstick()
    rows = work()
    unit, most = (began + task.yardstick()) / 2, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {"peer": name, "yardstick": unit, "rows": rows, "memory": most}
    print(json.dumps(found | {"versions": {p: version(p) for p in packages}}))


if __name__ == "__main__":
    main(sys.argv[1])
