"""What is measured, against what, and how: see README.md in this folder."""
