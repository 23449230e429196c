"""The web console: pages for operators, rendered here, which need no script to be read."""
