"""Declarations of commands, their options, and their output."""

from shortflow.errors import ExitCode
from shortflow.front import options
from shortflow.front.command import Answer, Arg, Command, CommandGroup, Opt, built, command, shell_command
from shortflow.front.console import note, note_report
from shortflow.front.listed import Entry, Listed
from shortflow.front.notes import note_about, note_faults
from shortflow.front.progress import Lines, progress_bar, reporting
from shortflow.installed import COMMANDS, added, fault, left_out, load_added
