"""Results on disk: the runs of a store, the choice of current ones, and tables of them."""
