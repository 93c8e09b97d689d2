"""What people call from Python and notebooks: the verbs, and the objects that they give."""
