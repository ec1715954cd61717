"""The command line under nonsense: random lines and definitions, read-only folders, a closed pipe, a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from odesys.papers.new import create
from tests import hostile_inputs, random_inputs
from tests.watching import Hang, watched

ROOT = Path(__file__).resolve().parents[3]
COMMAND = (sys.executable, "-m", "odesys")
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
FUZZ = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_inputs.playground(tmp_path_factory.mktemp("fuzz"))


@pytest.mark.slow
def test_random_command_lines(folder: Path) -> None:
    tally = random_inputs.Tally()

    @FUZZ
    @given(random_inputs.command_lines("./fuzzpaper"))
    def fuzz(example: tuple[list[str], bool]) -> None:
        random_inputs.check_line(*example, folder, tally)

    fuzz()
    assert 4 * tally.valid >= tally.run


@pytest.mark.slow
def test_random_definitions() -> None:
    tally = random_inputs.Tally()

    @FUZZ
    @given(random_inputs.definitions())
    def fuzz(example: tuple[dict[str, Any], bool]) -> None:
        random_inputs.check_definition(*example, tally)

    fuzz()
    assert 3 * tally.valid >= tally.run


def test_random_files(folder: Path) -> None:
    tally = random_inputs.Tally()

    @FUZZ
    @given(hostile_inputs.system_files())
    def fuzz(example: tuple[str, bool]) -> None:
        hostile_inputs.check_file(*example, folder, tally.count)

    fuzz()
    assert 6 * tally.valid >= tally.run > tally.valid


@pytest.mark.slow
def test_random_sizes(folder: Path) -> None:
    tally = random_inputs.Tally()

    @settings(FUZZ, max_examples=20)
    @given(hostile_inputs.sized_lines())
    def fuzz(line: list[str]) -> None:
        random_inputs.check_line(line, False, folder, tally, papers=True)

    fuzz()
    assert tally.codes[2] > 0


def test_what_makes_no_progress_is_a_hang() -> None:
    from odesys import terminal

    began = time.process_time()
    with pytest.raises(Hang, match="no progress"), watched(0.5):
        while time.process_time() < began + 60:
            pass
    with watched(0.5), terminal.progress_bar("busy") as progress:
        began = time.process_time()
        while (now := time.process_time()) < began + 1.5:
            progress("busy", now - began)


def test_the_fuzzer_can_fail(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from odesys.papers import registry

    def broken(text: str) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(registry, "find_paper", broken)
    with pytest.raises(AssertionError, match="a mistake of ours"):
        random_inputs.check_line(["simulate", "./fuzzpaper"], False, folder, random_inputs.Tally())
    (folder / ".odesys-0.part").touch()
    with pytest.raises(AssertionError, match=r"\.part"):
        random_inputs.check_line(["--version"], True, folder, random_inputs.Tally())
    (folder / ".odesys-0.part").unlink()
    for stray in (folder / "stray", folder.parent / "stray"):
        stray.touch()
        with pytest.raises(AssertionError, match="stray"):
            random_inputs.check_line(["--version"], True, folder, random_inputs.Tally())
        stray.unlink()


WRITING = (
    ["derive", "--out", "{}/d.txt"],
    ["simulate", "--out", "{}/run"],
    ["simulate", "--json", "{}/s.json"],
    ["compare", "--out", "{}/c"],
    ["figures", "--out", "{}/f"],
    ["verify", "--json", "{}/v.json"],
    ["report", "--out", "{}/r"],
    ["sweep", "--over", "omega=0.1,0.2", "--out", "{}/s"],
)


@pytest.mark.parametrize("words", WRITING, ids=lambda words: words[0])
@pytest.mark.parametrize("place", ["/proc/nowhere", "a_file", "/dev/null"])
def test_places_that_can_not_be_written(folder: Path, words: list[str], place: str) -> None:
    """Before anything is computed: a folder of the system's own is as read-only for root as for anyone."""
    from typer.testing import CliRunner

    from odesys.cli import commands

    place = str(folder / place) if not place.startswith("/") else place
    line = [words[0], str(folder / "fuzzpaper"), *(word.format(place) for word in words[1:])]
    began = time.process_time()
    result = CliRunner().invoke(commands.app, line, prog_name="odesys")
    assert result.exit_code == 2 and result.stderr.startswith("odesys: ") and result.stderr.count("\n") == 1
    assert time.process_time() - began < 3


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("command", "function", "first"),
    [
        ("figures", "figures.figure_1(folder, progress)", "(folder / 'half').write_text('half')"),
        ("simulate", "protocol.training(parameters, progress)", "progress('stage 1', 0.5)"),
    ],
    ids=["figures", "simulate"],
)
def test_a_signal_leaves_nothing_half_written(
    tmp_path: Path, kind: signal.Signals, command: str, function: str, first: str
) -> None:
    create(tmp_path / "slowpaper")
    module, _, head = function.partition(".")
    with open(tmp_path / "slowpaper" / f"{module}.py", "a") as file:
        file.write(
            f"\n\ndef {head}:\n    import time\n    {first}\n"
            f"    open({str(tmp_path / 'begun')!r}, 'w').close()\n    time.sleep(600)\n"
        )
    process = subprocess.Popen(
        [*COMMAND, command, "./slowpaper", "--out", "f"],
        cwd=tmp_path,
        env=ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "begun").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(kind)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "odesys: interrupted\n")
    assert list((tmp_path / "f").iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of this kind are POSIX")
def test_a_closed_pipe_is_no_reason_to_shout(folder: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "derive", "./fuzzpaper", "--format", "json"],
        cwd=folder,
        env=ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait(60) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_a_sentence(folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "simulate", "./fuzzpaper", "--json", "/dev/full"],
        cwd=folder,
        env=ENV,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "No space left" in done.stderr and done.stderr.count("\n") == 1


def test_completion_offers_names(folder: Path) -> None:
    def complete(line: str) -> list[str]:
        words = line.split(" ")
        env = {**ENV, "_ODESYS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        done = subprocess.run(
            [sys.executable, "-c", "from odesys.cli.commands import main; main()"],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
        )
        return done.stdout.split()

    assert complete("odesys swe") == ["sweep"]
    assert complete("odesys report two_m") == ["two_mixture"]
    assert complete("odesys derive ./fuzzpaper --system q") == ["quotient"]
    assert complete("odesys derive ./nowhere --system q") == []


def test_an_interrupt_while_the_commands_load_is_one_line_too(tmp_path: Path) -> None:
    """The commands take a tenth of a second to load; here the first library they need interrupts."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt", encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "list"],
        cwd=tmp_path,  # `python -m` looks here first
        env=ENV,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "odesys: interrupted\n")


def test_nothing_is_loaded_before_an_interrupt_is_one_line() -> None:
    line = f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules); import odesys.__main__; "
    line += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-I", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["odesys", "odesys.__main__"]


BEYOND = {
    "simulate cooccurrence --set n=600000000": "n = 600000000 is out of range",
    "derive cooccurrence --set n=600 --set L=1000 --system quotient": "at most 10,000 words can be used",
    "compare two_mixture --seeds 1000000000000": "--seeds",
    "report two_mixture --seeds 1000000000000": "--seeds",
    "verify two_mixture --redraw 1000000000000": "--redraw",
    "compare two_mixture --widths 1000000000000": "7,451 GB for every word",
    "simulate two_mixture --protocol simultaneous --set L=40": "at most 24",
    "simulate two_mixture --protocol simultaneous --set t_end=1e308": "at most 1e+12",
    "simulate two_mixture --set omega=1e308": "at most 1e+60",
    f"simulate signgd --set seed={'9' * 300}": "at most 1,000,000,000,000,000",
    f"simulate signgd --set seed={'9' * 4000}": "(4002 characters)",
    f"sweep two_mixture --over omega={'9' * 4000},1": "omega",
    f"analyse -e x'=k*x --set k={'9' * 5000}": "has 5000 digits",
    "analyse -e x'=3**(10**9)*x": "more than 4000 digits",
}


@pytest.mark.parametrize("line", BEYOND, ids=lambda line: line[:60])
def test_what_can_not_be_computed_is_refused_at_once(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from odesys.cli import commands

    monkeypatch.chdir(tmp_path)
    with watched(60):
        result = CliRunner().invoke(commands.app, line.split(" "), prog_name="odesys")
    assert result.exit_code == 2 and BEYOND[line] in result.stderr, result
    assert result.stderr.count("\n") == 1 and len(result.stderr) < 400
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        ("MemoryError", "the memory of this machine"),
        ("OverflowError('x')", "larger than floating-point numbers"),
        ("RecursionError", "nested more deeply"),
    ],
)
def test_what_is_beyond_the_machine_is_a_sentence(tmp_path: Path, raised: str, words: str) -> None:
    create(tmp_path / "largepaper")
    with open(tmp_path / "largepaper" / "protocol.py", "a") as file:
        file.write(f"\n\ndef training(parameters, progress):\n    raise {raised}\n")
    done = subprocess.run(
        [*COMMAND, "simulate", "./largepaper"], cwd=tmp_path, env=ENV, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1


def test_two_commands_do_not_mix_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from odesys.cli import commands

    create(tmp_path / "lockedpaper")
    with open(tmp_path / "lockedpaper" / "protocol.py", "a") as file:
        file.write(
            "\n\ndef training(parameters, progress):\n    import time\n"
            f"    open({str(tmp_path / 'begun')!r}, 'w').close()\n    time.sleep(600)\n"
        )
    first = subprocess.Popen(
        [*COMMAND, "simulate", "./lockedpaper", "--out", "o"],
        cwd=tmp_path,
        env=ENV,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    monkeypatch.chdir(tmp_path)
    analysis = ["analyse", "-e", "x' = -x", "--out", "o"]
    try:
        while not (tmp_path / "begun").exists() and first.poll() is None:
            time.sleep(0.05)
        for words in ("simulate", "compare", "figures", "sweep --over omega=0.1"):
            line = [*words.split(), "./lockedpaper", "--out", "o"]
            done = CliRunner().invoke(commands.app, line, prog_name="odesys")
            assert done.exit_code == 2 and "another command is writing to o" in done.stderr, done
        assert CliRunner().invoke(commands.app, analysis, prog_name="odesys").exit_code == 2
    finally:
        first.kill()
        first.wait()
    left = tmp_path / "o" / f".odesys-{'0' * 32}.part"
    left.mkdir()
    os.utime(left, (0, 0))
    assert CliRunner().invoke(commands.app, analysis, prog_name="odesys").exit_code == 0 and not left.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["list"], ["derive", "./fuzzpaper", "--quotient"], ["--help"]], ids=lambda w: w[0])
def test_output_that_can_not_be_written_is_a_sentence(folder: Path, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *words], cwd=folder, env=ENV, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "No space left" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="closed by a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_output_is_no_mistake(folder: Path, closed: str) -> None:
    line = f"{sys.executable} -m odesys list ./fuzzpaper {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr


@pytest.mark.parametrize("words", [["list"], ["verify", "./fuzzpaper", "--all"], ["analyse", "-e", "x' = -x^3"]])
def test_a_terminal_that_knows_ascii_only(folder: Path, words: list[str]) -> None:
    env = {**ENV, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*COMMAND, *words], cwd=folder, env=env, capture_output=True, check=False)
    assert done.returncode == 0 and done.stdout.isascii() and done.stdout and not done.stderr


LONG = "a" * 300


@pytest.mark.parametrize(
    "line",
    [
        f"new {LONG}",
        f"list {LONG}",
        f"simulate ./fuzzpaper --out {LONG}",
        f"simulate ./fuzzpaper --json {LONG}",
        f"derive ./fuzzpaper --quotient --out {LONG}",
        f"derive ./fuzzpaper --system {LONG}",
        f"verify ./fuzzpaper --claim {LONG}",
        f"verify ./fuzzpaper --certificates {LONG}",
        f"verify ./fuzzpaper --errata {LONG}.tex",
        f"report ./fuzzpaper --out {LONG}",
        f"sweep ./fuzzpaper --over {LONG}=1,2",
        f"analyse {LONG}.json",
        f"figures ./fuzzpaper --data {LONG}",
    ],
    ids=lambda line: line.replace(LONG, "LONG"),
)
def test_a_name_of_300_letters_is_a_sentence(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from odesys.cli import commands

    monkeypatch.chdir(folder)
    result = CliRunner().invoke(commands.app, line.split(), prog_name="odesys")
    assert result.exit_code == 2 and result.stderr.startswith("odesys: ") and result.stderr.count("\n") == 1, result
