"""``kepler-envs``: look at games, play them, watch them, replay them, measure them.

This module only starts the command line, so that its libraries may be missing: they come with the extra ``cli``.
"""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version

from kepler_envs.cli.codes import INTERRUPTED, KILLED_BY_PIPE
from kepler_envs.files import drop_output, drop_unprinted, prepare_streams
from kepler_envs.revision import VERSION

LIBRARIES = ("tyro", "rich")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``kepler-envs`` with these arguments (``sys.argv`` if None); the exit code.

    0: done. 1: a replay does not verify, or work broke off on its way. 2: something asked for is not possible. One line
    says what it was. 130: interrupted. 141: nobody reads the output any more.
    """
    prepare_streams()
    try:
        code = _run(argv)
        if code:  # there is something worse to tell
            drop_unprinted()
        else:
            sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        return KILLED_BY_PIPE
    except OSError as problem:  # of the output: commands tell of all others
        drop_output()
        print(f"kepler-envs: {problem}", file=sys.stderr)
        return 1
    return code


def _run(argv: Sequence[str] | None) -> int:
    if list(sys.argv[1:] if argv is None else argv) == ["--version"]:
        print(f"kepler-envs {VERSION} (Python {platform.python_version()}, numba {version('numba')})")
        return 0
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        print(f"kepler-envs needs {' and '.join(missing)}: pip install 'kepler_envs[cli]'", file=sys.stderr)
        return 2
    try:
        from kepler_envs.cli.app import run
    except KeyboardInterrupt:  # loading it all takes a second or more
        print(file=sys.stderr)
        return INTERRUPTED
    return run(argv)
