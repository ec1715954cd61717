"""Points in batches on a Dask cluster; runs on clusters are in test_sweep.py."""

from __future__ import annotations

import socket
import sys
import threading
import types
from typing import Any

import pytest

from numerics.sweeps import on_dask
from numerics.sweeps.on_dask import BATCH_SECONDS, LOAD, MOST_POINTS, TASK_SECONDS, batch_size
from numerics.sweeps.sweep import LOST_PROCESS, Plan, PointResult
from odesys.errors import OdesysError


def test_batches_last_a_second_and_leave_some_for_all() -> None:
    assert batch_size(1000, 0.0, 4) == 1  # nothing is known yet
    assert batch_size(10**6, 0.01, 4) == 100
    assert batch_size(10**6, 1e-6, 4) == MOST_POINTS
    assert batch_size(10**6, 30.0, 4) == 1
    assert batch_size(64, 0.01, 4) == 4  # four batches for each thread
    assert batch_size(1, 0.01, 4) == 1


@pytest.mark.parametrize("threads", [1, 100, 1000, 5000])
def test_the_scheduler_is_busy_for_a_part_of_the_time_only(threads: int) -> None:
    size = batch_size(10**9, 0.05, threads)
    tasks_per_second = threads / (size * 0.05)
    assert tasks_per_second * TASK_SECONDS <= 1.1 * LOAD
    assert size * 0.05 >= 0.9 * BATCH_SECONDS


class Killed(Exception):
    """A worker died."""


class Future:
    """Rows, or the death of a worker."""

    def __init__(self, rows: list[PointResult], dies: bool) -> None:
        self.rows, self.dies = rows, dies

    def result(self) -> list[PointResult]:
        if self.dies:
            raise Killed
        return self.rows


class Cluster:
    """What `on_dask` uses of a client, on which one point kills its worker."""

    def __init__(self, deadly: int) -> None:
        self.deadly, self.sent = deadly, list[int]()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def as_current(self) -> Cluster:
        return self

    def nthreads(self) -> dict[str, int]:
        return {"a": 2}

    def cancel(self, futures: list[Future]) -> None:
        assert not futures

    def submit(self, _: Any, paper: str, protocol: str, points: list[dict[str, Any]], pure: bool) -> Future:
        self.sent.append(len(points))
        rows = [PointResult({"x": point["x"]}, "", 0.001, "here") for point in points]
        return Future(rows, any(point["x"] == self.deadly for point in points))


def rows_of(cluster: Cluster, count: int, monkeypatch: pytest.MonkeyPatch) -> dict[int, PointResult]:
    """What a sweep of some points on such a cluster gives."""
    fake = types.SimpleNamespace(Client=None, KilledWorker=Killed, wait=None)
    monkeypatch.setitem(sys.modules, "distributed", fake)
    monkeypatch.setattr(on_dask, "_dask_client", lambda connect, address: cluster)
    monkeypatch.setattr(on_dask, "_first_done", lambda client, wait, futures: futures[:1])
    monkeypatch.setattr(on_dask, "program_digest", lambda paper: "here")
    plan = Plan("paper", "paper", "protocol", {}, ())
    rows = dict(on_dask.on_dask(plan, [(k, {"x": k}) for k in range(count)], "somewhere"))
    assert sorted(rows) == list(range(count))
    return rows


def test_points_of_a_lost_batch_are_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(deadly=77)
    rows = rows_of(cluster, 400, monkeypatch)
    assert [k for k, row in rows.items() if row.error] == [77] and rows[77].error == LOST_PROCESS
    assert all(row.result == {"x": k} for k, row in rows.items() if k != 77)
    assert max(cluster.sent) > 10 and len(cluster.sent) < 200


def test_of_two_points_that_are_lost_together_one_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "batch_size", lambda left, seconds, threads: 2)
    cluster = Cluster(deadly=3)
    rows = rows_of(cluster, 6, monkeypatch)
    assert cluster.sent == [2, 2, 2, 1, 1] and [k for k, row in rows.items() if row.error] == [3]


