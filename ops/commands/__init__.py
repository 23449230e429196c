"""The commands of operators, one module a group; ``ops.cli`` registers them."""
