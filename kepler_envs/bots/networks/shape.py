"""What a trained network computes is said in :mod:`kepler_envs.engine.network`, which adapters know too."""

from kepler_envs.engine.network import NetworkInputs, NetworkShape, Weights

__all__ = ["NetworkInputs", "NetworkShape", "Weights"]
