#!lua flags=allow-oom
-- Clears up after tasks that expired: their hash and job are already gone, the indexes are not (T-94).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 how many at most, 2 age in ms after which a silent worker is forgotten
-- Returns {id, last status ('' = unknown), ...}
-- include: lease
local now = now_ms()
local swept = {}

local function last_status(id)
  local found = ''
  for _, status in ipairs({ 'working', 'input_required', 'completed', 'failed', 'cancelled' }) do
    if redis.call('ZREM', key_status(status), id) == 1 then
      found = status
    end
  end
  return found
end

for _, entry in ipairs(redis.call('ZRANGEBYSCORE', key_expiry(), '-inf', int(now), 'LIMIT', 0, tonumber(ARGV[1]))) do
  local owner, id, queue = string.match(entry, '^([^/]*)/([^/]*)/(.*)$')
  if redis.call('EXISTS', key_task(id)) == 0 then
    redis.call('ZREM', key_expiry(), entry)
    redis.call('ZREM', key_owner(owner), id)
    redis.call('ZREM', key_active(owner), id)
    leave_queue(id, queue)
    redis.call('ZREM', key_later(), id)
    drop_lease(id, nil, queue)
    drop_job(id)
    redis.call('UNLINK', key_listeners(id))
    table.insert(swept, id)
    table.insert(swept, last_status(id))
    redis.call('PUBLISH', key_events(id), 'expired')
  end
end
redis.call('ZREMRANGEBYSCORE', key_workers(), '-inf', int(now - ARGV[2]))
return swept
