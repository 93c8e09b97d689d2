"""The helper `browser.py` finds the faults of a page."""

from pathlib import Path
from typing import TYPE_CHECKING

from browser import Browser
from conftest import Command
from made import make_result
from shortflow.commands.report import write_report
from shortflow.store.directories import write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

WRONG = """<!doctype html><html><head><title>wrong</title></head><body style="background:#fff">
<p style="color:#ddd;background:#fff;width:2000px">pale and wide</p>
<img src="https://example.invalid/picture.png">
<script>console.error("said"); undefined.thrown</script></body></html>"""
RIGHT = """<!doctype html><html lang="en"><head><title>right</title></head>
<body><main><h1>Right</h1></main></body></html>"""


def test_what_is_wrong_with_a_page_is_seen(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(WRONG)
    seen = browser.see(file, width=1000)
    assert any("said" in message for message in seen.messages)
    assert any("thrown" in message for message in seen.messages)
    assert seen.requests == ["https://example.invalid/picture.png"]
    assert {violation.split()[0] for violation in seen.violations} >= {"color-contrast", "image-alt", "html-has-lang"}
    assert seen.overflow_px > 900


def test_a_page_with_nothing_wrong_has_no_faults_and_is_pictured(browser: Browser, tmp_path: Path) -> None:
    file, shot = tmp_path / "page.html", tmp_path / "page.png"
    file.write_text(RIGHT)
    assert browser.see(file, width=320, dark=True, shot=shot).faults == []
    assert shot.read_bytes().startswith(b"\x89PNG")


CLICK = "all => { all.forEach(each => each.click()); return all.length }"


def test_no_control_of_a_page_leads_outside(browser: Browser, shortflow: Command, tmp_path: Path) -> None:
    tune = ["tune", "incast", "--scheme", "dctcp", "--param", "transport.g=0.05:0.5", "--minimize", "afct_short_s"]
    short = ["--set", "servers=4", "--set", "duration=100ms", "--set", "traffic.1.repeat=1"]
    few = ["--trials", "2", "--seeds", "1", "--check-seeds", "2", "--check-on", "none", "--out", "tuned"]
    assert shortflow(*tune, *short, *few).code != 2
    for seed in (1, 2):
        write_run(make_result(seed=seed), tmp_path / "runs" / str(seed))
    write_report(tmp_path / "runs", tmp_path / "runs.html")
    for file in (tmp_path / "runs.html", tmp_path / "tuned" / "report.html"):
        outside: list[str] = []
        used: list[int] = []

        def use(page: "Page", outside: list[str] = outside, used: list[int] = used) -> None:
            page.on("popup", lambda popup: outside.append(popup.url))
            page.wait_for_selector(".plot svg", state="attached")
            used.append(page.locator("button").evaluate_all(CLICK))
            outside += page.locator("a[href^=http], [download]").evaluate_all("all => all.map(each => each.outerHTML)")

        assert browser.see(file, then=use).requests == []
        assert used[0] > 5
        assert outside == []
