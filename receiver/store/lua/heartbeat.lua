#!lua flags=allow-oom
-- Renews the leases of all runs of a worker, and says which of them must stop.
-- A lease that ended, or was even put back into the queue, is renewed as long as no other run has begun.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 worker, 2 lease in ms, 3 number of the last claim whose reply arrived, 4 the worker's own clock, 5 fields,
--       then name and value of each (what operators see of the worker), then id, run of every task that it runs;
--       run '' = it is not renewed
-- Returns {id, 'expired' | 'superseded' | 'finished' | 'cancelled', ...} for the runs that must stop
-- include: lost
-- include: fence
-- include: unheld
local worker, lease, acknowledged = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now = now_ms()
local first_run = 6 + 2 * ARGV[5]
local REASONS = { [-1] = 'expired', [-2] = 'superseded', [-3] = 'finished', [-4] = 'superseded' }
local stops, runs = {}, {}
watch_clock(now, lease)

for i = first_run, #ARGV, 2 do
  local id, run = ARGV[i], ARGV[i + 1]
  runs[id] = true
  local verdict = run ~= '' and check_fence(id, run)
  if verdict == 1 then
    local queue = redis.call('HGET', key_task(id), 'queue')
    local number = redis.call('HGET', key_held(worker), id) or ARGV[3]
    renew_lease(id, worker, queue, number, now, lease)
  elseif verdict then
    local cancelled = verdict == -3 and redis.call('HGET', key_task(id), 'status') == 'cancelled'
    table.insert(stops, id)
    table.insert(stops, cancelled and 'cancelled' or REASONS[verdict])
  end
end

hand_back_unheld(worker, runs, acknowledged)
redis.call('PEXPIRE', key_held(worker), lease * 10)
redis.call('ZADD', key_workers(), int(now), worker)
redis.call('HSET', key_worker(worker), 'seen_at', int(now), 'lease', int(lease), 'clock_offset', int(ARGV[4] - now),
  unpack(ARGV, 6, first_run - 1))
redis.call('HSETNX', key_worker(worker), 'started_at', int(now))
redis.call('PEXPIRE', key_worker(worker), lease * 10)
return stops
