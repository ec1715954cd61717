"""A real browser without a driver package: chromedriver speaks plain HTTP, which the standard library can speak too."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DRIVER = shutil.which("chromedriver")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


class Browser:
    """One session: open a page, run script in it, read its console and its network traffic."""

    def __init__(self, address: str, profile: Path) -> None:
        self._address = address
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._address + path, data, kind, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def command(self, name: str, **arguments: Any) -> Any:
        """A command of the developer tools."""
        return self._call("POST", f"{self._session}/goog/cdp/execute", {"cmd": name, "params": arguments})

    def open(self, file: Path, width: int = 1400, height: int = 1000, dark: bool = False, fragment: str = "") -> None:
        """Show a file in a window of this size."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", media="", features=[scheme])
        self._call("POST", f"{self._session}/url", {"url": "about:blank"})
        self.requests(), self.console()  # those of the browser's own start page
        self._call("POST", f"{self._session}/url", {"url": file.as_uri() + (f"#{fragment}" if fragment else "")})

    def on_paper(self, file: Path, width: int = 703, dark: bool = False) -> None:
        """Show a file as it is printed, on a page of this width: 703 is A4 without its margins."""
        self.open(file, width)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", media="print", features=[scheme])

    def pdf(self) -> bytes:
        """The page as it comes out of the printer."""
        return base64.b64decode(self.command("Page.printToPDF", printBackground=True)["data"])

    def run(self, script: str) -> Any:
        """The value that a script returns."""
        return self._call("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def console(self) -> list[str]:
        """Warnings and errors of the page."""
        found = self._call("POST", f"{self._session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in found if entry["level"] in ("WARNING", "SEVERE")]

    def requests(self) -> list[str]:
        """Addresses asked for since the last call."""
        found = self._call("POST", f"{self._session}/se/log", {"type": "performance"})
        events = [json.loads(entry["message"])["message"] for entry in found]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def screenshot(self, file: Path) -> None:
        """Save what the window shows."""
        file.write_bytes(base64.b64decode(self._call("GET", f"{self._session}/screenshot")))

    def close(self) -> None:
        """End the session."""
        self._call("DELETE", self._session)


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A session in an empty profile; the driver is ended afterwards."""
    assert DRIVER is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                with urllib.request.urlopen(address + "/status", timeout=5):
                    break
            except OSError:
                time.sleep(0.1)
        session = Browser(address, profile)
        try:
            yield session
        finally:
            session.close()
    finally:
        driver.terminate()
        driver.wait(30)
