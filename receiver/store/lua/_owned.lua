-- Whether this is a task of this owner; a foreign task and a plain call are as unknown as no task (T-89).
local function is_owned(id, owner)
  local task = redis.call('HMGET', key_task(id), 'owner', 'kind')
  return task[1] == owner and task[2] == 'task'
end
