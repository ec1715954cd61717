"""Commands killed at random moments: every file they leave is whole, nothing goes on running, a second call succeeds.

    python -m benchmarks.kills --kills 200 --seed 1

A command is first run to its end, for its length and its files. Then it is started again and again in a folder of its
own and killed (SIGKILL, its whole life from the first moment to the last with equal chance). Most are forks of this
process, which has run every command once and remembers what it derived, so that the time is spent where files are
written; the first round over all commands is in new interpreters. A file that is there must
be one that can be read to its end; where the command was killed, the same call (a sweep with ``--resume``) must come to
an end afterwards and leave the files of the first run, a sweep byte by byte; the folder of `new`, if it is there, has
all its files. What was found is written to kills.md; the exit code is 1 if anything broke.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import math
import os
import pkgutil
import random
import shutil
import signal
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from odesys.locks import YOUNG
from odesys.papers.new import create

SETTLE = 15.0  # seconds within which processes of a killed command end: one that just starts first loads libraries
LONGEST = 3600.0  # seconds by the clock that any call may take, on a machine with other work
PAPER = Path(tempfile.gettempdir()) / f"odesys-kills-{os.getpid()}" / "small"  # what `odesys new` writes


@dataclass(frozen=True)
class Command:
    """A command line that writes into the folder OUT, and what is added when it is called again."""

    line: Sequence[str]
    again: Sequence[str] = ()
    same_bytes: Sequence[str] = ()  # files that a second call must leave as an undisturbed one does
    once: str = ""  # what is there after success, and is not made a second time

    def words(self, out: Path, again: bool = False) -> list[str]:
        """What stands after `odesys`."""
        return [word.replace("OUT", str(out)) for word in (*self.line, *(self.again if again else ()))]


COMMANDS = (
    Command(["simulate", "two_mixture", "--out", "OUT", "--json", "OUT/run.json"]),
    Command(["derive", "two_mixture", "--quotient", "--out", "OUT/system.tex", "--format", "latex"]),
    Command(["derive", "shallow_vit", "--format", "json", "--out", "OUT/system.json"]),
    Command(["verify", "two_mixture", "--claim", "C.2", "--json", "OUT/verify.json", "--errata", "OUT/errata.md"]),
    Command(
        ["verify", "two_mixture", "--claim", "E.2", "--claim", "C.1", "--workers", "2", "--json", "OUT/verify.json"]
    ),
    Command(["compare", "two_mixture", "--widths", "16,32", "--seeds", "3", "--json", "OUT/compare.json"]),
    Command(["figures", str(PAPER), "--out", "OUT"]),
    Command(["report", str(PAPER), "--out", "OUT", "--workers", "1"]),
    Command(["list", str(PAPER), "--json", "OUT/list.json"]),
    Command(["new", "OUT/fresh"], once="fresh"),
    Command(
        ["sweep", "two_mixture", "--over", "omega=log:0.01:0.2:6", "--out", "OUT", "--workers", "2"],
        again=["--resume"],
        same_bytes=["sweep.csv"],
    ),
    Command(["analyse", "-e", "x' = y", "-e", "y' = -sin(x) - y/10", "--out", "OUT"]),
)


def broken(folder: Path) -> list[str]:
    """Files of a folder that are there and not whole, with what is wrong; unfinished ones have names of their own."""
    found = []
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            try:
                READERS.get(file.suffix, _not_empty)(file.read_bytes())
            except Exception as error:
                found.append(f"{file.name}: {error!r}")
    return found


def _not_empty(data: bytes) -> None:
    if not data:
        raise ValueError("the file is empty")


def _csv(data: bytes) -> None:
    lines = data.decode().splitlines()
    rows = [row for row in csv.reader(line for line in lines if not line.startswith("#"))]
    if not data.endswith(b"\n") or len({len(row) for row in rows}) != 1:
        raise ValueError("a row is not whole")


def _zip(data: bytes) -> None:
    bad = zipfile.ZipFile(io.BytesIO(data)).testzip()
    if bad is not None:
        raise ValueError(f"{bad} is damaged")


def _ending(text: bytes) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        if not data.rstrip().endswith(text):
            raise ValueError(f"it does not end with {text!r}")

    return check


READERS: dict[str, Callable[[bytes], object]] = {
    ".json": json.loads,
    ".csv": _csv,
    ".npz": _zip,
    ".svg": xml.fromstring,
    ".png": _ending(b"IEND\xaeB`\x82"),
    ".html": _ending(b"</html>"),
}


def seconds_to_end(group: int) -> float:
    """How long processes of a group go on; infinite if they do not end."""
    began = time.monotonic()
    while time.monotonic() < began + SETTLE:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return time.monotonic() - began
        time.sleep(0.05)
    return math.inf


@dataclass(frozen=True)
class Process:
    """A command in a group of its own; `errors` is what it says."""

    number: int
    errors: Path

    def ended(self) -> int | None:
        """Its exit code, if it has one."""
        done, status = os.waitpid(self.number, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if done else None

    def wait(self) -> int:
        """Its exit code; what takes too long is killed."""
        end = time.monotonic() + LONGEST
        while (code := self.ended()) is None:
            if time.monotonic() > end:
                os.killpg(self.number, signal.SIGKILL)
            time.sleep(0.01)
        return code


def started(words: Sequence[str], fresh: bool = False) -> Process:
    """A command in a fork of this process, or in a new interpreter."""
    errors = PAPER.parent / "errors.txt"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setsid()
            nothing, said = os.open(os.devnull, os.O_RDWR), os.open(errors, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            for stream, target in enumerate((nothing, nothing, said)):
                os.dup2(target, stream)
            if fresh:
                os.execv(sys.executable, [sys.executable, "-m", "odesys", *words])
            sys.argv = ["odesys", *words]
            code = _command()
            sys.stderr.flush()
        finally:
            os._exit(code)
    return Process(child, errors)


def _command() -> int:
    from odesys.__main__ import main

    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def load_program() -> None:
    """All that the commands load, once; each fork has it then."""
    import derivations
    import numerics
    import odesys

    for package in (odesys, numerics, derivations):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__") and ".skeleton" not in module.name:
                importlib.import_module(module.name)


def remember(words: Sequence[str]) -> None:
    """Run a command in this process, of which the others are forks; it must succeed."""
    streams, nothing = [os.dup(stream) for stream in (1, 2)], os.open(os.devnull, os.O_RDWR)
    arguments, ended = sys.argv, signal.getsignal(signal.SIGTERM)
    try:
        for stream in (1, 2):
            os.dup2(nothing, stream)
        sys.argv = ["odesys", *words]
        code = _command()
        sys.stdout.flush()
    finally:
        for stream, kept in enumerate(streams, 1):
            os.dup2(kept, stream)
        for number in (nothing, *streams):
            os.close(number)
        sys.argv = arguments
        signal.signal(signal.SIGTERM, ended)
    if code:
        raise SystemExit(f"{' '.join(words)} gives {code}")


def run(words: Sequence[str], fresh: bool = False) -> float:
    """Run a command to its end; seconds it took. Stops the benchmark if it does not succeed."""
    began = time.monotonic()
    process = started(words, fresh)
    if code := process.wait():
        raise SystemExit(f"{' '.join(words)} gives {code}: {process.errors.read_text()[-500:]}")
    return time.monotonic() - began


def kill_once(
    command: Command, moment: float, whole: Path, out: Path, fresh: bool = False
) -> tuple[bool, float, list[str]]:
    """Start a command, kill it after some seconds; whether that hit it, how long others went on, what was broken."""
    process = started(command.words(out), fresh)
    time.sleep(moment)
    hit = process.ended() is None
    if hit:
        os.kill(process.number, signal.SIGKILL)  # its children are not killed: they must notice by themselves
        process.wait()
    longer = seconds_to_end(process.number)
    trouble = ["a process goes on"] if longer == math.inf else []
    trouble += broken(out) if out.exists() else []
    if out.exists() and any(out.rglob(".odesys-*.part")):
        time.sleep(YOUNG)  # what is younger is not taken for left over
    if hit and not (command.once and (out / command.once).exists()):
        again = started(command.words(out, again=out.exists()))
        if code := again.wait():
            trouble.append(f"called again it gives {code}: {again.errors.read_text()[-300:]}")
        trouble += [f"called again: {problem}" for problem in broken(out)]
    if hit:
        names = [{f.relative_to(place) for f in place.rglob("*") if f.is_file()} for place in (whole, out)]
        if names[0] != names[1]:
            trouble.append(f"called again it leaves other files: {sorted(map(str, names[0] ^ names[1]))}")
        trouble += [
            f"{file} has other bytes"
            for file in command.same_bytes
            if (out / file).read_bytes() != (whole / file).read_bytes()
        ]
    return hit, longer, trouble


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    chosen = parser.parse_args()
    rng = random.Random(chosen.seed)
    folder = PAPER.parent
    folder.mkdir(mode=0o700)
    kills, runs, bad, longest = Counter[int](), 0, list[str](), 0.0
    try:
        create(PAPER)
        load_program()
        for k, command in enumerate(COMMANDS):
            remember(command.words(folder / f"whole{k}"))
        end = time.monotonic() + 60 * chosen.minutes
        lengths: dict[tuple[int, bool], float] = {}
        while kills.total() < chosen.kills and time.monotonic() < end:
            k, fresh, out = runs % len(COMMANDS), runs < len(COMMANDS), folder / "out"
            if (k, fresh) not in lengths:
                lengths[k, fresh] = run(COMMANDS[k].words(out), fresh)
                shutil.rmtree(out)
            moment = rng.random() * lengths[k, fresh]
            hit, longer, trouble = kill_once(COMMANDS[k], moment, folder / f"whole{k}", out, fresh)
            longest = max(longest, longer if hit else 0.0)
            kills[k], runs = kills[k] + hit, runs + 1
            bad += [f"{' '.join(COMMANDS[k].line)}: {problem}" for problem in trouble]
            shutil.rmtree(out, ignore_errors=True)
            print(f"{kills.total()} kills in {runs} runs, {len(bad)} broken", *trouble, flush=True)
        text = table(kills, runs, bad, longest, chosen.seed)
        Path(__file__).with_name("kills.md").write_text(text, encoding="utf-8")
        print(text)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(bool(bad))


def table(kills: Counter[int], runs: int, bad: Sequence[str], longest: float, seed: int) -> str:
    """What was found, as kills.md has it."""
    lines = [
        "# Kills",
        "",
        f"Written by `python -m benchmarks.kills --kills {kills.total()} --seed {seed}`: {kills.total()} kills "
        f"at random moments in {runs} runs of {len(COMMANDS)} commands, {len(bad)} broken results.",
        f"Processes that a killed command had started ended after {longest:.1f} s at most.",
        "",
        "| command | kills |",
        "| --- | --- |",
        *(f"| `{' '.join(c.line).replace(str(PAPER), 'PAPER')}` | {kills[k]} |" for k, c in enumerate(COMMANDS)),
    ]
    return "\n".join([*lines, *([""] if bad else []), *(f"- {problem}" for problem in bad)]) + "\n"


if __name__ == "__main__":
    main()
