"""A sweep on a Dask cluster: points are sent in batches, so that the scheduler has little to do.

A scheduler needs about two milliseconds for a task, whatever its length. Batches last BATCH_SECONDS, and longer where
there are so many threads that their tasks would keep the scheduler busy for more than LOAD of the time. The points of
a batch whose worker died are tried again one by one, to find the one.
"""

from __future__ import annotations

import asyncio
import math
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from odesys.errors import OdesysError

from .sweep import LOST_PROCESS, Plan, PointResult, Todo, program_digest, run_point

DASK_PATIENCE = 5.0  # seconds without a worker
BATCH_SECONDS = 1.0
TASK_SECONDS, LOAD = (
    2.3e-3,
    0.25,
)  # of a scheduler per task (benchmarks.scheduler); the part of its time that tasks take
MOST_POINTS = 1024  # of a batch, which are lost with their worker
BATCHES_PER_THREAD = 4  # that are left at the end, so that all threads end together


def run_points(paper_text: str, protocol: str, points: Sequence[Mapping[str, Any]]) -> list[PointResult]:
    """Compute some points, one after the other."""
    return [run_point(paper_text, protocol, parameters) for parameters in points]


def batch_size(left: int, seconds_per_point: float, threads: int) -> int:
    """How many of the points left go into the next batch; one while nothing is known about them."""
    if not seconds_per_point > 0:
        return 1
    wanted = max(BATCH_SECONDS, threads * TASK_SECONDS / LOAD) / seconds_per_point
    share = math.ceil(left / (BATCHES_PER_THREAD * max(threads, 1)))
    return max(1, min(int(min(wanted, MOST_POINTS)), share))


def on_dask(plan: Plan, todo: Todo, address: str) -> Iterator[tuple[int, PointResult]]:
    """Rows as they are done, with the numbers of their points."""
    try:
        from distributed import Client, KilledWorker
        from distributed import wait as wait_for
    except ImportError:
        raise OdesysError("--dask needs the packages dask and distributed: pip install dask distributed") from None
    client = _dask_client(Client, address)
    open_ones: dict[Any, list[tuple[int, dict[str, Any]]]] = {}
    waiting, alone, computed, seconds = deque(todo), deque[tuple[int, dict[str, Any]]](), 0, 0.0
    with client, client.as_current():
        threads = sum(client.nthreads().values())
        room = max(16, 4 * threads)
        try:
            while True:
                while (waiting or alone) and len(open_ones) < room:
                    size = batch_size(len(waiting), seconds / max(computed, 1), threads)
                    batch = [alone.popleft()] if alone else [waiting.popleft() for _ in range(min(size, len(waiting)))]
                    points = [parameters for _, parameters in batch]
                    open_ones[client.submit(run_points, plan.paper, plan.protocol, points, pure=False)] = batch
                if not open_ones:
                    return
                for future in _first_done(client, wait_for, list(open_ones)):
                    batch = open_ones.pop(future)
                    try:
                        rows = future.result()
                    except KilledWorker:
                        if len(batch) > 1:
                            alone.extend(batch)
                            continue
                        rows = [PointResult({}, LOST_PROCESS, 0.0, program_digest(plan.paper))]
                    computed, seconds = computed + len(rows), seconds + sum(row.seconds for row in rows)
                    yield from zip((number for number, _ in batch), rows, strict=True)
        except (OSError, TimeoutError, CancelledError) as error:
            raise OdesysError(f"the Dask cluster at {address} was lost: {str(error) or type(error).__name__}") from None
        finally:
            with suppress(OSError, TimeoutError):
                client.cancel(list(open_ones))


def _dask_client(connect: Any, address: str) -> Any:
    """A client of the user's cluster, which has a worker; what does not answer in time is a sentence."""
    try:
        _knock(address)
        with ThreadPoolExecutor(1) as apart:  # a notebook has a loop of its own in this thread
            apart.submit(lambda: asyncio.run(_greet(address))).result()
        client = connect(address, timeout="8s", set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, OverflowError) as error:  # TypeError: no certificate
        raise OdesysError(f"no Dask scheduler answers at {address!r}: {str(error) or type(error).__name__}") from None
    try:
        client.wait_for_workers(1, timeout=DASK_PATIENCE)
    except (OSError, TimeoutError):
        client.close(timeout=1)
        raise OdesysError(
            f"the Dask scheduler at {address} has no workers; start some with `dask worker {address}`"
        ) from None
    return client


def _knock(address: str) -> None:
    """Connect once by ourselves: a client would wait for ever for a protocol nobody knows, or for one who is silent."""
    from distributed.comm.registry import backends

    protocol, _, place = address.rpartition("://")
    if protocol and protocol not in backends:
        raise ValueError(f"{protocol} is no protocol of Dask; use {' or '.join(sorted(backends))}")
    host, _, port = place.rpartition(":")
    if protocol in ("", "tcp") and host and port.isdecimal():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=DASK_PATIENCE) as line:
            if not line.recv(1):  # a scheduler speaks first
                raise ConnectionError("the connection is closed at once")


async def _greet(address: str) -> None:
    """Connect as a client does, without one: a client that fails to begin waits long for its own end."""
    from distributed.comm.core import connect
    from distributed.security import Security

    line = await connect(address, timeout=DASK_PATIENCE, **Security().get_connection_args("client"))
    line.abort()


def _first_done(client: Any, wait_for: Callable[..., Any], futures: list[Any]) -> Iterable[Any]:
    """Those that are done first; an OSError once there has been no worker for a while."""
    without = 0.0
    while True:
        try:
            return wait_for(futures, timeout=DASK_PATIENCE / 2, return_when="FIRST_COMPLETED").done  # type: ignore[no-any-return]
        except TimeoutError:
            without = 0.0 if client.nthreads() else without + DASK_PATIENCE / 2
            if without > DASK_PATIENCE:
                raise OSError("it has no workers any more") from None
