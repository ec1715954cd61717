"""The command line under nonsense: random lines and definitions, read-only folders, a closed pipe, a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner

from odesys import locks
from odesys.cli import options
from odesys.errors import OdesysError, ParameterError
from odesys.memory import usable_memory
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


def ended(raised: BaseException | int | None) -> tuple[object, str]:
    """How a program ends, and what it says, whose only command raises or returns this."""
    program = typer.Typer(cls=options.Commands, add_completion=False)

    @program.command()
    def first() -> int | None:
        if isinstance(raised, BaseException):
            raise raised
        return raised

    @program.command()
    def second(size: int = 1) -> None:
        pass

    result = CliRunner().invoke(program, ["first"], prog_name="toy")
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (None, 0, ""),
        (1, 1, ""),
        (7, 7, ""),
        (OdesysError("one\ntwo   three"), 2, "odesys: one two three\n"),
        (typer.BadParameter("Not This."), 2, "odesys: invalid value: Not This (see toy first --help)\n"),
        (KeyboardInterrupt(), 130, "odesys: interrupted\n"),
        (typer.Abort(), 130, "odesys: interrupted\n"),
        (OverflowError("x"), 2, "odesys: a number became larger than floating-point numbers can be; give smaller"),
        (RecursionError(), 2, "odesys: an expression is nested more deeply than it can be worked on"),
        (MemoryError(), 2, f"odesys: the memory of this machine ({usable_memory() / 2**30:.0f} GB) is not enough"),
    ],
)
def test_how_a_program_ends(raised: BaseException | int | None, code: int, said: str) -> None:
    found, text = ended(raised)
    assert found == code and text.startswith(said) and text.count("\n") == bool(said)


def test_what_an_interrupt_left_behind_is_said_before_it() -> None:
    error = KeyboardInterrupt()
    error.add_note("half of the runs are in out")
    assert ended(error) == (130, "odesys: half of the runs are in out\nodesys: interrupted\n")


def test_an_output_that_is_gone_is_closed_and_nothing_more_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(options, "_close_output", lambda: closed.append(True))
    assert ended(BrokenPipeError()) == (1, "") and closed == [True]
    for error, said in (
        (OSError(28, "No space left", "table.csv"), "table.csv can not be used: No space left"),
        (OSError(28, "No space left"), "what this command prints can not be used: No space left"),
        (OSError("it is odd"), "what this command prints can not be used: it is odd"),
    ):
        assert ended(error) == (2, f"odesys: {said}\n")
    assert len(closed) == 4


def test_a_usage_error_says_where_help_is() -> None:
    program = typer.Typer(cls=options.Commands, add_completion=False)
    program.command("first")(lambda: None)
    program.command("second")(lambda: None)
    for line, said in (
        (["first", "--no-such"], "no such option: --no-such (see toy first --help)"),
        (["third"], "no such command 'third' (see toy --help)"),
    ):
        result = CliRunner().invoke(program, line, prog_name="toy")
        assert (result.exit_code, result.stderr.replace("option '--no-such'", "option: --no-such")) == (
            2,
            f"odesys: {said}\n",
        )


def test_folders_are_free_again_after_a_command(tmp_path: Path) -> None:
    program = typer.Typer(cls=options.Commands, add_completion=False)

    @program.command()
    def first() -> None:
        locks.hold(tmp_path)
        with pytest.raises(OdesysError, match="another command"), locks.holding():
            locks.hold(tmp_path)

    program.command("second")(lambda: None)
    for _ in range(2):
        assert CliRunner().invoke(program, ["first"]).exit_code == 0


def test_streams_are_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(reconfigure=lambda errors: asked.append(errors)))
    options.mend_streams()
    mended = sys.stdout
    monkeypatch.undo()
    assert mended.name == os.devnull and mended.writable() and asked == ["replace"]
    mended.close()
    with pytest.raises(KeyboardInterrupt):
        options.interrupt(15, None)


@pytest.mark.parametrize(
    ("fixed", "kept"),
    [
        *((text, True) for text in ("0", "86400")),
        *((text, False) for text in ("", "²", "٣", "soon", "-5", "1e9", "9" * 20, "9" * 5000)),
    ],
)
def test_a_date_that_is_none_counts_as_not_set(monkeypatch: pytest.MonkeyPatch, fixed: str, kept: bool) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", fixed)
    monkeypatch.setenv("MPLBACKEND", "nonsense")
    options.mend_environment()
    assert os.environ.get("SOURCE_DATE_EPOCH") == (fixed if kept else None)
    assert os.environ["MPLBACKEND"] == "Agg"
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    options.mend_environment()
    assert "SOURCE_DATE_EPOCH" not in os.environ


def test_settings_are_read_and_given_once() -> None:
    assert options.read_settings(["a=1", " b = x=y "]) == {"a": "1", "b": "x=y"} and options.read_settings(None) == {}
    for texts, said in (
        (["a"], "--set 'a' can not be read"),
        (["=1"], "--set '=1' can not be read"),
        (["a="], "--set 'a=' can not be read"),
        (["a=1", "b=2", "a=3"], "--set gives a twice: 1 and 3; give it once"),
    ):
        with pytest.raises(ParameterError) as caught:
            options.read_settings(texts)
        assert str(caught.value).startswith(said)


def test_widths_are_positive_whole_numbers_given_once() -> None:
    largest = options.LARGEST_WIDTH
    assert options.read_widths("1, 20,3") == [1, 20, 3] and options.read_widths(f"{largest}") == [largest]
    for text, said in (
        ("1,0", "'0' is not a positive whole number"),
        ("1,-2", "'-2' is not a positive whole number"),
        ("", "'' is not a positive"),
        ("1,x", "--widths '1,x' can not be read: 'x' is not a positive whole number"),
        ("²", "is not a positive whole number"),
        ("1,2,1", "--widths '1,2,1' has 1 twice"),
        ("0" * 18 + "2", ""),
        ("0" * 19 + "2", "is not a positive whole number"),
        (f"{largest + 1}", f"a network of width {largest + 1:,} has at least 1 GB for every word, and there are"),
        (f"{2**30}", "has at least 8 GB for every word"),
        ("1" * 61, f"--widths '{'1' * 60}...' can not be read: '{'1' * 60}' is"),
        ("1" * 60, f"--widths '{'1' * 60}' can not be read"),
    ):
        if not said:
            assert options.read_widths(text) == [2]
            continue
        with pytest.raises(ParameterError) as caught:
            options.read_widths(text)
        assert said in str(caught.value)


def test_names_are_completed_for_the_paper_on_the_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read of it so far, or else the first word after the command that is no option."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("_TYPER_COMPLETE_ARGS", raising=False)
    context = SimpleNamespace(params={"paper": "./fuzzpaper"})
    paper = options.registry.find_paper("./fuzzpaper")
    assert options.complete("systems")(context, "") == list(paper.systems)  # type: ignore[arg-type]
    assert options.complete("parameters")(context, "") == [f"{p.name}=" for p in paper.parameters]  # type: ignore[arg-type]
    assert options.complete("claims")(context, "") == paper.claims()  # type: ignore[arg-type]
    assert options.complete("papers")(context, "two_m") == ["two_mixture"]  # type: ignore[arg-type]
    assert options.complete("systems")(context, "no such name") == []  # type: ignore[arg-type]
    for params, line, word in (
        ({"paper": "one"}, "odesys derive two", "one"),
        ({"names": ["one", "other"]}, "odesys verify two", "one"),
        ({}, "odesys derive --system --set two three", "two"),
        ({"names": None}, "odesys derive", ""),
        ({}, "", ""),
    ):
        monkeypatch.setenv("COMP_WORDS", line)
        assert options._paper_on_line(SimpleNamespace(params=params)) == word  # type: ignore[arg-type]
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "odesys derive four")
    assert options._paper_on_line(SimpleNamespace(params={})) == "four"  # type: ignore[arg-type]
