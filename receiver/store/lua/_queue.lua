-- include: now

-- Wakes one worker that listens to this queue; a bell that already rings is left alone.
local function ring(queue)
  local bell = key_bell(queue)
  if redis.call('LLEN', bell) == 0 then
    redis.call('RPUSH', bell, '1')
    redis.call('PEXPIRE', bell, 60000)
  end
end

-- A place in the queue behind the owner's own tasks, but not behind everyone else's.  An owner who has no task is not
-- behind what was cancelled.
local function fair_tag(queue, owner, has_tasks)
  local served = tonumber(redis.call('HGET', key_served(), queue) or -1)
  if served < 0 then
    served = 0
    redis.call('HSET', key_served(), queue, '0') -- this hash names the queues that there are
  end
  local last = has_tasks and tonumber(redis.call('ZSCORE', key_fair(queue), owner) or 0) or 0
  local tag = math.max(served, last) + 1
  redis.call('ZADD', key_fair(queue), int(tag), owner)
  return tag
end

-- Into the ready queue, at the place named by score.
local function make_ready(id, queue, score)
  redis.call('ZADD', key_queue(queue), score, J .. id)
  ring(queue)
end

-- Out of the ready queue.  The tags go with its last task: they order those who wait.
local function leave_queue(id, queue)
  redis.call('ZREM', key_queue(queue), J .. id)
  if redis.call('EXISTS', key_queue(queue)) == 0 then
    redis.call('DEL', key_fair(queue))
  end
end

-- Removes arq's keys of a task.
local function drop_job(id)
  redis.call('UNLINK', key_arq_job(id), key_arq_retry(id), key_arq_in_progress(id))
end
