#!lua flags=allow-oom
-- Ends a worker: what it still holds goes back to the queue, and operators no longer see it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 worker, then ids of tasks that must not be run again: they are lost when their leases end
-- Returns 1
-- include: lease
-- include: unheld
local worker = ARGV[1]
local lost = {}
for i = 2, #ARGV do
  lost[ARGV[i]] = true
end
hand_back_unheld(worker, lost, math.huge)
redis.call('UNLINK', key_held(worker), key_worker(worker), key_own_bell(worker))
redis.call('ZREM', key_workers(), worker)
return 1
