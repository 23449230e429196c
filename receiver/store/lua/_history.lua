-- include: now

local HISTORY = 100 -- events kept; the oldest go first

-- Notes what the record of a task will not tell any more: for people.
local function note(id, event, detail, now)
  local expires = redis.call('HGET', key_task(id), 'expires_at')
  if expires then
    redis.call('RPUSH', key_history(id), int(now) .. ' ' .. event .. ' ' .. detail)
    redis.call('LTRIM', key_history(id), -HISTORY, -1)
    redis.call('PEXPIREAT', key_history(id), expires)
  end
end

-- The same of the newest run of a task, before its worker is forgotten.
local function note_run(id, event, now)
  local task = redis.call('HMGET', key_task(id), 'run', 'worker', 'started_at')
  note(id, event, string.format('run=%s worker=%s started_at=%s', task[1], task[2] or '', task[3] or ''), now)
end
