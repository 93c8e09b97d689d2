"""The command line: declarations of commands, and what they print."""
