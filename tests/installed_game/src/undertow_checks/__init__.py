"""What the contract tests of a kepler_envs checkout ask of Undertow."""
