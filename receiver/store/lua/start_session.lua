#!lua flags=allow-oom
-- Begins a session.  Beyond the cap of its owner, the one that was silent longest ends for it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 session, 2 owner, 3 idle time in ms, 4 cap, 5... fields and values
-- Returns 1 (also for the same call sent again)
-- include: now
-- include: session
local session, owner, idle = ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('EXISTS', key_session(session)) == 1 then
  return 1
end
local now = now_ms()
redis.call('ZREMRANGEBYSCORE', key_sessions(owner), '-inf', int(now - idle))
while redis.call('ZCARD', key_sessions(owner)) >= tonumber(ARGV[4]) do
  drop_session(redis.call('ZRANGE', key_sessions(owner), 0, 0)[1], owner)
end
redis.call('HSET', key_session(session), 'owner', owner, 'created_at', int(now), unpack(ARGV, 5))
redis.call('PEXPIRE', key_session(session), idle)
redis.call('ZADD', key_sessions(owner), int(now), session)
redis.call('PEXPIRE', key_sessions(owner), idle)
redis.call('ZADD', key_all_sessions(), int(now + idle), session)
return 1
