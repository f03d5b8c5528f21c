"""Six notebooks: sources as plain Python files, and the same run and with their outputs."""
