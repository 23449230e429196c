#!lua flags=allow-oom
-- Remembers which list a client is being shown.  What it was told of a change counts for what it was shown before.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 session, 2 kind, 3 digest of the list
-- Returns 1
redis.call('HSET', key_session(ARGV[1]), 'shown:' .. ARGV[2], ARGV[3])
redis.call('HDEL', key_session(ARGV[1]), 'told:' .. ARGV[2])
return 1
