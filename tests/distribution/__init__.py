"""What is shipped: sdist and wheel are built, looked into, and the wheel is tried alone in a clean environment."""
