"""The documentation site: `make docs`."""

import sys
from importlib.resources import files
from pathlib import Path

import shortflow

sys.path[:0] = [str(Path(__file__).parent / "site"), str(Path(__file__).parents[1] / "tools")]

project = "Shortflow"
author = "The Shortflow authors"
release = shortflow.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "extension"]
exclude_patterns = ["site"]
# Links within the pages are all checked; types of Python that are not on the page of its API are no links.
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
# GitHub shows lines that begin with % or +++; so does the site.
myst_disable_syntax = ["myst_line_comment", "myst_block_break"]
nb_execution_mode = "off"
# Nothing is loaded from elsewhere.
nb_ipywidgets_js = {}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
default_role = "code"

smartquotes = False  # quotes are there to be copied

html_theme = "furo"
html_title = f"Shortflow {release}"
# Browsers need a font made for mathematics; ziamath brings STIX Two Math.
html_static_path = ["site/static", str(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf")]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
