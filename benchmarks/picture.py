"""Work and precision: error of the end state against processor time, of odesys and its peers, as a picture.

    python -m benchmarks.picture [FOLDER]

writes work_precision.svg and work_precision.md there, here by default. Every peer runs in a process of its own, so that
its memory can be told: the peak of the process, with Python, NumPy and odesys in it. Code is compiled
before; times to compile stand in a column of their own. Batches are of 256 runs around the start, their times are per
run, their errors that of the run from the start itself. The reference is that of `bench_zoo` and `bench_stiff`. A peer
that is not installed is left out. Times of different processes on a busy machine are good to some tens of percent;
ratios are in batch.md, zoo.md and stiff.md.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from . import bench_stiff
from .bench_zoo import ZOO, with_reference
from .task import convert
from .work_precision import Task, best_time, literature

SMOOTH, STIFF = ("lorenz", "kepler", "repressilator"), ("robertson", "van_der_pol")
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
BATCH, REPEAT = 256, 2
Work = Callable[[], Any]
Made = Iterator[tuple[Work, Callable[[Any], np.ndarray]]]  # per tolerance: a run, and the end state in what it gives


def tasks() -> dict[str, Task]:
    """The systems, with references."""
    found = {}
    for name in SMOOTH:
        end, values, start = ZOO[name]
        found[name] = with_reference(literature(name, end, values, start, "Taylor", 3e-14))
    for name in STIFF:
        values, start = bench_stiff.VALUES.get(name, {}), bench_stiff.STARTS.get(name, {})
        found[name] = literature(name, bench_stiff.ENDS[name], values, start, "Radau", 1e-12)
    return found


def starts_of(given: Task) -> np.ndarray:
    """Starts of a batch; the first is that of the task."""
    drawn = np.random.default_rng(5).uniform(-1, 1, (BATCH, given.start.size))
    drawn[0] = 0.0
    found: np.ndarray = given.start * (1 + 0.05 * drawn)
    return found


# ---- ours ------------------------------------------------------------------------------------------------------------


def ours(method: str, batch: bool = False) -> Callable[[Task], Made]:
    """End states by our compiled runs."""

    def made(given: Task) -> Made:
        from numerics.compiled.compiled_flow import CompiledFlow

        flow, span, starts, values = CompiledFlow(given.system), (0.0, given.end), starts_of(given), dict(given.values)
        for rtol in TOLERANCES:
            options: dict[str, Any] = {"rtol": rtol, "method": method}
            if batch:
                yield lambda o=options: flow.batch(starts, span, [values] * BATCH, **o), lambda ends: ends[0]
            else:
                yield lambda o=options: flow.final(given.start, span, values, **o), np.asarray

    return made


# ---- peers -----------------------------------------------------------------------------------------------------------


def heyoka(compact: bool, batch: bool = False) -> Callable[[Task], Made]:
    """heyoka's Taylor integrators."""

    def made(given: Task) -> Made:
        import heyoka as hy

        from .bench_zoo import equations

        pairs, starts, lanes = equations(given), starts_of(given), 2 * hy.recommended_simd_size()
        for rtol in TOLERANCES:
            if batch:
                many = hy.taylor_adaptive_batch(
                    pairs, np.zeros((given.start.size, lanes)), tol=rtol, compact_mode=compact
                )

                def run(many: Any = many) -> np.ndarray:
                    ends = np.empty_like(starts)
                    for k in range(0, BATCH, lanes):
                        many.set_time(0.0)
                        many.state[:] = starts[k : k + lanes].T
                        many.propagate_until(given.end)
                        ends[k : k + lanes] = many.state.T
                    return ends

                yield run, lambda ends: ends[0]
            else:
                one = hy.taylor_adaptive(pairs, given.start.copy(), tol=rtol, compact_mode=compact)

                def single(one: Any = one) -> np.ndarray:
                    one.time, one.state[:] = 0.0, given.start
                    one.propagate_until(given.end)
                    return np.array(one.state)

                yield single, np.asarray

    return made


def jitcode(given: Task) -> Made:
    """C code under SciPy's dop853 in Fortran."""
    import symengine
    from jitcode import jitcode as make
    from jitcode import y

    names: dict[str, Any] = {name: y(i) for i, name in enumerate(given.system.names)}
    names |= dict(given.values)
    functions = {"exp": symengine.exp, "sin": symengine.sin, "cos": symengine.cos}
    ode = make(convert(list(given.system.nodes), names, functions), verbose=False)
    ode.compile_C()
    for rtol in TOLERANCES:

        def run(rtol: float = rtol) -> np.ndarray:
            ode.set_integrator("dop853", rtol=rtol, atol=1e-3 * rtol, nsteps=10**6)
            ode.set_initial_value(given.start, 0.0)
            return np.asarray(ode.integrate(given.end))

        yield run, np.asarray


