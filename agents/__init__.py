"""Everything that learns: training, pools of opponents, exploiters, publishing."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Waiting threads of PyTorch sleep instead of spinning. Beside other work, two spinning threads are several times as
slow as one."""

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""The same for NumPy: products as small as those of a bot in NumPy are not worth a second thread."""
