"""Thousands of random inputs: no traceback, no hang, no half-written file, none in a place that was not named.

    python -m benchmarks.fuzz_inputs --examples 20000

Of a hundred examples 48 are files of systems, many of them hostile, 29 command lines, 19 definitions of models, two
commands on our papers with parameters of any size and two analyses of equations; the seed is printed and fixed. More
than 30 seconds of processor time without progress are a hang, and the address space has a limit. `--minutes` ends a
kind of example.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from tests import hostile_inputs, random_inputs
from tests.watching import at_most

SHARES = {"files": 0.48, "lines": 0.29, "definitions": 0.19, "sizes": 0.02, "analyses": 0.02}
GIGABYTES = 6.0


def kinds(folder: Path) -> dict[str, tuple[SearchStrategy[Any], Callable[[Any, random_inputs.Tally], None]]]:
    """By name: what is drawn, and how one of it is checked."""
    return {
        "files": (
            hostile_inputs.system_files(),
            lambda example, tally: hostile_inputs.check_file(*example, folder, tally.count),
        ),
        "lines": (
            random_inputs.command_lines("./fuzzpaper"),
            lambda example, tally: random_inputs.check_line(*example, folder, tally),
        ),
        "definitions": (
            random_inputs.definitions(),
            lambda example, tally: random_inputs.check_definition(*example, tally),
        ),
        "sizes": (
            hostile_inputs.sized_lines(),
            lambda example, tally: random_inputs.check_line(example, False, folder, tally, papers=True),
        ),
        "analyses": (
            hostile_inputs.analysed_systems(),
            lambda example, tally: hostile_inputs.check_analysis(example, tally.count),
        ),
    }


def fuzz(
    strategy: Any, check: Any, tally: random_inputs.Tally, folder: Path, examples: int, number: int, minutes: float
) -> int:
    """Check so many examples, or as many as the time allows; how many of them failed, which are printed."""
    end, failed = time.monotonic() + 60 * minutes, 0

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(strategy)
    def run(example: Any) -> None:
        nonlocal failed
        if time.monotonic() < end:
            try:
                check(example, tally)
            except AssertionError as error:
                failed += 1
                print(f"FAILED: {error}", flush=True)
                random_inputs.tidy(folder)

    run()
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--only", choices=list(SHARES), help="all examples of one kind")
    parser.add_argument("--seed", type=int, default=20240611)
    parser.add_argument("--minutes", type=float, default=1e9, help="by the clock, for each kind")
    chosen = parser.parse_args()
    above = Path(tempfile.mkdtemp(prefix="odesys-fuzz-"))
    homes = {"HOME": "home", "TMPDIR": "tmp", "ODESYS_CACHE": "cache", "XDG_CACHE_HOME": "cache"}
    for variable, name in homes.items():  # in place of the user's own, and looked at
        (above / name).mkdir(exist_ok=True, mode=0o700)
        os.environ[variable] = str(above / name)
    tempfile.tempdir = None
    (above / "around").mkdir()
    folder = random_inputs.playground(above / "around")
    tallies, failed = {}, 0
    began = time.process_time()
    try:
        for name, (strategy, check) in kinds(folder).items():
            if chosen.only in (None, name):
                tally = tallies[name] = random_inputs.Tally()
                examples = chosen.examples if chosen.only else round(SHARES[name] * chosen.examples)
                start = time.process_time()
                with at_most(GIGABYTES):
                    failed += fuzz(strategy, check, tally, folder, examples, chosen.seed, chosen.minutes)
                print(
                    f"{name}: {tally.run} run, {tally.valid} to the end, by exit code {tally.codes}, "
                    f"{time.process_time() - start:.0f} s of CPU",
                    flush=True,
                )
        left = [each for name in ("home", "tmp") for each in (above / name).rglob("*") if each.is_file()]
        assert not left, f"files outside of --out: {left}"
        total, valid = sum(t.run for t in tallies.values()), sum(t.valid for t in tallies.values())
        print(
            f"seed {chosen.seed}: {total} examples, {valid} ({valid / total:.0%}) valid and run to the end, "
            f"{failed} failed, {time.process_time() - began:.0f} s of CPU"
        )
    finally:
        (folder / "locked").chmod(0o700)
        shutil.rmtree(above)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
