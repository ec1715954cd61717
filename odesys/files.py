"""Results on disk: the place is checked before a long run, and a file is written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import math
import numbers
import os
import shutil
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import OutputError
from .locks import UNFINISHED, hold, in_use, remove_leftovers, take

#: formats in which figures are saved where none are named
figure_formats: ContextVar[tuple[str, ...]] = ContextVar("figure_formats", default=("png", "svg"))

# ---- before a run ----------------------------------------------------------------------------------------------------


def prepare_folder(path: str | Path, files: Iterable[str] = ()) -> Path:
    """Make a folder and try it out; `files` are names that will be written there and must not be folders."""
    folder = Path(path)
    probe = folder / _temporary_name()
    try:
        _make_folder(folder)
        with open(probe, "xb"):
            pass
        probe.unlink()
    except (OSError, ValueError) as error:
        raise _refusal(folder, error) from error
    for name in files:
        _refuse_folder(folder / name)
    return folder


def prepare_file(path: str | Path) -> Path:
    """Make the folder of a file that will be written and try it out; a folder of that name is refused.

    What killed commands left beside it is removed.
    """
    target = Path(path)
    _refuse_folder(target)
    if not _is_stream(target):
        try:
            remove_leftovers(prepare_folder(_real(target).parent), depth=1)
            os.lstat(target)  # refuses a name that no file can have, e.g. one of 400 letters
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            raise OutputError(
                f"{target} can not be written: {getattr(error, 'strerror', '') or error}", path=target
            ) from error
    return target


def prepare(out: Path | None, result: Path | None, files: Iterable[str] | None = None, option: str = "--out") -> None:
    """Try the places where results go: that of `option`, and that of --json.

    With `files` the first is a folder, ours from now on, for these; else it is a file. In that folder --json ends in
    .json, for pictures and tables of other names may come there too.
    """
    files = None if files is None else tuple(files)
    if out and result:
        refuse_shared(out, result, files, option)
    if out and files is None:
        prepare_file(out)
    elif out:
        hold(prepare_folder(out, files or ()))
    if result:
        prepare_file(result)


def refuse_shared(out: Path, result: Path, files: Iterable[str] | None, option: str = "--out") -> None:
    """Refuse a --json that what is written to the place of `option`, as in `prepare`, would replace."""
    place = Path(os.path.realpath(result))
    for each in (out, *(out / name for name in files or ())):
        if Path(os.path.realpath(each)) == place:
            raise OutputError(f"{option} and --json both name {each}; give two places", path=each)
    if files is not None and place.is_relative_to(os.path.realpath(out)) and place.suffix.lower() != ".json":
        raise OutputError(
            f"--json names {result} in the folder of {option}, where a file of that name may be written as well; "
            f"let it end in .json, or give another place",
            path=result,
        )


def _make_folder(folder: Path) -> None:
    for each in (folder, *folder.parents):
        if each.exists():
            if not each.is_dir():
                raise OutputError(f"the folder {folder} can not be made: {each} is a file", path=folder)
            break
    folder.mkdir(parents=True, exist_ok=True)


def _refuse_folder(target: Path) -> None:
    if not target.name or os.path.isdir(target):
        raise OutputError(f"{target} is a folder; give the name of a file", path=target)


def _refusal(folder: Path, error: Exception) -> OutputError:
    reason = getattr(error, "strerror", None) or str(error)
    what = "" if _is_stream(folder) else "the folder "
    folder = Path(*(part for part in folder.parts if not UNFINISHED.fullmatch(part)))  # as the user knows it
    return OutputError(f"{what}{folder} can not be written: {reason}", path=folder)


def _is_stream(target: Path) -> bool:
    """Devices, pipes and open descriptors (/dev/null, /dev/stdout) are written to, never replaced by a file."""
    if target in (Path("/dev/stdout"), Path("/dev/stderr")) or target.is_relative_to("/dev/fd"):
        return True
    with suppress(OSError, ValueError):
        mode = os.stat(target).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def _real(target: Path) -> Path:
    """Where a link points, so that a link stays a link."""
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def _temporary_name() -> str:
    return f".odesys-{uuid.uuid4().hex}.part"


# ---- a file that is read ---------------------------------------------------------------------------------------------

LARGEST_TEXT = 2**26  # bytes; no system that can be worked with needs more


def read_text(path: str | Path, regular: bool = False) -> str:
    """The text of a file of bounded size, so that a device without an end is refused as well.

    With `regular` pipes and devices are refused too, and nothing waits for what would be written to them.
    """
    with open(path, "rb", opener=_open_at_once if regular else None) as file:
        if regular and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is no regular file")
        data = file.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise OSError(f"it has more than {LARGEST_TEXT // 2**20} MB")
    return data.decode("utf-8")


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


# ---- one file --------------------------------------------------------------------------------------------------------


def write_bytes(path: str | Path, data: bytes, mode: int | None = None) -> Path:
    """Write under a temporary name in the same folder, then move into place, with the rights `mode` if given."""
    target = Path(path)
    _refuse_folder(target)
    real = target if _is_stream(target) else _real(target)
    try:
        if _is_stream(target):
            real.write_bytes(data)
        else:
            _make_folder(real.parent)
            _replace(real, data, mode)
    except (OSError, ValueError) as error:
        raise _refusal(target if _is_stream(target) else target.parent, error) from error
    return target


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    temporary = target.with_name(_temporary_name())
    rights = 0o666 if mode is None else mode
    try:
        with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, rights)) as file:
            take(file.fileno())  # while it has this name, it is not left over
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is None and target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(path: str | Path, text: str, mode: int | None = None) -> Path:
    """Write text as UTF-8, with a newline at its end."""
    return write_bytes(path, (text if text.endswith("\n") else text + "\n").encode(), mode)


def write_json(path: str | Path, value: Any, mode: int | None = None) -> Path:
    """Write `json_text` of a value."""
    return write_text(path, json_text(value), mode)


def write_csv(path: str | Path, columns: Mapping[str, Any]) -> Path:
    """Write columns of equal length, one row per entry; the digits read back exactly."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*(array.tolist() for array in _arrays(columns).values()), strict=True))
    return write_text(path, text.getvalue())


