"""Time to the first step of a new process, as JSON: ``python -m benchmarks.first_step [GAME]``."""

import json
import sys
import time

_start = time.perf_counter()

import kepler_envs  # noqa: E402

_imported = time.perf_counter()


def main() -> None:
    env = kepler_envs.make(sys.argv[1] if len(sys.argv) > 1 else "kitten_adventurers")
    env.reset(seed=0)
    env.step(env.legal_actions()[0])
    stepped = time.perf_counter()
    print(json.dumps({"import_s": _imported - _start, "first_step_s": stepped - _imported}))


if __name__ == "__main__":
    main()
