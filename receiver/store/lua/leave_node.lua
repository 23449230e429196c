#!lua flags=allow-oom
-- An API node has ended: operators no longer see it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 node
-- Returns 1
redis.call('UNLINK', key_node(ARGV[1]))
redis.call('ZREM', key_nodes(), ARGV[1])
return 1
