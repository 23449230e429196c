#!lua flags=allow-oom
-- Asks the client how its task stands, or for its result.  There is one such request of a question at a time, and it
-- goes to the session that has the task.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 question, 4 id of the request, 5 the request as JSON, 6 '1' = now, whatever the poll interval
-- Returns {1} asked (also if one was on its way) | {2, ms} too early by that (T-18) | {0} nothing to ask for any more
--       | {-1} gone | {-2} another run | {-3} terminal | {-4} handed back
-- include: settle
-- include: fence
local HOUR_MS = 3600000
local DOUBT_MS = 60000 -- how long an answer that comes twice is told from one to nothing
local id, question, request = ARGV[1], ARGV[3], ARGV[4]
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return { verdict }
end
local inputs, poll = key_inputs(id), question .. '/poll'
local state, session, due, poll_state, before = unpack(redis.call('HMGET', inputs, question .. ':state',
  question .. ':session', question .. ':due', poll .. ':state', poll .. ':id'))
if state ~= 'accepted' then
  return { 0 }
elseif poll_state == 'polling' or before == request then
  return { 1 }
end
local now = now_ms()
if ARGV[6] ~= '1' and now < tonumber(due) then
  return { 2, due - now }
end
if before then
  redis.call('PEXPIRE', key_ask(before), DOUBT_MS)
end
redis.call('HSET', inputs, poll .. ':state', 'polling', poll .. ':id', request, poll .. ':request', ARGV[5],
  poll .. ':needs', '', poll .. ':to', session)
redis.call('HDEL', inputs, poll .. ':given', poll .. ':answer')
local task = redis.call('HMGET', key_task(id), 'owner', 'expires_at')
redis.call('HSET', key_ask(request), 'owner', task[1], 'task', id, 'question', question, 'poll', '1')
redis.call('PEXPIREAT', key_ask(request), int(task[2] + HOUR_MS))
call_streams(id, session)
return { 1 }
