"""The execution tier: takes tasks from the queue and runs the wrapped requests."""
