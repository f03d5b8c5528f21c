"""The compiled halves of the search: the tree, a search with playouts, one guided by a network."""
