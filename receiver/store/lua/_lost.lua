-- include: settle

-- An outage of the store is not a lost worker: when no worker was heard for half a lease, nobody's lease is taken
-- over for one lease from now, so that all have time to come back.  Returns whether leases may be taken over.
local function watch_clock(now, lease)
  local seen, hold = unpack(redis.call('HMGET', key_clock(), 'seen', 'hold_until'))
  if not seen or now - tonumber(seen) > lease / 2 then
    hold = now + lease
    redis.call('HSET', key_clock(), 'hold_until', int(hold))
  end
  if not seen or now - tonumber(seen) > lease / 100 then
    redis.call('HSET', key_clock(), 'seen', int(now))
  end
  return now >= tonumber(hold)
end

-- Ends a task whose last attempt was lost with its worker.  Attempts that ended otherwise were not lost.
local function fail_lost(id, now)
  note_run(id, 'lost', now)
  local lost = redis.call('HINCRBY', key_task(id), 'losses', 1)
  local message = 'The worker was lost ' .. (lost == 1 and 'once' or lost .. ' times')
  redis.call('HSET', key_task(id), 'outcome', 'error', 'payload', string.format(
    '{"code":-32603,"message":"%s","data":{"reason":"worker_lost","attempts":%d}}', message, lost))
  settle(id, 'failed', message, now)
end

-- Up to limit expired leases: back to their old place in the queue, or failed when the attempts are spent.
-- Returns id, 'requeued' | 'failed' | 'gone', kind and tool ('' = unknown) for each.
local function recover_lost(now, limit)
  local events = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key_leases(), '-inf', int(now), 'LIMIT', 0, limit)) do
    local task = redis.call('HMGET', key_task(id), 'status', 'worker', 'queue', 'score', 'attempt', 'max_attempts',
      'kind', 'tool')
    local verdict = 'gone'
    if task[1] ~= 'working' and task[1] ~= 'input_required' then
      redis.call('ZREM', key_leases(), id)
    elseif tonumber(task[5]) >= tonumber(task[6]) then
      verdict = 'failed'
      fail_lost(id, now)
    else
      verdict = 'requeued'
      note_run(id, 'lost', now)
      drop_lease(id, task[2], task[3])
      redis.call('HSET', key_task(id), 'worker', '', 'lost', '1')
      redis.call('HDEL', key_task(id), 'lease_until')
      make_ready(id, task[3], task[4])
    end
    for _, part in ipairs({ id, verdict, task[7] or '', task[8] or '' }) do
      table.insert(events, part)
    end
  end
  return events
end
