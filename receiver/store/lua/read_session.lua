#!lua flags=no-writes
-- What a client said of itself.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 session
-- Returns {owner, protocol, capabilities}, each nil where there is no such session
return redis.call('HMGET', key_session(ARGV[1]), 'owner', 'protocol', 'capabilities')
