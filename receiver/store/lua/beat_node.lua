#!lua flags=allow-oom
-- Shows operators that an API node is there, and what it does; forgets those that are not any more.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 node, 2 ms after which a silent node is forgotten, 3 the node's own clock, 4... fields and values
-- Returns 1
-- include: now
local node, age, now = ARGV[1], tonumber(ARGV[2]), now_ms()
redis.call('HSET', key_node(node), 'seen_at', int(now), 'clock_offset', int(ARGV[3] - now), unpack(ARGV, 4))
redis.call('HSETNX', key_node(node), 'started_at', int(now))
redis.call('PEXPIRE', key_node(node), int(age))
redis.call('ZADD', key_nodes(), int(now), node)
redis.call('ZREMRANGEBYSCORE', key_nodes(), '-inf', int(now - age))
return 1
