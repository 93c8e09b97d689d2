"""Results on disk: the runs of a store, which of them count, and all of them as tables."""
