#!lua flags=allow-oom
-- How long a run has to sleep.  Its end is recorded by the first run that comes here, and the same for all later ones.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 sleep (name and number), 4 ms
-- Returns {1, ms that are left, 0 or less for none} | {-1} gone | {-2} another run | {-3} terminal | {-4} handed back
-- include: now
-- include: fence
local id, field = ARGV[1], ARGV[3] .. ':due'
local verdict = check_fence(id, ARGV[2])
if verdict ~= 1 then
  return { verdict }
end
local now = now_ms()
if redis.call('HSETNX', key_steps(id), field, int(now + ARGV[4])) == 1 then
  redis.call('PEXPIREAT', key_steps(id), redis.call('HGET', key_task(id), 'expires_at'))
end
return { 1, redis.call('HGET', key_steps(id), field) - now }
