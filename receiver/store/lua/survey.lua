#!lua flags=no-writes
-- How much there is of everything: for operators, and for metrics.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 lease in ms: a worker is up that was heard of within it, 2... queues, besides those that were used
-- Returns {now, {label, working, input_required, completed, failed, cancelled}..., {queue, ready, leased, later, age of
--         the oldest in ms (-1 = none), workers}..., leases, lost leases, later}
-- include: now
local SAMPLE, HEAD, WORKERS = 1000, 100, 1000 -- entries that are looked at, of an index, of each queue, of all workers
local STATUSES = { 'working', 'input_required', 'completed', 'failed', 'cancelled' }
local now = now_ms()

-- How many tasks of an index belong to each queue; beyond SAMPLE of them, as many as these let expect.
local function spread(index)
  local found, ids = {}, redis.call('ZRANGE', index, 0, SAMPLE - 1)
  for _, id in ipairs(ids) do
    local queue = redis.call('HGET', key_task(id), 'queue') or ''
    found[queue] = (found[queue] or 0) + 1
  end
  local weight = #ids > 0 and redis.call('ZCARD', index) / #ids or 0
  return function(queue) return math.floor((found[queue] or 0) * weight + 0.5) end
end

local function find_age(queue)
  local oldest = now + 1
  for _, member in ipairs(redis.call('ZRANGE', key_queue(queue), 0, HEAD - 1)) do
    local created = redis.call('HGET', key_task(string.sub(member, #J + 1)), 'created_at')
    oldest = math.min(oldest, tonumber(created or oldest))
  end
  return now - oldest
end

local labels, queues, serving = {}, {}, {}
for i, label in ipairs(redis.call('ZRANGEBYSCORE', key_labels(), int(now), '+inf')) do
  labels[i] = { label }
  for _, status in ipairs(STATUSES) do
    table.insert(labels[i], redis.call('ZCARD', key_status(status, label)))
  end
end
local alive = redis.call('ZRANGEBYSCORE', key_workers(), int(now - ARGV[1]), '+inf', 'LIMIT', 0, WORKERS)
for _, worker in ipairs(alive) do
  for queue in string.gmatch(redis.call('HGET', key_worker(worker), 'queues') or '', '%S+') do
    serving[queue] = (serving[queue] or 0) + 1
  end
end
local names, leased, later = redis.call('HKEYS', key_served()), spread(key_leases()), spread(key_later())
for i = 2, #ARGV do
  if redis.call('HEXISTS', key_served(), ARGV[i]) == 0 then table.insert(names, ARGV[i]) end
end
for i, queue in ipairs(names) do
  local ready = redis.call('ZCARD', key_queue(queue))
  queues[i] = { queue, ready, leased(queue), later(queue), find_age(queue), serving[queue] or 0 }
end
local lost = redis.call('ZCOUNT', key_leases(), '-inf', int(now))
return { now, labels, queues, redis.call('ZCARD', key_leases()), lost, redis.call('ZCARD', key_later()) }