def write_npz(path: str | Path, columns: Mapping[str, Any]) -> Path:
    """Write columns as a compressed npz, one array per name; the same columns give the same bytes."""
    import zipfile

    import numpy as np

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:  # not np.savez: it reserves names such as `file`
        for name, array in _arrays(columns).items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return write_bytes(path, data.getvalue())


def _arrays(columns: Mapping[str, Any]) -> dict[str, Any]:
    import numpy as np

    arrays = {name: np.asarray(values) for name, values in columns.items()}
    for name, array in arrays.items():
        if array.ndim != 1 or array.dtype.hasobject:
            raise TypeError(f"the column {name} is not a one-dimensional array of numbers or texts")
    if len({array.size for array in arrays.values()}) > 1:
        raise ValueError(f"columns differ in length: {', '.join(f'{n} {a.size}' for n, a in arrays.items())}")
    return arrays


# ---- JSON ------------------------------------------------------------------------------------------------------------


def json_text(value: Any) -> str:
    """JSON that every reader accepts: keys sorted, indented, and no NaN.

    NaN and infinities become null; where the value is a mapping, its key ``not_finite`` then says what stood where,
    as in ``{"final": {"loss": null}, "not_finite": {"final.loss": "inf"}}``. Exact fractions become texts, ``"1/8"``.
    """
    not_finite: dict[str, str] = {}
    plain = _plain(value, (), not_finite)
    if not_finite and isinstance(plain, dict):
        plain["not_finite"] = not_finite
    return json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any, where: tuple[str, ...], not_finite: dict[str, str]) -> Any:
    if hasattr(value, "tolist"):  # NumPy arrays and numbers
        value = value.tolist()
    match value:
        case None | bool() | str():
            return value
        case Mapping():
            return {str(key): _plain(item, (*where, str(key)), not_finite) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, (*where, str(k)), not_finite) for k, item in enumerate(value)]
        case os.PathLike():
            return os.fsencode(value).decode("utf-8", "replace")
        case numbers.Integral():
            return int(value)
        case numbers.Rational():
            return str(value)
        case numbers.Real():
            number = float(value)
            if math.isfinite(number):
                return number
            not_finite[".".join(where)] = str(number)
            return None
    raise TypeError(f"{'.'.join(where) or 'the result'} is a {type(value).__name__}, which has no place in JSON")


# ---- several files together ------------------------------------------------------------------------------------------


@dataclass
class StagedFolder:
    """A temporary folder to write in; `files` is filled when they have been moved to their place."""

    folder: Path
    files: list[Path] = field(default_factory=list)


def final_folder(folder: Path) -> Path:
    """Where files written to a folder will be in the end: unfinished work that outlives an error is kept there.

    Parameters
    ----------
    folder : Path
        Where a command writes, perhaps unfinished.

    Returns
    -------
    Path
        The folder itself, or the one it stands in for.

    Examples
    --------
    >>> from pathlib import Path
    >>> final_folder(Path("figures", f".odesys-{'0' * 32}.part")).name
    'figures'
    """
    return folder.parent if UNFINISHED.fullmatch(folder.name) else folder


@contextmanager
def staged(path: str | Path) -> Iterator[StagedFolder]:
    """Write several files in `.folder`; they move to `path` together at the end, or not at all after an error."""
    folder = prepare_folder(path)
    stage = StagedFolder(folder / _temporary_name())
    try:
        stage.folder.mkdir()
        with in_use(stage.folder):
            yield stage
        moves = {each: folder / each.relative_to(stage.folder) for each in sorted(stage.folder.rglob("*"))}
        moves = {each: target for each, target in moves.items() if not each.is_dir()}
        for target in moves.values():
            _refuse_folder(target)
        try:
            for each, target in moves.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(each, target)
        except OSError as error:
            raise _refusal(folder, error) from error
        stage.files.extend(moves.values())
    finally:
        shutil.rmtree(stage.folder, ignore_errors=True)


@contextmanager
def new_folder(path: str | Path) -> Iterator[StagedFolder]:
    """Write files in `.folder`, which becomes the new folder `path` at the end: with all of them, or not at all."""
    target = Path(path)
    parent = prepare_folder(target.parent)
    remove_leftovers(parent, depth=1)
    stage = StagedFolder(parent / _temporary_name())
    try:
        stage.folder.mkdir()
        with in_use(stage.folder):
            yield stage
        inside = [each.relative_to(stage.folder) for each in sorted(stage.folder.rglob("*")) if not each.is_dir()]
        try:
            stage.folder.rename(target)
        except OSError as error:
            raise _refusal(target, error) from error
        stage.files.extend(target / each for each in inside)
    finally:
        shutil.rmtree(stage.folder, ignore_errors=True)
