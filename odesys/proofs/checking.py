"""Running Coq on files of proofs: in parallel, with limits of time and memory, and each content only once."""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files as resources
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

from ..files import write_text
from ..jit.code_store import cache_folder

SECONDS, MEMORY = 120, 3 * 2**30  # of one file, of a processor
WALL = 60  # times as long on a clock, for one that waits for something
PACKAGES = "coq libcoq-coquelicot libcoq-interval"
WITHOUT_COQ = (
    f"Coq was not found, so the files were written and not checked; on Debian: apt install {PACKAGES}, "
    f"then again with the same options, or coqc -R . Odesys FILE.v in the folder"
)
# the axioms of the real numbers in the standard library of Coq, and what they stand on
AXIOMS_OF_THE_REALS = frozenset(
    {
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
)
# the whole numbers of 63 bits that the kernel computes with, and what is said of them: enclosures of numbers use them
MACHINE_NUMBERS = ("PrimInt63.", "Uint63.")
MACHINE = "whole numbers of 63 bits (PrimInt63, Uint63)"
PRELUDE, DERIVATIVES = "prelude.v", "derivatives.v"
# libraries of ours that a file may need, each after those it needs
OTHERS = (DERIVATIVES, "sequences.v", "lengths.v", "matrices.v", "attention.v", "outputs.v")
IMPORTED = re.compile(r"^From Odesys Require Import (.*)\.$", re.M)  # libraries of ours, in the head of a file
COQUELICOT = "derivatives need Coquelicot; on Debian: apt install libcoq-coquelicot"


@dataclass(frozen=True)
class Checked:
    """What Coq said of a file."""

    file: str
    ok: bool
    seconds: float
    axioms: tuple[str, ...] = ()
    why: str = ""
    version: str = ""


@lru_cache(maxsize=1)
def coq_version() -> str:
    """The version of Coq on this machine, empty without one."""
    if shutil.which("coqc") is None:
        return ""
    said = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\S+)", said)
    return found.group(1) if found else ""


def library_text(name: str = PRELUDE) -> str:
    """A file that others need: all of them the prelude, derivations the rules of differentiation, too."""
    return (resources("odesys.proofs") / name).read_text("utf-8")


def libraries_of(text: str) -> list[str]:
    """The files of ours that a file needs, and that these need, the prelude first.

    >>> libraries_of("From Odesys Require Import prelude derivatives.")
    ['prelude.v', 'derivatives.v']
    >>> libraries_of("From Odesys Require Import lengths.")
    ['prelude.v', 'sequences.v', 'lengths.v']
    """
    named: set[str] = set()
    texts = [text]
    while texts:
        words = {word for line in IMPORTED.findall(texts.pop()) for word in line.split()} - named
        named |= words
        texts += [library_text(each) for each in OTHERS if each.removesuffix(".v") in words]
    return [PRELUDE, *(each for each in OTHERS if each.removesuffix(".v") in named)]


def write_folder(folder: Path, theories: Mapping[str, str]) -> list[Path]:
    """Write files by name, with the prelude and the description of the project."""
    folder.mkdir(parents=True, exist_ok=True)
    libraries = dict.fromkeys([PRELUDE, *(name for text in theories.values() for name in libraries_of(text))])
    texts = {**{name: library_text(name) for name in libraries}, **theories}
    listed = "\n".join(texts)
    texts = {"_CoqProject": f"-R . Odesys\n{listed}\n", **texts}
    return [write_text(folder / name, text) for name, text in texts.items()]


def check_folder(
    folder: Path, names: Sequence[str], workers: int, progress: Callable[[str, float], None]
) -> dict[str, Checked]:
    """What Coq says of the files of a folder, by name; compiled in a folder that belongs to this call alone."""
    version = coq_version()
    texts = {name: (folder / name).read_text("utf-8") for name in names}
    found = {name: known for name, text in texts.items() if (known := _kept(name, text, version)) is not None}
    left = {name: text for name, text in texts.items() if name not in found}
    if left:
        with TemporaryDirectory(prefix="odesys-proofs-") as place:
            write_folder(Path(place), left)
            for name, seen in _checked(Path(place), left, workers, progress):
                found[name] = seen
                _keep(texts[name], version, seen)
    return {name: found[name] for name in names}


