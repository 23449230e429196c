#!lua flags=allow-oom
-- Nothing: what is called for its prologue alone.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  none of its own
-- Returns 1
return 1
