"""Figures inside a page: SVG made small and free of clashing names, or a WebP picture where it stays too dense."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

LARGEST_SVG = 120_000  # characters of one figure, after it was made small
WIDEST, QUALITY = 1200, 76  # of pictures: pixels, and strength of what is kept
THUMBNAIL = (384, 240)  # pixels
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_ID = re.compile(r'\bid="([^"]+)"')
_STYLE = re.compile(r' style="[^"]*"')
_PATH = re.compile(r' d="([^"]*)"')
_GLYPH = re.compile(r'<path id="([^"]+)" d="([^"]*)" transform="scale\(0\.015625\)"/>')
_USED = re.compile(r'(<use href="#)([^"]+)"')


@dataclass(frozen=True)
class InlineFigure:
    """A figure as text of a page: an SVG element, or the address of a picture that has all of it inside."""

    svg: str = ""
    data: str = ""
    title: str = ""


def inline(
    files: Sequence[Path], prefix: str, title: str, limit: int = LARGEST_SVG, width: int = WIDEST
) -> list[InlineFigure]:
    """The figures among `files`, one per stem, as SVG up to `limit` characters where there is a choice."""
    by_stem: dict[str, dict[str, Path]] = {}
    for file in files:
        by_stem.setdefault(file.stem, {}).setdefault(file.suffix.lower(), file)
    found = [_inline(kinds, f"{prefix}{k}", title, limit, width) for k, kinds in enumerate(by_stem.values())]
    return [figure for figure in found if figure.svg or figure.data]


def _inline(by_kind: dict[str, Path], prefix: str, title: str, limit: int, width: int) -> InlineFigure:
    changed = {kind: file.stat().st_mtime_ns for kind, file in by_kind.items()}
    vector = _small_file(by_kind[".svg"], changed[".svg"], prefix, title) if ".svg" in by_kind else ""
    if ".png" not in by_kind or (vector and len(vector) <= limit):
        return InlineFigure(svg=vector, title=title)
    return InlineFigure(data=_picture(by_kind[".png"], changed[".png"], width), title=title)


@lru_cache(maxsize=64)
def _small_file(file: Path, changed: int, prefix: str, title: str) -> str:
    return small(file.read_text(encoding="utf-8"), prefix, title)


@lru_cache(maxsize=64)
def _picture(file: Path, changed: int, width: int) -> str:
    from PIL import Image

    with Image.open(file) as opened:
        picture = opened.convert("RGB")
    if picture.width > width:
        picture = picture.resize((width, round(picture.height * width / picture.width)))
    return _as_data(picture)


def thumbnail(files: Sequence[Path]) -> str:
    """The left part of the first picture, small, as the address of a picture; empty where there is none."""
    from PIL import Image

    for file in files:
        if file.suffix.lower() == ".png":
            with Image.open(file) as opened:
                picture = opened.convert("RGB")
            width, height = THUMBNAIL
            wide = min(picture.width, round(picture.height * width / height))
            part = picture.crop((0, 0, wide, picture.height))
            return _as_data(part.resize((width, round(picture.height * width / wide))))
    return ""


def _as_data(picture: Any) -> str:
    made = io.BytesIO()
    picture.save(made, "WEBP", quality=QUALITY, method=2)
    return "data:image/webp;base64," + base64.b64encode(made.getvalue()).decode("ascii")


def small(text: str, prefix: str, title: str) -> str:
    """An SVG file as an element of a page: two decimals, ids with a prefix of their own, a title for screen readers."""
    body = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", text, flags=re.DOTALL).strip()
    body = _NUMBER.sub(lambda found: _two_decimals(found.group()), body)
    for name in dict.fromkeys(_ID.findall(body)):
        if f"#{name}" not in body:  # groups such as axes_1, which nothing refers to
            body = body.replace(f' id="{name}"', "")
    body = _ID.sub(lambda found: f'id="{prefix}-{found.group(1)}"', body)
    body = re.sub(r'(?:xlink:)?(href="|url\()#', rf"\1#{prefix}-", body)
    body = _PATH.sub(lambda found: f' d="{_short_path(found.group(1))}"', body)
    body = _STYLE.sub(lambda found: found.group().replace(": ", ":").replace("; ", ";"), body)
    opening = re.match(r"<svg\b[^>]*>", body)
    if opening is None:
        return f'<p class="missing">{escape(title)}: the file is not SVG</p>'
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", opening.group())
    box = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ', head)
    natural = f' style="--natural: {1.4 * float(box.group(1)):.0f}px"' if box else ""
    head = head.replace("<svg", f'<svg class="figure"{natural} role="img" aria-labelledby="{prefix}-title"', 1)
    body = re.sub(r">\s+<", "><", body[opening.end() :])
    return f'{head}<title id="{prefix}-title">{escape(title)}</title>{body}'


def _two_decimals(text: str) -> str:
    number = float(text)
    if abs(number) < 0.05:  # scales of glyphs are small numbers that matter
        return f"{number:.6g}"
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _short_path(path: str) -> str:
    """A path without the blanks that separate letters from numbers.

    >>> _short_path("M 0 -1.5 \\nL 0 3.5 \\nz")
    'M0 -1.5L0 3.5z'
    """
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", re.sub(r"\s+", " ", path)).strip()


def without_glyphs(svg: str) -> str:
    """A figure without the letters that it could have from others."""
    return _GLYPH.sub("", svg)


def share_glyphs(page: str) -> str:
    """The page with each letter of its figures drawn once, under a short name: all figures use the same ones."""
    names: dict[str, str] = {}
    same: dict[str, str] = {}

    def keep(found: re.Match[str]) -> str:
        id, path = found.groups()
        fresh = path not in names
        same[id] = names.setdefault(path, f"g{len(names)}")
        return found.group().replace(f'id="{id}"', f'id="{same[id]}"', 1) if fresh else ""

    text = _GLYPH.sub(keep, page).replace("<defs></defs>", "")
    return _USED.sub(lambda found: f'{found.group(1)}{same.get(found.group(2), found.group(2))}"', text)
