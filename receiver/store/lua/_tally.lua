-- What is counted of each minute, by label: 'created', or a status and how long the last run took.
-- include: now
local MINUTE_MS, DAY_MS = 60000, 86400000
local STEPS = 4 -- to the doubling of a time

local function tally(label, event, now)
  local key = key_tally(int(math.floor(now / MINUTE_MS)))
  if redis.call('HINCRBY', key, label .. ' ' .. event, 1) == 1 then
    redis.call('PEXPIRE', key, DAY_MS)
  end
end

-- Counts an end.  A time of 2^(n/4) ms is written as n, that of what never ran as '-'.
local function tally_end(label, status, started, now)
  local took = '-'
  if started then
    took = int(math.floor(STEPS * math.log(math.max(1, now - started)) / math.log(2) + 0.5))
  end
  tally(label, status .. ' ' .. took, now)
end
