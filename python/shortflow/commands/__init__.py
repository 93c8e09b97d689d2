"""The commands, each declared once: the function is the Python call, and the shell's options follow from it."""
