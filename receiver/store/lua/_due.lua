-- include: parked

-- Retries, and parked tasks whose sleep is over, go back to their old place.  Returns when the next are due, or nil.
local function forward_due(now)
  local due = redis.call('ZRANGE', key_later(), 0, 0, 'WITHSCORES')[2]
  if not due or tonumber(due) > now then
    return due
  end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key_later(), '-inf', int(now), 'LIMIT', 0, 100)) do
    redis.call('ZREM', key_later(), id)
    bring_back(id)
  end
  return redis.call('ZRANGE', key_later(), 0, 0, 'WITHSCORES')[2]
end
