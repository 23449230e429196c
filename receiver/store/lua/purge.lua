#!lua flags=allow-oom
-- Removes finished tasks, for operators: their requestors get "not found" before the ttl that they were granted.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 who calls, for the audit trail, 2... ids
-- Returns {id, 'purged' | 'unfinished' | 'call' | 'gone', ...}
-- include: audit
-- include: clearing
caller = ARGV[1]
local verdicts = {}

local function purge(id)
  local task = redis.call('HMGET', key_task(id), 'status', 'kind', 'owner', 'queue', 'tool')
  if not task[1] then
    return 'gone'
  elseif task[2] ~= 'task' then
    return 'call' -- its caller waits, or just got the response
  elseif task[1] == 'working' or task[1] == 'input_required' then
    return 'unfinished'
  end
  audit(id, 'success', task[1])
  redis.call('UNLINK', key_task(id), key_inputs(id), key_steps(id), key_outbox(id), key_history(id), key_retries(id))
  clear_away(write_entry(id, task[3], task[4], label_of(task[2], task[5])))
  return 'purged'
end

for i = 2, #ARGV do
  table.insert(verdicts, ARGV[i])
  table.insert(verdicts, purge(ARGV[i]))
end
return verdicts
