"""Blocks, pages and wording of output for people."""

from shortflow.report.blocks import Block, Column, Part, Section, Words, text_section
from shortflow.report.document import results_table
from shortflow.report.markup import now, write_blocks
from shortflow.report.templates import page, part
from shortflow.report.wording import NOTHING, number, percent, shown
