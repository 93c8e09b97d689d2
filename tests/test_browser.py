"""The helper that looks at pages finds what is wrong with one."""

from pathlib import Path

from browser import Browser

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
