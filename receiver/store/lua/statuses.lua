#!lua flags=no-writes
-- The status of many tasks at once: the safety re-read of whoever waits for them.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  ids
-- Returns a status for each id, '' for one that is gone
local statuses = {}
for i, id in ipairs(ARGV) do
  statuses[i] = redis.call('HGET', key_task(id), 'status') or ''
end
return statuses
