"""The sandbox in which the agent's commands run: what they may read, change and reach, and who enforces it."""
