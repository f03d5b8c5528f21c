"""Bridges to learning libraries, a module for each library. Importing this package imports none of them."""
