"""The compiled part of the search: the tree, the search with playouts, and the search guided by a network."""
