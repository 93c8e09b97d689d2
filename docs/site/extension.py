"""What Sphinx is told of this repository: generated reference, quoted source, links to it, and formulas as MathML."""

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pictures
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from shortflow.front import reference
from shortflow_papers.reproduction import kept
from shortflow_papers.reproduction.pages import evidence
from shortflow_papers.survey import pages as survey

ROOT = Path(__file__).parents[2]
RUST = re.compile(r"(?:crates|linux)/(\w+)/src/(.+\.rs)")
SOME_PAGES = re.compile(r"^[\w/]+\*$", re.MULTILINE)
GENERATED = re.compile(r"^<!-- generated: (.+) -->$", re.MULTILINE)
PICTURE = re.compile(r"^<!-- picture: (.+) -->$", re.MULTILINE)
EVIDENCE = re.compile(r"^<!-- evidence: (.+) -->$(?:\n\n(?:\|.*\n)+)?", re.MULTILINE)
"""The place of the evidence, with the table that stands for it in a checkout."""
REPRODUCTION = ROOT / "docs" / "reproduction"
AT_THE_ROOT = {"README": "index"}
"""Pages of the site that are files of another name at the root of the repository."""
logger = logging.getLogger(__name__)


def generate(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the generated parts of a page where it says `<!-- generated: NAME -->`, and drop pages not there."""
    if docname.startswith("notebooks/"):
        source[0] = with_download(source[0], docname)
        return
    text = SOME_PAGES.sub(lambda found: found[0] if any(app.srcdir.glob(found[0])) else "", source[0])
    text = GENERATED.sub(lambda found: reference.part_page(found[1]), text)
    text = PICTURE.sub(lambda found: raw(pictures.OF_PAGES[found[1]]()._repr_html_()), text)
    source[0] = EVIDENCE.sub(lambda found: raw(evidence_of(found[1])), text)


def raw(html: str) -> str:
    """HTML as a part of a page."""
    return f"`````{{raw}} html\n{html}\n`````"


def evidence_of(name: str) -> str:
    """The evidence of a paper or of the survey, from the committed results."""
    if name == "survey":
        return survey.survey_evidence(json.loads((REPRODUCTION / "survey.json").read_text(encoding="utf-8")))
    return evidence(name, kept.load_kept(REPRODUCTION / "results.json")[name])


def with_download(notebook: str, docname: str) -> str:
    """A notebook that says below its title where it is."""
    document = json.loads(notebook)
    file = f"{docname.rpartition('/')[2]}.ipynb"
    document["cells"][0]["source"].append(
        f"\n\n{{download}}`Download this notebook <{file}>` and run it, which takes seconds."
    )
    return json.dumps(document)


def rust_page(path: str, docname: str) -> str | None:
    """Where rustdoc shows this file of the repository, seen from a page; None if it does not."""
    found = RUST.fullmatch(path)
    up = "../" * docname.count("/")
    return f"{up}rust/src/shortflow_{found[1]}/{found[2]}.html" if found else None


class LinksToFiles(SphinxTransform):
    """Links to Rust files lead to rustdoc's page of the source, other files are copied, and folders are named alone."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        """Exchange the links of one page."""
        docname = self.env.docname
        for link in list(self.document.findall(addnodes.download_reference)):
            path = Path(self.env.relfn2path(link["reftarget"], docname)[1]).resolve()
            target = rust_page(str(path.relative_to(ROOT)), docname) if path.is_relative_to(ROOT) else None
            if target:
                link.replace_self(nodes.reference("", "", *link.children, internal=False, refuri=target))
        for link in list(self.document.findall(addnodes.pending_xref)):
            target = Path(link["reftarget"])
            if target.name == "evidence" and link.get("reftargetid"):
                place = f"evidence.html#{link['reftargetid']}"
                link.replace_self(nodes.reference("", "", *link.children, internal=False, refuri=place))
            elif target.parent == ROOT:
                link["reftarget"] = AT_THE_ROOT.get(target.name, target.name.lower())
            elif link["reftype"] == "myst" and Path(self.env.relfn2path(str(target), docname)[1]).is_dir():
                link.replace_self(link.children)


class Source(SphinxDirective):
    """A declaration or statement of a file of the repository, found by text and not by number, with a link to it."""

    required_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The lines, below the place where they are."""
        path, text = self.arguments
        self.env.note_dependency(str(ROOT / path))
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        found = [number for number, line in enumerate(lines) if text in line]
        if len(found) != 1:
            logger.warning("%s: %d lines contain %r", path, len(found), text, location=self.get_location())
            return []
        first, last = item(lines, found[0])
        shown = textwrap.dedent("\n".join(lines[first : last + 1]))
        block = nodes.literal_block(shown, shown, language="rust" if path.endswith(".rs") else "python")
        where = nodes.paragraph(classes=["source-of"])
        target = rust_page(path, self.env.docname)
        place = f"{path}, line {first + 1}"
        where += (
            nodes.reference("", place, internal=False, refuri=f"{target}#{first + 1}-{last + 1}")
            if target
            else nodes.Text(place)
        )
        return [where, block]


def item(lines: list[str], at: int) -> tuple[int, int]:
    """First and last line of the declaration or statement that begins at a line, with the comments above it."""
    indent = re.match(r" *", lines[at])[0]
    first = at
    while first and re.match(rf"{indent}(///|#\[)", lines[first - 1]):
        first -= 1
    last = at
    if re.match(r" *(def|class) ", lines[at]):
        ends = (n for n in range(at + 1, len(lines)) if lines[n].strip() and not lines[n].startswith(f"{indent} "))
        last = next(ends, len(lines)) - 1
    elif not lines[at].rstrip().endswith((";", ",")):
        while not re.match(rf"{indent}(\}}|\)).*[;,}}]?$", lines[last]):
            last += 1
    return first, last


def visit_math(translator: Any, node: nodes.Node) -> None:
    """A formula as MathML, which browsers draw by themselves."""
    block = isinstance(node, nodes.math_block)
    try:
        translator.body.append(tex2mathml(node.astext(), as_block=block))
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
    raise nodes.SkipNode


def level_captions(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: Any) -> None:
    """Say of what level the headings in the navigation are, which Sphinx leaves out and readers of screens need."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.connect("source-read", generate)
    app.connect("html-page-context", level_captions, priority=900)  # behind Furo
    app.add_transform(LinksToFiles)
    app.add_directive("source", Source)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