def test_only_a_plain_address_is_tried_by_ourselves() -> None:
    """What does not answer is told at once; other protocols and names without a port are left to the client."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]  # bound and not listened at: nobody answers
        for address in (f"127.0.0.1:{port}", f"tcp://127.0.0.1:{port}"):
            with pytest.raises(OSError):
                on_dask._knock(address)
        for address in (f"tls://127.0.0.1:{port}", "127.0.0.1:", "tcp://:8786", "somewhere"):
            on_dask._knock(address)
    with pytest.raises(ValueError, match=r"xyz is no protocol of Dask; use .*tcp"):
        on_dask._knock("xyz://127.0.0.1:1")


@pytest.mark.parametrize(
    ("address", "said"),
    [("tls://127.0.0.1:1", "TLS|ssl"), ("inproc://a/b/c", "does not match"), ("somewhere", "port"), (" ", "port")],
)
def test_an_address_that_can_not_be_is_told_before_there_is_a_client(address: str, said: str) -> None:
    """A client that fails to begin says so twice, the second time a quarter of a minute later and as a traceback."""

    def no_client(*_: object, **__: object) -> None:
        raise AssertionError("a client was made")

    with pytest.raises(OdesysError, match=f"no Dask scheduler answers at {address!r}: .*({said})"):
        on_dask._dask_client(no_client, address)


def test_batches_are_as_long_as_the_points_so_far_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a batch is chosen by is the mean time of all points that are done."""
    told: list[float] = []

    def noted(left: int, seconds: float, threads: int) -> int:
        told.append(seconds)
        assert threads == 2
        return 3

    monkeypatch.setattr(on_dask, "batch_size", noted)
    cluster = Cluster(deadly=-1)
    rows_of(cluster, 120, monkeypatch)
    known = [seconds for seconds in told if seconds]
    assert (
        known and len(known) < len(told) and known == pytest.approx([0.001] * len(known)) and sum(cluster.sent) == 120
    )


@pytest.mark.parametrize(
    ("left", "seconds", "threads", "size"),
    [
        (10**6, -1.0, 4, 1),
        (10**6, float("nan"), 4, 1),
        (10**6, 0.1, 4, 10),
        (10**6, 0.1, 0, 10),
        (17, 0.01, 4, 2),  # of 17 points and 16 batches one has two
        (16, 0.01, 4, 1),
        (5, 1e-9, 1, 2),
        (4096, 1e-9, 1, 1024),
        (8192, 1e-9, 1, 1024),
        (0, 0.01, 4, 1),
        (10**9, 1.0, 1000, 9),  # 1000 threads: a task every 9.2 seconds
        (10**9, 0.01, 100, 100),
    ],
)
def test_a_batch_is_as_long_as_the_scheduler_needs_and_as_short_as_all_can_end_together(
    left: int, seconds: float, threads: int, size: int
) -> None:
    assert batch_size(left, seconds, threads) == size


def test_points_of_a_batch_are_computed_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "run_point", lambda *given: given)
    assert on_dask.run_points("p", "run", [{"x": 1}, {"x": 2}]) == [("p", "run", {"x": 1}), ("p", "run", {"x": 2})]


class Waiting:
    """A client whose workers come and go, one answer for each time it is asked."""

    def __init__(self, *threads: dict[str, int]) -> None:
        self.left = list(threads)

    def nthreads(self) -> dict[str, int]:
        return self.left.pop(0)


