#!lua flags=allow-oom
-- Ends a run with its outcome: the status and the outcome become visible in one step.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 id, 2 run, 3 nonce, 4 status, 5 status message ('' = keep), 6 'result' | 'error', 7 the outcome as JSON
-- Returns 1 (also for the same call sent again) | -1 gone | -2 another run | -3 terminal | -4 handed back
-- include: settle
-- include: fence
local id, run, nonce = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HGET', key_task(id), 'op') == nonce then
  return 1
end
local verdict = check_fence(id, run)
if verdict ~= 1 then
  return verdict
end
redis.call('HSET', key_task(id), 'outcome', ARGV[6], 'payload', ARGV[7], 'op', nonce)
settle(id, ARGV[4], ARGV[5], now_ms())
return 1
