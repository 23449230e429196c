#!lua flags=no-writes
-- What an earlier run recorded of a step.  Who is not the task's run any more does not do it again.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 step
-- Returns {1, digest, value} | {1} no run has recorded it
--       | {-1} gone | {-2} another run | {-3} terminal | {-4} handed back
-- include: fence
local verdict = check_fence(ARGV[1], ARGV[2])
if verdict ~= 1 then
  return { verdict }
end
local found = redis.call('HMGET', key_steps(ARGV[1]), ARGV[3] .. ':digest', ARGV[3] .. ':value')
return found[1] and { 1, found[1], found[2] } or { 1 }
