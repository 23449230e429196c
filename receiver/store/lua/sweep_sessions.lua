#!lua flags=allow-oom
-- Looks at sessions that may have ended: those that have leave the index of operators, the others stay in it until
-- they may end now.  Requests keep a session alive without touching that index.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 how many at most
-- Returns how many it looked at
-- include: now
local now = now_ms()
local due = redis.call('ZRANGEBYSCORE', key_all_sessions(), '-inf', int(now), 'LIMIT', 0, tonumber(ARGV[1]))
for _, session in ipairs(due) do
  local rest = redis.call('HEXISTS', key_session(session), 'owner') == 1 and redis.call('PTTL', key_session(session))
  if rest and rest > 0 then
    redis.call('ZADD', key_all_sessions(), int(now + rest), session)
  else
    redis.call('ZREM', key_all_sessions(), session)
  end
end
return #due
