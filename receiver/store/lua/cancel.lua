#!lua flags=allow-oom
-- Cancels a task for its owner, and tells the worker that runs it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 owner, 3 nonce, 4 status message, 5... fields to return
-- Returns {1, values} (also for the same call sent again) | {-1} no such task | {-3, status} already terminal (T-67)
-- include: settle
-- include: owned
local id = ARGV[1]
if not is_owned(id, ARGV[2]) then
  audit_miss(id, ARGV[2])
  return { -1 }
end
local task = redis.call('HMGET', key_task(id), 'status', 'worker', 'op')
if task[3] ~= ARGV[3] then
  if task[1] ~= 'working' and task[1] ~= 'input_required' then
    audit_once(id, 'failure', task[1])
    return { -3, task[1] }
  end
  redis.call('HSET', key_task(id), 'op', ARGV[3])
  settle(id, 'cancelled', ARGV[4], now_ms())
  if task[2] and task[2] ~= '' then
    redis.call('PUBLISH', key_signals(task[2]), id)
  end
end
return { 1, redis.call('HMGET', key_task(id), unpack(ARGV, 5)) }
