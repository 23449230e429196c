-- include: label
-- include: lease
-- include: tally
-- include: outbox
-- include: closing
-- include: audit

-- Moves a task to another status, or tells of a new status message; in the record, in the index of operators, and for
-- all who listen (T-23).  What else changes in the record comes behind.
local function move_status(id, before, after, now, ...)
  local task = redis.call('HMGET', key_task(id), 'updated_at', 'kind', 'tool')
  local updated, label = math.max(now, tonumber(task[1])), label_of(task[2], task[3])
  redis.call('HSET', key_task(id), 'status', after, 'updated_at', int(updated), ...)
  redis.call('ZREM', key_status(before, label), id)
  redis.call('ZADD', key_status(after, label), int(updated), id)
  if task[2] == 'task' then
    say_status(id, now)
  end
end

-- Makes a task terminal: the only place where a status becomes one (T-34).  The caller checked that the task is
-- open, and its fence.  Removes the lease, the queue entries and all of arq's keys, and wakes whoever waits.
local function settle(id, status, message, now)
  local task = redis.call('HMGET', key_task(id), 'status', 'owner', 'queue', 'worker', 'kind', 'session', 'request',
    'tool', 'started_at')
  if message ~= '' then
    redis.call('HSET', key_task(id), 'status_message', message)
  end
  if task[1] == 'input_required' then
    close_questions(id)
  end
  move_status(id, task[1], status, now, 'finished_at', int(now))
  local label = label_of(task[5], task[8])
  tally_end(label, status, task[9], now)
  redis.call('HDEL', key_task(id), 'lease_until', 'handed_back', 'lost', 'parked')
  drop_lease(id, task[4], task[3])
  if (task[4] or '') == '' then -- else it was taken out of there with its lease
    leave_queue(id, task[3])
    redis.call('ZREM', key_later(), id)
  end
  redis.call('ZREM', key_active(task[2]), id)
  drop_job(id)
  if task[5] == 'call' and task[6] and task[7] then
    redis.call('HDEL', key_requests(task[6]), task[7])
  end
  redis.call('PUBLISH', key_events(id), status)
  audit_end(id, label, task[2], task[4], status)
end
