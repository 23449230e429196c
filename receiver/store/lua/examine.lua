#!lua flags=no-writes
-- All that the store knows of one task: for operators.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id
-- Returns {now, record, inputs, {step, size in bytes}..., history, retries, place in its queue (-1 = none), streams}
--       | {now} if there is no such task
-- include: now
local id, now = ARGV[1], now_ms()
local record = redis.call('HGETALL', key_task(id))
if #record == 0 then
  return { now }
end
local queue, steps = redis.call('HGET', key_task(id), 'queue'), {}
for i, name in ipairs(redis.call('HKEYS', key_steps(id))) do
  steps[i] = { name, redis.call('HSTRLEN', key_steps(id), name) }
end
return { now, record, redis.call('HGETALL', key_inputs(id)), steps, redis.call('LRANGE', key_history(id), 0, -1),
  redis.call('LRANGE', key_retries(id), 0, -1), redis.call('ZRANK', key_queue(queue), J .. id) or -1,
  redis.call('ZCOUNT', key_listeners(id), int(now), '+inf') }
