#!lua flags=allow-oom
-- Gives a run back to the queue: handed back (shutdown, a tool that this worker does not know), or as a retry.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 nonce, 4 'handed_back' | 'retry' (counts as an attempt), 5 delay in ms
-- Returns 1 (also for the same call sent again) | -1 gone | -2 another run | -3 terminal | -4 handed back
-- include: settle
-- include: fence
local id, run, nonce, delay = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[5])
local task = redis.call('HMGET', key_task(id), 'op', 'queue', 'score', 'worker')
if task[1] == nonce then
  return 1
end
local verdict = check_fence(id, run)
if verdict ~= 1 then
  return verdict
end
hand_back(id, task[4], task[2], task[3], ARGV[4])
redis.call('HSET', key_task(id), 'op', nonce)
if ARGV[4] == 'retry' then
  redis.call('HDEL', key_task(id), 'handed_back')
end
if delay > 0 then
  redis.call('ZREM', key_queue(task[2]), J .. id)
  redis.call('ZADD', key_later(), int(now_ms() + delay), id)
end
return 1
