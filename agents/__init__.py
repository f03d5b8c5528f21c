"""Everything that learns: training, pools of opponents, exploiters, publishing."""

import os
import signal
import sys

if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
"""While ``python -m agents.COMMAND`` loads its packages, or ``benchmarks.COMMAND``, Ctrl-C ends it without a traceback.
From :func:`agents.ending.plain_ending` on it is handled as usual. Python calls itself ``-m`` until it has found the
command."""

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Waiting threads of PyTorch sleep instead of spinning. Beside other work, two spinning threads are several times as
slow as one."""

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""The same for NumPy: products as small as those of a bot in NumPy are not worth a second thread."""
