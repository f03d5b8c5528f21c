"""Bridges to learning libraries, one file per library. Importing this package imports none of them."""
