#!lua flags=no-writes
-- Reads fields of a task of this owner, and the store's clock with them.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 owner, 3 'task' | 'call', 4... fields
-- Returns {now, values}, where owner and kind come first, or {now} if this owner has no such task
-- include: now
-- include: audit
local task = redis.call('HMGET', key_task(ARGV[1]), 'owner', 'kind', unpack(ARGV, 4))
if task[1] ~= ARGV[2] or task[2] ~= ARGV[3] then
  audit_miss(ARGV[1], ARGV[2])
  return { now_ms() }
end
return { now_ms(), task }
