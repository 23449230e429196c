"""Tools: functions with a schema, and the rules for running them.  Nothing here knows a store or a transport."""
