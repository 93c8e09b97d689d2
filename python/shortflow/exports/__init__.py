"""Results and scenarios as files of other tools. Each kind is a module and an entry of `kinds.KINDS`."""
