"""The watcher's interrupt reaches what is watched, wherever it lands first."""

import gc
import sys
import time
from collections.abc import Callable

import pytest

from odesys import terminal
from tests.watching import Hang, watched


def work(seconds: float) -> None:
    """Work for so long, of processor time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def collect(landed: list[str]) -> None:
    """A callback of the garbage collector takes the first interrupt."""

    def callback(phase: str, info: dict[str, int]) -> None:
        if not landed:
            try:
                work(5)
            except BaseException as interrupt:
                landed.append(type(interrupt).__name__)
                raise

    gc.callbacks.append(callback)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(callback)


def delete(landed: list[str]) -> None:
    """An object that ends takes the first interrupt."""

    class Slow:
        def __del__(self) -> None:
            try:
                work(5)
            except BaseException as interrupt:
                landed.append(type(interrupt).__name__)
                raise

    Slow()


@pytest.mark.parametrize("swallow", [collect, delete])
@pytest.mark.parametrize(
    ("limits", "expected"), [({"enough": 0.01}, KeyboardInterrupt), ({"still": 0.01}, Hang)], ids=["enough", "still"]
)
def test_an_interrupt_that_python_ignores_is_silent_and_comes_again(
    swallow: Callable[[list[str]], None],
    limits: dict[str, float],
    expected: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    landed: list[str] = []
    with pytest.raises(expected), watched(**limits):
        work(1e-3)
        terminal.silent("a step", 0.5)
        swallow(landed)
        work(5)
    assert len(landed) == 1 and ignored == []
    assert sys.unraisablehook == ignored.append


def test_what_else_python_ignores_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: ignored.append(str(what.exc_value)))

    class Bad:
        def __del__(self) -> None:
            raise ValueError("a mistake of its own")

    with watched():
        Bad()
    assert ignored == ["a mistake of its own"]