def test_a_cluster_may_be_without_workers_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times half of its patience in a row are too long; a worker in between begins the count again."""
    asked: list[Any] = []

    def never(futures: list[int], timeout: float, return_when: str) -> Any:
        asked.append((futures, timeout, return_when))
        raise TimeoutError

    some, none = {"a": 1}, dict[str, int]()
    with pytest.raises(OSError, match="it has no workers any more"):
        on_dask._first_done(Waiting(none, none, none), never, [1])
    assert asked == [([1], on_dask.DASK_PATIENCE / 2, "FIRST_COMPLETED")] * 3
    with pytest.raises(OSError, match="it has no workers any more"):
        on_dask._first_done(Waiting(none, none, some, none, none, none), never, [1])
    assert len(asked) == 9
    done = types.SimpleNamespace(done={1})
    assert on_dask._first_done(Waiting(), lambda *given, **more: done, [1]) == {1}


def test_a_cluster_that_is_lost_is_a_sentence_and_what_is_open_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled: list[int] = []

    class Lost(Cluster):
        def cancel(self, futures: list[Future]) -> None:
            cancelled.append(len(futures))

    fake = types.SimpleNamespace(Client=None, KilledWorker=Killed, wait=None)
    monkeypatch.setitem(sys.modules, "distributed", fake)
    cluster = Lost(deadly=-1)
    monkeypatch.setattr(on_dask, "_dask_client", lambda connect, address: cluster)
    plan = Plan("paper", "paper", "protocol", {}, ())
    for error, said in ((OSError("gone"), "gone"), (TimeoutError(), "TimeoutError"), (OSError(), "OSError")):

        def broken(*given: Any, error: Exception = error) -> Any:
            raise error

        monkeypatch.setattr(on_dask, "_first_done", broken)
        with pytest.raises(OdesysError, match=f"^the Dask cluster at somewhere was lost: {said}$"):
            list(on_dask.on_dask(plan, [(k, {"x": k}) for k in range(40)], "somewhere"))
    assert cancelled == [16, 16, 16], "sixteen batches are under way at least"


@pytest.mark.parametrize(("threads", "room"), [(1, 16), (4, 16), (5, 20), (10, 40)])
def test_four_batches_are_under_way_for_each_thread(monkeypatch: pytest.MonkeyPatch, threads: int, room: int) -> None:
    sizes: list[int] = []

    class Many(Cluster):
        def nthreads(self) -> dict[str, int]:
            return {"a": threads - 1, "b": 1}

    cluster = Many(deadly=-1)
    monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(Client=None, KilledWorker=Killed, wait=None))
    monkeypatch.setattr(on_dask, "_dask_client", lambda connect, address: cluster)
    monkeypatch.setattr(on_dask, "_first_done", lambda client, wait, futures: sizes.append(len(futures)) or futures[:1])
    plan = Plan("paper", "paper", "protocol", {}, ())
    rows = list(on_dask.on_dask(plan, [(k, {"x": k}) for k in range(100)], "somewhere"))
    assert sorted(number for number, _ in rows) == list(range(100)) and max(sizes) == room


def test_a_client_without_workers_is_closed_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Client:
        def __init__(self, address: str, timeout: str, set_as_default: bool) -> None:
            seen.append((address, timeout, set_as_default))

        def wait_for_workers(self, count: int, timeout: float) -> None:
            seen.append((count, timeout))
            if len(seen) > 3:
                raise TimeoutError

        def close(self, timeout: float) -> None:
            seen.append("closed")

    async def greet(address: str) -> None:
        return None

    monkeypatch.setattr(on_dask, "_knock", lambda address: None)
    monkeypatch.setattr(on_dask, "_greet", greet)
    assert isinstance(on_dask._dask_client(Client, "here"), Client)
    assert seen == [("here", "8s", False), (1, on_dask.DASK_PATIENCE)]
    with pytest.raises(
        OdesysError, match="the Dask scheduler at here has no workers; start some with `dask worker here`"
    ):
        on_dask._dask_client(Client, "here")
    assert seen[-1] == "closed"


def test_one_who_hangs_up_at_once_is_no_scheduler() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer(word: bytes) -> None:
            line, _ = server.accept()
            line.sendall(word)
            line.close()

        for word, fine in ((b"x", True), (b"", False)):
            thread = threading.Thread(target=answer, args=(word,))
            thread.start()
            if fine:
                on_dask._knock(f"127.0.0.1:{port}")
            else:
                with pytest.raises(ConnectionError, match="closed at once"):
                    on_dask._knock(f"tcp://127.0.0.1:{port}")
            thread.join()


def test_what_gives_no_reason_is_named_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(address: str) -> None:
        raise TimeoutError

    monkeypatch.setattr(on_dask, "_knock", silent)
    with pytest.raises(OdesysError, match=r"^no Dask scheduler answers at 'here': TimeoutError$"):
        on_dask._dask_client(None, "here")
