#!lua flags=allow-oom
-- Parks a run that does nothing but wait: it gives up its lease, and its task stands nowhere until an answer, or the
-- end of a sleep, puts it back to its old place in the queue.  That costs no attempt.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 nonce, 4... the questions and sleeps that it waits for
-- Returns 1 parked (also for the same call sent again) | 2 not parked: there is news for it, or a task of the client's
--       to be polled | -1 gone | -2 another run | -3 terminal | -4 handed back
-- include: lease
-- include: fence
local id, nonce = ARGV[1], ARGV[3]
local task = redis.call('HMGET', key_task(id), 'op', 'worker', 'queue')
if task[1] == nonce then
  return 1
end
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return verdict
end
local now, due = now_ms(), math.huge
for i = 4, #ARGV do
  local ends = tonumber(redis.call('HGET', key_steps(id), ARGV[i] .. ':due') or 0)
  if ends > now then
    due = math.min(due, ends)
  elseif redis.call('HGET', key_inputs(id), ARGV[i] .. ':state') ~= 'open' then
    return 2
  end
end
if #ARGV < 4 then
  return 2 -- nothing would ever bring it back
end
note_run(id, 'parked', now)
drop_lease(id, task[2], task[3])
leave_queue(id, task[3]) -- it may have lost its lease before, and is back
redis.call('HSET', key_task(id), 'worker', '', 'handed_back', '1', 'parked', '1', 'op', nonce)
redis.call('HDEL', key_task(id), 'lease_until', 'lost')
if due < math.huge then
  redis.call('ZADD', key_later(), int(due), id)
end
return 1
