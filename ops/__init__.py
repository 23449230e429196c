"""Everything that an operator touches: the command line, the embedded server, and the demo app."""
