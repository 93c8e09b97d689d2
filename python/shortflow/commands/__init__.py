"""Commands, each declared once: the function is the Python call; the shell's options follow from it."""
