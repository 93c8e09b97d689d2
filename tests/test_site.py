"""The documentation site as readers see it; `make docs` installs what this needs."""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from browser import Browser
from conftest import ran

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
PAGES = ("index", "papers/fast", "reference/names", "scenario-reference", "reproduction/l2dct", "reference/python")
# axe-core requests style sheets once more by a method that does not work for files. Browsers do not do so.
OF_AXE = re.compile(r"XMLHttpRequest|preload assets|net::ERR_FAILED$")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    for name in ("sphinx", "furo", "myst_nb", "ziamath"):
        pytest.importorskip(name, reason=f"needs {name}; `make docs` installs it")
    out = tmp_path_factory.mktemp("site")
    sphinx = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--builder", "html"]
    done = ran([*sphinx, ROOT / "docs", out], timeout=None)
    assert done.returncode == 0, done.stderr
    return out


class Words(HTMLParser):
    """Text of a page, without spaces and without the link signs of headings."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_data(self, data: str) -> None:
        self.text += closed_up(data)


def closed_up(text: str) -> str:
    return re.sub(r"[\s¶#]+", "", text)


def paragraphs(source: str) -> Iterator[str]:
    """Headings, paragraphs, cells and blocks as GitHub shows them, without formulas and directives."""
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        if token.type == "inline":
            parts = [each.content for each in token.children or () if each.type in ("text", "code_inline")]
            yield from re.split(r"\$\$?[^$]+\$\$?", "".join(parts))
        elif token.type == "fence" and not token.info.startswith("{"):
            yield token.content


EVIDENCE = re.compile(r"(?<=<!-- evidence: )\w+ -->\n\n(\|.*\n)+")
"""Tables of claims. The site replaces them by the same data with details."""


def test_pages_have_every_word_of_their_source(site: Path) -> None:
    sources = sorted((ROOT / "docs").rglob("*.md"))
    lacking = []
    for source in sources:
        page = Words((site / source.relative_to(ROOT / "docs")).with_suffix(".html")).text
        text = EVIDENCE.sub("", source.read_text("utf-8"))
        lacking += [(source.name, each) for each in paragraphs(text) if closed_up(each) not in page]
    assert len(sources) > 40
    assert lacking == []


def test_formulas_are_drawn_by_the_browser_itself(site: Path) -> None:
    page = (site / "papers" / "l2dct.html").read_text(encoding="utf-8")
    assert page.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') > 5
    assert "$$" not in page


def test_links_to_rust_name_files_that_rustdoc_shows(site: Path) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in site.rglob("*.html"))
    found = set(re.findall(r'href="(?:\.\./)*rust/src/shortflow_(\w+)/([^"#]+)\.html', pages))
    assert len(found) > 10
    folders = {path.name: path for each in ("crates", "linux") for path in (ROOT / each).iterdir()}
    assert [each for each in found if not (folders[each[0]] / "src" / each[1]).is_file()] == []


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1280, True), (2560, False)])
@pytest.mark.parametrize("page", PAGES)
def test_pages_are_as_they_should_be(site: Path, browser: Browser, page: str, width: int, dark: bool) -> None:
    seen = browser.see(site / f"{page}.html", width=width, dark=dark)
    assert [fault for fault in seen.faults if not OF_AXE.search(fault)] == []


def test_a_notebook_is_shown_with_its_outputs_and_can_be_downloaded(site: Path) -> None:
    page = (site / "notebooks" / "first-comparison.html").read_text(encoding="utf-8")
    assert page.count("<!-- specification ") == 3
    (file,) = re.findall(r'href="\.\./(_downloads/\w+/first-comparison\.ipynb)"', page)
    assert (site / file).read_text() == (ROOT / "docs" / "notebooks" / "first-comparison.ipynb").read_text()


def test_the_search_works_without_a_server(site: Path, browser: Browser) -> None:
    titles: list[str] = []

    def search(page: "Page") -> None:
        page.goto(f"{page.url}?q=initial_window")
        page.wait_for_selector("ul.search li a")
        titles.extend(page.locator("ul.search li a").all_inner_texts())

    seen = browser.see(site / "search.html", then=search)
    assert "Scenario reference" in titles
    assert [fault for fault in seen.faults if not OF_AXE.search(fault)] == []
