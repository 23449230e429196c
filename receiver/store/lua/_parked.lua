-- include: history
-- include: queue

-- Puts a task, if there still is one, back to its old place in the queue.
local function bring_back(id)
  local task = redis.call('HMGET', key_task(id), 'queue', 'score')
  if task[1] then
    redis.call('HDEL', key_task(id), 'parked')
    note(id, 'queued', task[1], now_ms())
    make_ready(id, task[1], task[2])
  end
end

-- The same, if it is parked.
local function unpark(id)
  if redis.call('HEXISTS', key_task(id), 'parked') == 1 then
    redis.call('ZREM', key_later(), id)
    bring_back(id)
  end
end
