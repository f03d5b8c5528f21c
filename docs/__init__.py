"""The pages, and what writes their generated parts."""
