-- Subscribes a session, which lives, to a resource.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 session, 2 uri, 3 how many a session may subscribe to
-- Returns 1 (also where it is subscribed already), or 0 if it would be one too many
-- include: subscribers
local session, uri = ARGV[1], ARGV[2]
local subscribed = key_subscribed(session)
if redis.call('SISMEMBER', subscribed, uri) == 0 and redis.call('SCARD', subscribed) >= tonumber(ARGV[3]) then
  return 0
end
local now, rest = now_ms(), redis.call('PTTL', key_session(session))
redis.call('SADD', subscribed, uri)
redis.call('PEXPIRE', subscribed, rest)
list_subscriber(uri, session, now + rest, now)
return 1
