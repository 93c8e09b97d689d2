"""Results and scenarios as files of other tools. A kind is a module, and a line of `kinds.KINDS`."""
