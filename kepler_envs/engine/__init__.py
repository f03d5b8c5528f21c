"""What every game stands on: environment, batches, snapshots, playouts, replays, drawing, and the cache of compiled
code."""
