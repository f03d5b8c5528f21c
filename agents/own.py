"""Agents of your own, from a Python file: ``python:my_agents.py:MyAgent``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from agents.protocol import Agent, AgentError
from kepler_envs.engine.game import Configuration


def split(argument: str) -> tuple[Path, str]:
    """``my_agents.py:MyAgent`` -> file and name; AgentError."""
    file, colon, name = argument.rpartition(":")
    if not (colon and file and name.isidentifier()):
        raise AgentError(f"python:{argument} must read python:FILE.py:NAME")
    return Path(file), name


def make(argument: str, config: Configuration) -> Agent:
    """Run the file and call ``NAME(config)``, which makes the agent (``agents.protocol.Agent``).

    Raises:
        AgentError: no such file, no such name, or not an agent. What the file itself raises goes through.
    """
    path, name = split(argument)
    if not path.is_file():
        raise AgentError(f"python:{argument}: there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"agents_of_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise AgentError(f"python:{argument}: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look there
    spec.loader.exec_module(module)
    if not callable(getattr(module, name, None)):
        raise AgentError(f"python:{argument}: {path} has nothing named {name} to call")
    agent = getattr(module, name)(config)
    if not (callable(getattr(agent, "start", None)) and callable(getattr(agent, "act", None))):
        raise AgentError(f"python:{argument}: {name}(config) has no methods start and act; see agents/protocol.py")
    return agent
