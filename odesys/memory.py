"""How much memory there is, and a limit there: what needs more is refused as such, and not ended by the system."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of containers
_MEMORY = "/proc/meminfo"


def usable_memory() -> int:
    """Bytes that this process can hope for: those of the machine, or of the container it runs in."""
    sizes = []
    with suppress(AttributeError, OSError, ValueError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for name in _GROUPS:
        with suppress(OSError, ValueError):  # "max" where there is no limit
            sizes.append(int(Path(name).read_text("ascii")))
    return min((size for size in sizes if size > 0), default=8 * 2**30)


def free_memory() -> int:
    """Bytes that other programs leave at this moment, with what can be moved out of memory."""
    sizes = {}
    with suppress(OSError, ValueError):
        for line in Path(_MEMORY).read_text("ascii").splitlines():
            name, number = line.split()[:2]
            sizes[name] = 1024 * int(number)
    if "MemAvailable:" not in sizes:
        return usable_memory()
    return min(usable_memory(), sizes["MemAvailable:"] + sizes.get("SwapFree:", 0))


def limit_memory() -> None:
    """Let requests beyond what is free fail as MemoryError; a limit that is set already stays if it is lower."""
    with suppress(ImportError, OSError, ValueError, AttributeError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = free_memory()
        if soft == resource.RLIM_INFINITY or soft > wanted:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
