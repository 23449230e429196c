-- Records what a step of a run returned: later runs take it from here.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 step (name and number), 4 digest of its arguments, 5 what it returned, as JSON
-- Returns 1 (also for the same call sent again) | -1 gone | -2 another run | -3 terminal | -4 handed back
-- include: fence
local id, step = ARGV[1], ARGV[3]
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return verdict
end
redis.call('HSET', key_steps(id), step .. ':digest', ARGV[4], step .. ':value', ARGV[5])
redis.call('PEXPIREAT', key_steps(id), redis.call('HGET', key_task(id), 'expires_at'))
return 1
