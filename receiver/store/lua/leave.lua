#!lua flags=allow-oom
-- Ends a worker: what it still holds goes back to the queue, and operators no longer see it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 worker
-- Returns 1
-- include: lease
-- include: unheld
local worker = ARGV[1]
hand_back_unheld(worker, {}, math.huge)
redis.call('UNLINK', key_held(worker), key_worker(worker), key_own_bell(worker))
redis.call('ZREM', key_workers(), worker)
return 1
