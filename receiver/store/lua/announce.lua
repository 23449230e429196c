-- Tells some of the sessions that subscribed to a resource that it was updated, where they listen.  A notification that
-- still waits to be sent says it for the new update too.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 uri, 2 notification as JSON, 3 nonce, 4 where to go on among the subscribers, 5 of about how many at once
-- Returns where to go on; '0' = all were told (the same call sent again tells nobody again)
-- include: now
-- include: letters
local uri, notification, told = ARGV[1], ARGV[2], key_announced(ARGV[3])
local now = now_ms()
local following, found = unpack(redis.call('ZSCAN', key_subscribers(uri), ARGV[4], 'COUNT', ARGV[5]))
for i = 1, #found, 2 do
  local session = found[i]
  local waits = redis.call('LPOS', key_session_outbox(session), '\n' .. notification)
  local is_there = lives(session) and is_awaited(key_hearers(session), now)
  if is_there and redis.call('SADD', told, session) == 1 and not waits then
    write_to(session, '', notification)
  end
end
redis.call('PEXPIRE', told, 60000)
return following
