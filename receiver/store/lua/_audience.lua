-- Who hears: a set of streams, those of a task or of a session, by the end of the lease that their nodes renew.

local LEFT = 'left' -- in a set: one of its streams was closed a moment ago, and its client may come back

-- Whether any stream of this set is open, or about to.
local function is_open(streams, now)
  local left = tonumber(redis.call('ZSCORE', streams, LEFT) or 0)
  return redis.call('ZCOUNT', streams, int(now), '+inf') > (left >= now and 1 or 0)
end

-- Whether any is, or was a moment ago.
local function is_awaited(streams, now)
  return redis.call('ZCOUNT', streams, int(now), '+inf') > 0
end
