#!lua flags=allow-oom
-- Answers a question, once.  When nothing else is open the task works again.  Its worker is told, or its run goes on
-- that was parked.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id of the request, or of the tasks/result that asked for what the client's task gave, 2 owner, 3 session,
--       4 the answer as JSON, 5 who answers, for the audit trail
-- Returns 1 accepted (also for the same answer sent again) | 0 too late, or answered before | -1 never asked
-- include: settle
-- include: asked
-- include: parked
local id, question, is_poll = find_asked(ARGV[1], ARGV[2], ARGV[3])
if not id then
  return -1
end
local inputs, task = key_inputs(id), redis.call('HMGET', key_task(id), 'status', 'worker')
local known = redis.call('HMGET', inputs, question .. ':answer', question .. ':state', question .. ':id',
  question .. '/poll:id')
local expected, request = 'open', known[3]
if is_poll then
  expected, request = 'accepted', known[4]
end
if known[1] == ARGV[4] then
  return 1
end
if known[2] ~= expected or request ~= ARGV[1] or task[1] ~= 'input_required' then
  return 0
end
redis.call('HSET', inputs, question .. ':state', 'answered', question .. ':answer', ARGV[4])
drop_poll(id, question)
note(id, 'answered', question, now_ms())
if not is_any_open(id) then
  move_status(id, 'input_required', 'working', now_ms()) -- T-40
end
unpark(id)
redis.call('PUBLISH', key_signals(task[2] or ''), id)
caller = ARGV[5]
audit(id, 'success', 'answered')
return 1
