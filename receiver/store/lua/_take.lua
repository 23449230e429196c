-- How claim takes tasks out of the queues.  now, lease, worker, claim, mine, claimed, free and open are its own.

local function hand_over(id, run)
  local job = redis.call('GET', key_arq_job(id)) or ''
  claimed[#claimed + 1] = { id, tonumber(run), job, redis.call('HGETALL', key_task(id)) }
end

-- If this very claim was made before, and its reply lost: hands the same tasks over again, and returns true.
local function hand_over_again()
  if redis.call('HGET', key_held(worker), 'claim') ~= claim then return false end
  local held = redis.call('HGETALL', key_held(worker))
  for i = 1, #held, 2 do
    local id = held[i]
    local run = id ~= 'claim' and held[i + 1] == claim and not mine[id] and redis.call('HGET', key_task(id), 'run')
    if run then -- neither a run that only went on, nor a task that expired meanwhile
      hand_over(id, run)
    end
  end
  return true
end

-- Decides on the task at one place of the queue: 'taken', 'renewed', 'removed' from the queue, or 'passed' over.
local function take(id, queue, score)
  local task = redis.call('HMGET', key_task(id), 'status', 'run', 'attempt', 'handed_back', 'lost')
  if task[1] ~= 'working' and task[1] ~= 'input_required' then
    leave_queue(id, queue)
    drop_job(id)
    return 'removed'
  end
  if mine[id] == task[2] and task[5] then -- it runs here, and lost its lease meanwhile: the same run goes on
    renew_lease(id, worker, queue, claim, now, lease)
    return 'renewed'
  elseif mine[id] then
    return 'passed' -- a run of it that was given back, or an older one, must end here first
  end
  local run = task[2] + 1
  local attempt = task[3] + (task[4] and 0 or 1)
  if task[5] then
    redis.call('HINCRBY', key_task(id), 'losses', 1)
  end
  grant_lease(id, worker, queue, claim, now, lease, 'run', int(run), 'attempt', int(attempt), 'score', score,
    'started_at', int(now))
  redis.call('ZREM', key_queue(queue), J .. id)
  if run > 1 then
    note_run(id, 'started', now)
  end
  hand_over(id, run)
  return 'taken'
end

-- Remembers how far a queue was served, if it was (nil = not); a task back at its old place changes nothing.
local function serve(queue, score)
  if score and tonumber(score) > tonumber(redis.call('HGET', key_served(), queue) or 0) then
    redis.call('HSET', key_served(), queue, score)
    redis.call('ZREMRANGEBYSCORE', key_fair(queue), '-inf', score)
  end
end
