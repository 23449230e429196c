-- include: label
-- include: lease

local STATUSES = { 'working', 'input_required', 'completed', 'failed', 'cancelled' }

-- Takes a task that is gone out of all indexes, and wakes whoever waits for it.  entry: as it stands in the
-- index of ends.  Returns its last status ('' = unknown).
local function clear_away(entry)
  local owner, id, queue, label = read_entry(entry)
  local found = ''
  for _, status in ipairs(STATUSES) do
    found = redis.call('ZREM', key_status(status, label), id) == 1 and status or found
  end
  redis.call('ZREM', key_expiry(), entry)
  redis.call('ZREM', key_owner(owner), id)
  redis.call('ZREM', key_active(owner), id)
  leave_queue(id, queue)
  redis.call('ZREM', key_later(), id)
  drop_lease(id, nil, queue)
  drop_job(id)
  redis.call('UNLINK', key_listeners(id))
  redis.call('PUBLISH', key_events(id), 'expired')
  return found
end
