"""Lines of an analysis by section."""

from __future__ import annotations

from odesys import Analysis


def texts(found: Analysis, section: str) -> list[str]:
    return [line.text for line in found.findings if line.section == section]
