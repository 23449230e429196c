-- include: now

-- Lists a session among the subscribers of a resource until it ends, or takes it out (ends = nil).  The list lives
-- exactly as long as the last of them.
local function list_subscriber(uri, session, ends, now)
  local subscribers = key_subscribers(uri)
  if ends then
    redis.call('ZADD', subscribers, int(ends), session)
  else
    redis.call('ZREM', subscribers, session)
  end
  redis.call('ZREMRANGEBYSCORE', subscribers, '-inf', int(now))
  local last = redis.call('ZRANGE', subscribers, -1, -1, 'WITHSCORES')
  if last[2] then
    redis.call('PEXPIREAT', subscribers, int(last[2]))
  end
end

-- The same for all that a session subscribed to.
local function list_subscriptions(session, ends, now)
  for _, uri in ipairs(redis.call('SMEMBERS', key_subscribed(session))) do
    list_subscriber(uri, session, ends, now)
  end
end
