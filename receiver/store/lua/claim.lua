#!lua flags=allow-oom
-- Gives a worker the next tasks for its free slots.  Expired leases and due retries go back to their queues first.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 worker, 2 number of this claim, 3 lease in ms, 4 free slots, 5 free slots for other than plain calls,
--       6 queues, then for each: name, max_running (0 = none), '1' if it holds plain calls; then id, run of every
--       task that this worker still runs
-- Returns {now, ms until the next retry is due (-1 = none), {{id, run, arq's job, record} for each claimed task},
--         {id, verdict, kind, tool of each task whose lease ended, ...} as recover has it}
-- include: lost
-- include: due
local worker, claim, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local free, open = tonumber(ARGV[4]), tonumber(ARGV[5])
local now = now_ms()
local last_queue = 6 + 3 * ARGV[6]
local mine, claimed, removals = {}, {}, 100 -- of what is over in one claim: others want the store too
for i = last_queue + 1, #ARGV, 2 do
  mine[ARGV[i]] = ARGV[i + 1]
end

-- include: take

-- Takes what it may from one queue, and leaves the bell ringing only for what another worker could take.
local function take_from(queue, cap, plain)
  local room = cap > 0 and cap - redis.call('SCARD', key_running(capped_tool(queue))) or math.huge
  local passed, served, is_at_end = 0, nil, false
  while room > 0 and removals > 0 and (plain and free or math.min(free, open)) > 0 do
    local head = redis.call('ZRANGE', key_queue(queue), passed, passed, 'WITHSCORES')
    is_at_end = not head[1]
    if is_at_end then break end
    local verdict = take(string.sub(head[1], #J + 1), queue, head[2])
    passed = passed + (verdict == 'passed' and 1 or 0)
    removals = removals - (verdict == 'removed' and 1 or 0)
    room = room - ((verdict == 'taken' or verdict == 'renewed') and 1 or 0)
    if verdict == 'taken' then
      free, open = free - 1, open - (plain and 0 or 1)
      served = head[2]
    end
  end
  serve(queue, served)
  if not is_at_end and room > 0 and redis.call('ZCARD', key_queue(queue)) > passed then
    ring(queue)
  else
    redis.call('DEL', key_bell(queue))
  end
  if is_at_end and passed == 0 then
    redis.call('DEL', key_fair(queue)) -- the tags go with the last task: they order those who wait
  end
end

local lost = watch_clock(now, lease) and recover_lost(now, 100) or {}
local due = forward_due(now)
if not hand_over_again() then
  for i = 7, last_queue, 3 do
    take_from(ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2] == '1')
  end
  redis.call('HSET', key_held(worker), 'claim', claim)
  redis.call('PEXPIRE', key_held(worker), lease * 10)
end
return { now, due and math.max(0, due - now) or -1, claimed, lost }
