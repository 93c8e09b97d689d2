"""The command line: declarations of commands, and their output."""
