"""A real browser for tests, driven by Selenium: Chromium and its driver as the system installed them."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

DRIVER = shutil.which("chromedriver")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


class Browser(Chrome):
    """One session: Selenium's, with pages in a window of a given size or on paper, their console and their traffic."""

    def open(self, file: Path, width: int = 1400, height: int = 1000, dark: bool = False, media: str = "") -> None:
        """Show a file in a window of this size, or as it looks on another medium."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self._emulate("", dark)
        self.get("about:blank")
        self.requests(), self.console()  # those of the browser's own start page
        self.get(file.as_uri())
        self._emulate(media, dark)

    def on_paper(self, file: Path, dark: bool = False) -> None:
        """Show a file as it is printed, on A4 without its margins."""
        self.open(file, 703, dark=dark, media="print")

    def _emulate(self, media: str, dark: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})

    def pdf(self) -> bytes:
        """The page as it comes out of the printer."""
        return base64.b64decode(self.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])

    def console(self) -> list[str]:
        """Warnings and errors of the page since the last call."""
        return [entry["message"] for entry in self.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]

    def requests(self) -> list[str]:
        """Addresses asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.get_log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A session in an empty profile; browser and driver are ended afterwards."""
    options = ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    session = Browser(options, ChromeService(DRIVER))  # with a driver given, Selenium looks for none itself
    try:
        yield session
    finally:
        session.quit()