def diffrax(batch: bool, stiff: bool = False) -> Callable[[Task], Made]:
    """Dopri8, or Kvaerno5, of diffrax; a batch by vmap."""

    def made(given: Task) -> Made:
        import jax

        jax.config.update("jax_enable_x64", True)
        import diffrax as dx
        import jax.numpy as jnp

        functions = {"exp": jnp.exp, "sin": jnp.sin, "cos": jnp.cos}

        def field(t: Any, z: Any, args: Any) -> Any:
            known = dict(given.values) | {name: z[i] for i, name in enumerate(given.system.names)}
            return jnp.stack(convert(list(given.system.nodes), known, functions))

        solver, term = (dx.Kvaerno5() if stiff else dx.Dopri8()), dx.ODETerm(field)
        for rtol in TOLERANCES[:-1:2] if stiff else TOLERANCES[::2]:  # each is compiled for seconds
            control = dx.PIDController(rtol=rtol, atol=1e-3 * rtol)

            def end(z: Any, control: Any = control) -> Any:
                options = {"stepsize_controller": control, "max_steps": 10**6}
                return dx.diffeqsolve(term, solver, 0.0, given.end, None, z, **options).ys[-1]

            code = jax.jit(jax.vmap(end) if batch else end)
            start = jnp.asarray(starts_of(given) if batch else given.start)
            yield (
                lambda code=code, start=start: jax.block_until_ready(code(start)),
                (lambda ends: np.asarray(ends[0])) if batch else np.asarray,
            )

    return made


def scipy(method: str) -> Callable[[Task], Made]:
    """A method of `solve_ivp` with our compiled field and Jacobian."""

    def made(given: Task) -> Made:
        from scipy.integrate import solve_ivp

        field = given.system.compile(given.values)
        more = {} if method == "DOP853" else {"jac": field.jacobian}
        for rtol in TOLERANCES:
            options: dict[str, Any] = {"rtol": rtol, "atol": 1e-3 * rtol * bench_stiff.least(given), **more}
            yield (
                lambda o=options: solve_ivp(field, (0.0, given.end), given.start, method, **o),
                lambda done: done.y[:, -1],
            )

    return made


PEERS: Mapping[str, tuple[Callable[[Task], Made], tuple[str, ...], int]] = {
    "odesys, Taylor": (ours("Taylor"), SMOOTH, 1),
    "odesys, DOP853": (ours("DOP853"), SMOOTH, 1),
    "odesys, Taylor, batch": (ours("Taylor", True), SMOOTH, BATCH),
    "odesys, DOP853, batch": (ours("DOP853", True), SMOOTH, BATCH),
    "odesys, Rodas5P": (ours("Rodas5P"), STIFF, 1),
    "heyoka": (heyoka(False), SMOOTH, 1),
    "heyoka, compact": (heyoka(True), SMOOTH, 1),
    "heyoka, batch": (heyoka(False, True), SMOOTH, BATCH),
    "heyoka, compact, batch": (heyoka(True, True), SMOOTH, BATCH),
    "jitcode": (jitcode, SMOOTH, 1),
    "diffrax": (diffrax(False), SMOOTH, 1),
    "diffrax, vmap": (diffrax(True), SMOOTH, BATCH),
    "diffrax, Kvaerno5": (diffrax(False, True), STIFF, 1),
    "SciPy, DOP853": (scipy("DOP853"), SMOOTH, 1),
    "SciPy, LSODA": (scipy("LSODA"), STIFF, 1),
    "CVODE": (lambda given: iter(()), STIFF, 1),
}


