-- include: parked

-- Retries, and parked tasks whose sleep is over, go back to their old place.
local function forward_due(now)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key_later(), '-inf', int(now), 'LIMIT', 0, 100)) do
    redis.call('ZREM', key_later(), id)
    bring_back(id)
  end
end
