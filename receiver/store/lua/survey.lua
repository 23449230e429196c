#!lua flags=no-writes
-- How much there is of everything: for operators, and for metrics.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  -
-- Returns {now, {label, working, input_required, completed, failed, cancelled}..., {queue, ready, age in ms of the
--         oldest of the first LOOKED_AT (-1 = none)}..., leases, lost leases, later}
-- include: now
local LOOKED_AT = 100 -- of a queue, which is fair and not in the order of time
local STATUSES = { 'working', 'input_required', 'completed', 'failed', 'cancelled' }
local now = now_ms()
local labels, queues = {}, {}

local function age_of_oldest(queue)
  local oldest = now + 1
  for _, job in ipairs(redis.call('ZRANGE', key_queue(queue), 0, LOOKED_AT - 1)) do
    local created = redis.call('HGET', key_task(string.sub(job, #J + 1)), 'created_at')
    oldest = math.min(oldest, tonumber(created or oldest))
  end
  return now - oldest
end

for i, label in ipairs(redis.call('ZRANGEBYSCORE', key_labels(), int(now), '+inf')) do
  labels[i] = { label }
  for _, status in ipairs(STATUSES) do
    table.insert(labels[i], redis.call('ZCARD', key_status(status, label)))
  end
end
for i, queue in ipairs(redis.call('HKEYS', key_served())) do
  queues[i] = { queue, redis.call('ZCARD', key_queue(queue)), age_of_oldest(queue) }
end
local lost = redis.call('ZCOUNT', key_leases(), '-inf', int(now))
return { now, labels, queues, redis.call('ZCARD', key_leases()), lost, redis.call('ZCARD', key_later()) }