def _peak() -> float:
    """Largest memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_peer(name: str, given: dict[str, Task]) -> dict[str, Any]:
    """Errors and seconds per run of each system, seconds to get ready, and the peak of memory."""
    make, names, share = PEERS[name]
    found = dict[str, Any]()
    for system in names:
        task, runs, ready = given[system], [], 0.0
        if name == "CVODE":
            runs = [bench_stiff.cvode(True)(task, rtol) for rtol in TOLERANCES]
        else:
            began = time.perf_counter()  # compilers of others are processes of their own
            for work, end in make(task):
                state = end(work())
                ready += time.perf_counter() - began
                _, seconds = best_time(work, REPEAT)
                runs.append((task.error(state), seconds / share))
                began = time.perf_counter()
        found[system] = {"runs": runs, "ready": ready / len(runs)}
    return {"systems": found, "memory": _peak()}


def _saved(given: dict[str, Task], file: Path) -> None:
    file.write_text(json.dumps({name: task.reference.tolist() for name, task in given.items()}))


def _loaded(file: Path) -> dict[str, Task]:
    known, found = json.loads(file.read_text()), {}
    for name in known:
        if name in SMOOTH:
            end, values, start = ZOO[name]
        else:
            values, start = bench_stiff.VALUES.get(name, {}), bench_stiff.STARTS.get(name, {})
            end = bench_stiff.ENDS[name]
        quick = literature(name, end, values, start, "Radau" if name in STIFF else "DOP853", 1e-3)
        found[name] = replace(quick, reference=np.array(known[name]))
    return found


def collected() -> dict[str, dict[str, Any]]:
    """The results of all peers that are installed."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "references.json"
        _saved(tasks(), file)
        for name in PEERS:
            words = [sys.executable, "-m", "benchmarks.picture", "--peer", name, str(file)]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode:
                print(f"{name} is left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                continue
            found[name] = json.loads(done.stdout.strip().splitlines()[-1])
            print(f"{name}: {found[name]['memory']:.0f} MB", file=sys.stderr)
    return found


def drawn(found: dict[str, dict[str, Any]], file: Path) -> None:
    """The picture: a panel per system."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "odesys"
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 3, figsize=(15, 9.5), layout="constrained")
    colours = {"odesys": "#0b62a4", "heyoka": "#c2410c", "jitcode": "#5b8c2a", "diffrax": "#7e3fa0"}
    colours |= {"SciPy": "#666666", "CVODE": "#b08900"}
    dashes = {"": "-", "batch": "--", "vmap": "--", "compact": ":", "compact, batch": "-."}
    for panel, name in zip(panels.flat, (*SMOOTH, *STIFF), strict=False):
        for peer, result in found.items():
            if name not in result["systems"]:
                continue
            errors, seconds = zip(*sorted(map(tuple, result["systems"][name]["runs"])), strict=True)
            kind = ", ".join(part for part in peer.split(", ")[1:] if part in ("batch", "vmap", "compact"))
            marker = "o" if "DOP853" in peer else "s" if "Kvaerno" in peer or "LSODA" in peer else "^"
            panel.loglog(
                1e6 * np.array(seconds), errors, dashes[kind], marker=marker, ms=4, lw=1.4,
                color=colours[peer.split(",")[0]], label=peer,
            )  # fmt: skip
        panel.set(title=name.replace("_", " "), xlabel="microseconds a run", ylabel="error of the end state")
        panel.grid(alpha=0.25)
    handles: dict[str, Any] = {}
    for panel in panels.flat[:-1]:
        handles |= dict(zip(*panel.get_legend_handles_labels()[::-1], strict=True))
    panels.flat[-1].axis("off")
    panels.flat[-1].legend(handles.values(), handles.keys(), loc="center", fontsize=9)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def table(found: dict[str, dict[str, Any]]) -> str:
    """Times to compile and memory."""
    names = (*SMOOTH, *STIFF)
    lines = [f"# Work and precision\n\n{__doc__.split(chr(10), 1)[0]} By `python -m benchmarks.picture`.\n"]
    lines += ["![errors against times](work_precision.svg)\n"]
    lines += ["Times to compile, per tolerance, in elapsed ms (the first run is in it; odesys and heyoka may have"]
    lines += [
        "read what they compiled before), and memory: the peak of the peer's process, odesys loaded in all of them.\n"
    ]
    lines += ["| peer | " + " | ".join(n.replace("_", " ") for n in names) + " | MB |", "| --- |" + " --- |" * 6]
    for peer, result in found.items():
        ready = (result["systems"].get(name, {}).get("ready") for name in names)
        cells = [f"{1e3 * seconds:.3g}" if seconds else "" for seconds in ready]
        lines.append(f"| {peer} | " + " | ".join(cells) + f" | {result['memory']:.0f} |")
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Run all peers, draw and write."""
    found = collected()
    drawn(found, folder / "work_precision.svg")
    (folder / "work_precision.md").write_text(table(found), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        print(json.dumps(run_peer(sys.argv[2], _loaded(Path(sys.argv[3])))))
    else:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
