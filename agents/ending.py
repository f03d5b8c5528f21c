"""How the commands of this package end: with the exit codes of ``kepler-envs``, and with errors in one line."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kepler_envs.cli.codes import INTERRUPTED, KILLED_BY_PIPE
from kepler_envs.cli.endings import EXPECTED, exit_code, in_words
from kepler_envs.files import NO_ROOM, drop_output, drop_unprinted
from kepler_envs.networks import DivergedError
from kepler_envs.printable import printable

AGAIN = "; all files written before are complete, run the same command again to continue"


@contextmanager
def plain_ending() -> Iterator[None]:
    """End the program with a line on stderr if something that was asked for is not possible (exit code 2), or if the
    disk is full or a network diverged (1). A second Ctrl-C ends it without a traceback (130), and so does a pipe that
    nobody reads (141)."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # all packages are loaded
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print(file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        drop_output()
        sys.exit(KILLED_BY_PIPE)
    except DivergedError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except EXPECTED as error:
        print(printable(explain(error)), file=sys.stderr)
        sys.exit(exit_code(error))
    finally:
        drop_unprinted()


def explain(error: Exception) -> str:
    """An expected error as one line."""
    return in_words(error) + (AGAIN if getattr(error, "errno", None) in NO_ROOM else "")
