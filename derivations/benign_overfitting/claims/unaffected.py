"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

#: mutations, claims, and why these keep their verdict under those
REASONS: tuple[tuple[str, str, str], ...] = ()
