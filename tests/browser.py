"""A page as people see it: Debian's Chromium without a window, and what axe-core says of it."""

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
"""A computer that has other work takes long to draw a page."""

_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass(frozen=True)
class Seen:
    """Result of opening a page."""

    messages: list[str]
    """Warnings and errors in the browser's console, uncaught exceptions among them."""
    requests: list[str]
    """Addresses outside the page's own files that it asked for."""
    violations: list[str]
    """Serious and critical findings of axe-core: rule, count, and first element."""
    overflow_px: int
    """By how much the page is wider than its window."""

    @property
    def faults(self) -> list[str]:
        """All of it; empty for a page that is as it should be."""
        wider = [f"wider than its window by {self.overflow_px} px"] if self.overflow_px > 0 else []
        return [*self.messages, *(f"asks for {each}" for each in self.requests), *self.violations, *wider]


class Browser:
    """Chromium, which opens files."""

    def __init__(self, chromium: "Chromium") -> None:
        """It runs already."""
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
        """Look at a file in a window of its own; `then` may click and read, and `shot` takes a picture of all of it."""
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
    """A browser, until it is left; without Chromium the test is skipped."""
    program = next((found for name in _PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("needs Chromium; on Debian: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, contextlib.closing(playwright.chromium.launch(executable_path=program)) as it:
        yield Browser(it)
