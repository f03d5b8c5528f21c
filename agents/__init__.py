"""All that learns: training, pools of opponents, exploiters, publishing."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Threads of PyTorch that wait do not spin: beside other work two of them would be several times as slow as one."""
