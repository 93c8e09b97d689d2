"""Opens pages in Debian's Chromium without a window, and checks them with axe-core."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import ConsoleMessage, Page

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_OWN = ("file", "data", "blob")
_GRAVE_MESSAGES = ("warning", "error")
_GRAVE = ("serious", "critical")
_HEIGHT = 900
_PATIENCE_MS = 120_000
"""Timeout of drawing a page, in ms. A busy computer takes long."""

_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass(frozen=True)
class Seen:
    """Result of opening a page."""

    messages: list[str]
    """Warnings and errors in the browser's console, including uncaught exceptions."""
    requests: list[str]
    """Addresses that the page requested, other than its own files."""
    violations: list[str]
    """Serious and critical findings of axe-core: rule, count, and first element."""
    overflow_px: int
    """Difference between the widths of page and window, in pixels."""

    @property
    def faults(self) -> list[str]:
        """All faults of the page; empty for a page without faults."""
        wider = [f"wider than its window by {self.overflow_px} px"] if self.overflow_px > 0 else []
        return [*self.messages, *(f"asks for {each}" for each in self.requests), *self.violations, *wider]


class Browser:
    """Chromium, which opens files."""

    def __init__(self, chromium: "Chromium") -> None:
        """`chromium` is a running browser."""
        self._chromium = chromium

    def see(
        self,
        file: Path,
        *,
        width: int = 1280,
        dark: bool = False,
        shot: Path | None = None,
        then: "Callable[[Page], object] | None" = None,
    ) -> Seen:
        """Opens a file in a new window. `then` may click and read, and `shot` is the file for a picture of the page."""
        from axe_playwright_python.sync_playwright import Axe

        messages: list[str] = []
        requests: list[str] = []

        def hear(message: "ConsoleMessage") -> None:
            if message.type in _GRAVE_MESSAGES:
                messages.append(f"{message.type}: {message.text}")

        context = self._chromium.new_context(
            viewport={"width": width, "height": _HEIGHT}, color_scheme="dark" if dark else "light"
        )
        with contextlib.closing(context):
            context.set_default_timeout(_PATIENCE_MS)
            page = context.new_page()
            page.on("console", hear)
            page.on("pageerror", lambda error: messages.append(f"exception: {error}"))
            page.on("request", lambda request: requests.append(request.url))
            page.goto(file.absolute().as_uri(), wait_until="load")
            if then:
                then(page)
            if shot:
                page.screenshot(path=shot, full_page=True)
            found = Axe().run(page).response["violations"]
            overflow = page.evaluate(_OVERFLOW)
        violations = [
            f"{each['id']} ({each['impact']}), {len(each['nodes'])} times: {each['nodes'][0]['html'][:200]}"
            for each in found
            if each["impact"] in _GRAVE
        ]
        outside = [url for url in requests if urlsplit(url).scheme not in _OWN]
        return Seen(messages, outside, violations, overflow)


@contextlib.contextmanager
def opened() -> Iterator[Browser]:
    """A running browser during the block. Without Chromium, the test is skipped."""
    program = next((found for name in _PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("needs Chromium; on Debian: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, contextlib.closing(playwright.chromium.launch(executable_path=program)) as it:
        yield Browser(it)
