"""Tasks of event loops that are alone: run piece by piece, from where a task is resumed to where it waits."""
