#!lua flags=allow-oom
-- How a client's task stands, as the client says: kept for the run that asked, which is told.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id of the request, 2 owner, 3 session, 4 the answer as JSON, 5 ms until it may be asked again (T-18;
--       '' = as before)
-- Returns 1 (also for the same answer sent again) | 0 nobody waits for it any more | -1 never asked
-- include: now
-- include: asked
local id, question, is_poll = find_asked(ARGV[1], ARGV[2], ARGV[3])
if not id or not is_poll then
  return -1
end
local inputs, poll = key_inputs(id), question .. '/poll'
local known = redis.call('HMGET', inputs, poll .. ':id', poll .. ':state', poll .. ':answer')
if known[1] ~= ARGV[1] or known[2] ~= 'polling' then
  return known[1] == ARGV[1] and known[3] == ARGV[4] and 1 or 0
end
local interval = ARGV[5] ~= '' and ARGV[5] or redis.call('HGET', inputs, question .. ':interval')
redis.call('HSET', inputs, poll .. ':state', 'polled', poll .. ':answer', ARGV[4],
  question .. ':interval', interval, question .. ':due', int(now_ms() + interval))
redis.call('PUBLISH', key_signals(redis.call('HGET', key_task(id), 'worker') or ''), id)
return 1
