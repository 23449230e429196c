#!lua flags=no-writes
-- The API nodes, or the workers, that are known, those heard of last first.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 'nodes' | 'workers', 2 how many at most, 3... fields
-- Returns {now, {name, values}...}
-- include: now
local are_workers, found = ARGV[1] == 'workers', {}
local index = are_workers and key_workers() or key_nodes()
for _, name in ipairs(redis.call('ZREVRANGE', index, 0, ARGV[2] - 1)) do
  local key = are_workers and key_worker(name) or key_node(name)
  local values = redis.call('HMGET', key, 'seen_at', unpack(ARGV, 3))
  if values[1] then -- else its hash has gone, and it is not swept yet
    table.remove(values, 1)
    found[#found + 1] = { name, values }
  end
end
return { now_ms(), unpack(found) }
