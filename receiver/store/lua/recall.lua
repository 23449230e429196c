#!lua flags=no-writes
-- What an earlier run recorded of a step.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 step
-- Returns {digest, value}, or {} if it did not end yet
local found = redis.call('HMGET', key_steps(ARGV[1]), ARGV[2] .. ':digest', ARGV[2] .. ':value')
return found[1] and found or {}