def _checked(
    place: Path, texts: Mapping[str, str], workers: int, progress: Callable[[str, float], None]
) -> Iterator[tuple[str, Checked]]:
    """Files of a folder with what Coq says of them, as it says it."""
    needs = {name: libraries_of(text) for name, text in texts.items()}
    open_ones = list(texts)
    for library in dict.fromkeys(
        [PRELUDE, *(each for each in OTHERS if any(each in known for known in needs.values()))]
    ):
        built = _run(place, library)
        why = COQUELICOT if library == DERIVATIVES else f"{library}: {built.why}"
        for name in [] if built.ok else [name for name in open_ones if library in needs[name]]:
            open_ones.remove(name)
            yield name, Checked(name, False, 0.0, (), why, coq_version())
    with ThreadPoolExecutor(max(1, workers)) as pool:
        futures = {pool.submit(_run, place, name): name for name in open_ones}
        for done, future in enumerate(as_completed(futures), start=1):
            progress(f"checking {futures[future]}", done / len(open_ones))
            yield futures[future], future.result()


def _limits() -> None:
    """Limits of a process, no higher than those it is under already, which it can not raise."""
    for kind, wanted in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_STACK, resource.RLIM_INFINITY),
    ):
        highest = resource.getrlimit(kind)[1]
        known = [size for size in (wanted, highest) if size != resource.RLIM_INFINITY]
        resource.setrlimit(kind, (min(known, default=wanted),) * 2)


def _run(folder: Path, name: str) -> Checked:
    """One file; time is processor time, so that a busy machine changes no answer."""
    command = ["coqc", "-R", ".", "Odesys", name]
    with (folder / f"{name}.out").open("w+") as out, (folder / f"{name}.err").open("w+") as err:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, preexec_fn=_limits)
        stop = Timer(WALL * SECONDS, process.kill)
        stop.start()
        _, status, used = os.wait4(process.pid, 0)
        stop.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    said = subprocess.CompletedProcess(command, process.returncode, *texts)
    seconds = round(used.ru_utime + used.ru_stime, 2)
    if said.returncode != 0:
        return Checked(name, False, seconds, (), _reason(folder / name, said), coq_version())
    found = read_axioms(said.stdout)
    machine = (MACHINE,) if any(axiom.startswith(MACHINE_NUMBERS) for axiom in found) else ()
    axioms = (*(axiom for axiom in found if not axiom.startswith(MACHINE_NUMBERS)), *machine)
    strange = [axiom for axiom in axioms if axiom not in {*AXIOMS_OF_THE_REALS, *machine}]
    why = f"rests on {', '.join(strange)}, which is no axiom of the reals" if strange else ""
    return Checked(name, not strange, seconds, axioms, why, coq_version())


def read_axioms(said: str) -> tuple[str, ...]:
    """The names below ``Axioms:`` in what ``Print Assumptions`` says; empty where all is closed.

    >>> read_axioms("Axioms:\\nClassical_Prop.classic : forall P : Prop, P \\\\/ ~ P\\nmine\\n  : False\\n")
    ('Classical_Prop.classic', 'mine')
    """
    _, found, listed = said.partition("Axioms:\n")
    return tuple(dict.fromkeys(re.findall(r"^([A-Za-z_][\w.']*)(?= :|$)", listed, re.M))) if found else ()


def _reason(file: Path, said: subprocess.CompletedProcess[str]) -> str:
    """Which lemma is not proved, and what Coq says of it, in a line."""
    if said.returncode < 0:
        return f"stopped at the limit of {SECONDS} s or {MEMORY // 2**30} GB"
    place = re.search(r"line (\d+)", said.stderr)
    lemma = ""
    if place:
        before = file.read_text("utf-8").splitlines()[: int(place.group(1))]
        names = [line.split()[1] for line in before if line.startswith(("Lemma ", "Theorem ", "Definition "))]
        lemma = f"{names[-1]}: " if names else ""
    message = " ".join(said.stderr.partition("Error:")[2].split()) or "out of memory or time"
    return f"{lemma}{message[:160]}"


def _place(text: str, version: str) -> Path | None:
    folder = cache_folder()
    if folder is None or not version:
        return None
    content = "\n".join([version, *map(library_text, libraries_of(text)), text])
    return folder / "proofs" / f"{hashlib.sha256(content.encode()).hexdigest()}.json"


def _kept(name: str, text: str, version: str) -> Checked | None:
    place = _place(text, version)
    with suppress(OSError, ValueError, TypeError):
        if place is not None:
            data = json.loads(place.read_text("utf-8"))
            return Checked(**{**data, "axioms": tuple(data["axioms"]), "file": name})
    return None


def _keep(text: str, version: str, found: Checked) -> None:
    place = _place(text, version)
    with suppress(OSError):
        if place is not None and found.ok:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_text(place, json.dumps(asdict(found)))
