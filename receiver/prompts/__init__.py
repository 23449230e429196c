"""Prompts: messages that a user picks, made from arguments.  Nothing here knows a store or a transport."""
