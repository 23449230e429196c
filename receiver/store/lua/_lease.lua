-- include: history
-- include: queue

-- The tool whose runs a queue counts, nil for most; what stands behind the colon of its name.
local function capped_tool(queue)
  return string.match(queue, ':(.+)$')
end

-- Gives a run's lease to a worker.  now and lease in ms; number is the claim that it came with; behind them, what else
-- changes in the record.
local function grant_lease(id, worker, queue, number, now, lease, ...)
  redis.call('HSET', key_task(id), 'worker', worker, 'lease_until', int(now + lease), ...)
  redis.call('HDEL', key_task(id), 'lost', 'handed_back')
  redis.call('ZADD', key_leases(), int(now + lease), id)
  redis.call('HSET', key_held(worker), id, number)
  if capped_tool(queue) then
    redis.call('SADD', key_running(capped_tool(queue)), id)
  end
end

-- The same again for a run that goes on; if it was lost, it is in the queue.
local function renew_lease(id, worker, queue, number, now, lease)
  grant_lease(id, worker, queue, number, now, lease)
  leave_queue(id, queue)
end

-- Takes a run's lease away from its worker; the task stands nowhere until its caller puts it somewhere.
local function drop_lease(id, worker, queue)
  redis.call('ZREM', key_leases(), id)
  if capped_tool(queue) and redis.call('SREM', key_running(capped_tool(queue)), id) == 1 then
    ring(queue) -- a place under max_running is free: whoever wakes looks into all queues of the tool
  end
  if worker and worker ~= '' then
    redis.call('HDEL', key_held(worker), id)
  end
end

-- Puts a run back where it stood in the queue; the next claim counts no attempt.  event: what is noted of it.
local function hand_back(id, worker, queue, score, event)
  note_run(id, event, now_ms())
  drop_lease(id, worker, queue)
  redis.call('HSET', key_task(id), 'worker', '', 'handed_back', '1')
  redis.call('HDEL', key_task(id), 'lease_until', 'lost')
  make_ready(id, queue, score)
end
