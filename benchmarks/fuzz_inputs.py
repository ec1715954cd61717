"""Thousands of random command lines and model definitions: no traceback, no hang, no half-written file.

    python -m benchmarks.fuzz_inputs --examples 10000

Half of the examples are command lines, half are definitions of models; the seed is printed and fixed.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests import random_inputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--only", choices=["lines", "definitions"], help="one of the two halves")
    parser.add_argument("--seed", type=int, default=20240611)
    chosen = parser.parse_args()
    options = settings(
        max_examples=chosen.examples // 2,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    folder = random_inputs.playground(Path(tempfile.mkdtemp(prefix="odesys-fuzz-")))
    lines, models = random_inputs.Tally(), random_inputs.Tally()
    began = time.process_time()

    @seed(chosen.seed)
    @options
    @given(random_inputs.command_lines("./fuzzpaper"))
    def fuzz_lines(example: tuple[list[str], bool]) -> None:
        random_inputs.check_line(*example, folder, lines)

    @seed(chosen.seed)
    @options
    @given(random_inputs.definitions())
    def fuzz_definitions(example: tuple[dict, bool]) -> None:
        random_inputs.check_definition(*example, models)

    try:
        for name, fuzz, tally in (("command lines", fuzz_lines, lines), ("definitions", fuzz_definitions, models)):
            if chosen.only is None or chosen.only in name.replace("command ", ""):
                fuzz()
            print(f"{name}: {tally.run} run, {tally.valid} to the end, by exit code {tally.codes}", flush=True)
        total, valid = lines.run + models.run, lines.valid + models.valid
        print(
            f"seed {chosen.seed}: {total} examples, {valid} ({valid / total:.0%}) valid and run to the end, "
            f"{time.process_time() - began:.0f} s of CPU"
        )
        assert 3 * valid >= total
    finally:
        (folder / "locked").chmod(0o700)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
