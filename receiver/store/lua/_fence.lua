-- Whether a run may still write to its task.  Returns 1, or why not: -1 gone, -2 another run, -3 terminal,
-- -4 handed back.  Nothing else may be touched before this was asked.
local function check_fence(id, run)
  local task = redis.call('HMGET', key_task(id), 'status', 'run', 'worker', 'lost')
  if not task[1] then return -1 end
  if task[2] ~= run then return -2 end
  if task[1] ~= 'working' and task[1] ~= 'input_required' then return -3 end
  if (not task[3] or task[3] == '') and not task[4] then return -4 end
  return 1
end
