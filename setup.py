"""What pyproject.toml cannot say of the build."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class FreshBuild(build_py):
    """Gathers the package from nothing. pip builds in the checkout, where setuptools keeps build/lib and would install
    modules and networks of an earlier build that were deleted since."""

    def run(self) -> None:
        shutil.rmtree(Path(self.build_lib, "kepler_envs"), ignore_errors=True)
        super().run()


setup(cmdclass={"build_py": FreshBuild})
