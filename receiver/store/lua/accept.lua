#!lua flags=allow-oom
-- A client works on a question by a task of its own: the question is not asked again, and its answer is awaited from
-- this session.  A task that comes too late, or is one too many, is cancelled (T-73).
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id of the request, 2 owner, 3 session, 4 id of the client's task, 5 its ttl in ms ('' = without end),
--       6 its poll interval in ms, 7 id of the request that cancels it, 8 this request as JSON ('' = it can't be),
--       9 who answers, for the audit trail
-- Returns 1 accepted (also for the same call sent again) | 0 too late | -1 never asked
-- include: settle
-- include: asked
-- include: parked
local HOUR_MS = 3600000 -- how long the answer to a request of ours is told from one to nothing
local id, question, is_poll = find_asked(ARGV[1], ARGV[2], ARGV[3])
if not id then
  return -1
end
local inputs, session = key_inputs(id), ARGV[3]
local task = redis.call('HMGET', key_task(id), 'status', 'worker', 'owner', 'expires_at')
local known = redis.call('HMGET', inputs, question .. ':state', question .. ':id', question .. ':task',
  question .. ':refused')
if not known[1] or is_poll then
  return 0
elseif known[2] == ARGV[1] and known[3] == ARGV[4] then
  return 1
elseif known[4] == ARGV[4] then
  return 0
end
if ARGV[8] ~= '' then -- else what the client says to it would answer nothing
  redis.call('HSET', key_ask(ARGV[7]), 'owner', task[3], 'task', id, 'question', question, 'poll', '1',
    'asked:' .. session, '1')
  redis.call('PEXPIREAT', key_ask(ARGV[7]), int(task[4] + HOUR_MS))
end
if known[1] ~= 'open' or known[2] ~= ARGV[1] or task[1] ~= 'input_required' then
  redis.call('HSET', inputs, question .. ':refused', ARGV[4])
  if ARGV[8] ~= '' then
    write_to(session, id, ARGV[8])
  end
  return 0
end
local now = now_ms()
redis.call('HSET', inputs, question .. ':state', 'accepted', question .. ':task', ARGV[4], question .. ':session',
  session, question .. ':interval', ARGV[6], question .. ':due', int(now + ARGV[6]), question .. ':cancel', ARGV[8])
if ARGV[5] ~= '' then
  redis.call('HSET', inputs, question .. ':deadline', int(now + ARGV[5]))
end
redis.call('HDEL', inputs, question .. ':given')
note(id, 'accepted', question, now)
unpark(id) -- to poll that task
redis.call('PUBLISH', key_signals(task[2] or ''), id)
caller = ARGV[9]
audit(id, 'success', 'accepted')
return 1
