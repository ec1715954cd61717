"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it."""

from __future__ import annotations

#: mutations, claims, and why these keep their verdict under those
REASONS: tuple[tuple[str, str, str], ...] = ()
