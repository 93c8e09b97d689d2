"""Files of other tools as scenarios. A format is a module, and a line of `formats.FORMATS`."""
