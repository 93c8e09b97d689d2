"""Blocks, pages and wording of output for people."""

from shortflow.report.blocks import Block, Column, PagePart, Section, Words, markdown, text_section
from shortflow.report.caveats import unfinished
from shortflow.report.document import results_table
from shortflow.report.markup import now, write_blocks
from shortflow.report.notes import notes_on_results
from shortflow.report.tables import comparison_blocks
from shortflow.report.templates import page, part
from shortflow.report.wording import NOTHING, metrics_of, number, percent, phrase, shown
