#!lua flags=allow-oom
-- Tells the session that was asked a question something about it, and nobody else (E-04).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 question, 4 nonce, 5 the notification as JSON
-- Returns 1 (also for the same call sent again) | -1 gone | -2 another run | -3 terminal | -4 handed back
-- include: now
-- include: letters
-- include: fence
local id, question = ARGV[1], ARGV[3]
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return verdict
end
local session, told = unpack(redis.call('HMGET', key_inputs(id), question .. ':session', question .. ':told'))
if session and told ~= ARGV[4] then
  redis.call('HSET', key_inputs(id), question .. ':told', ARGV[4])
  write_to(session, id, ARGV[5])
end
return 1
