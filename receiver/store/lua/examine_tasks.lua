#!lua flags=no-writes
-- Looks at tasks of one status, the oldest and the newest: where each stands, in one step, so that none is on its way.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 status, 2 how many from each end
-- Returns {id, PTTL, status, queue, worker, parked, 1 where it stands in that index or set, else 0: its queue, leases,
--       later, what its owner is shown, what is swept; 1 if it has an open question}...
-- include: now
-- include: closing
-- include: label
local status, count = ARGV[1], tonumber(ARGV[2])

-- The ids of tasks that are in a status, from both ends of the index of each label: of all labels together about count.
local function sample_status()
  local labels, sample, seen = redis.call('ZRANGE', key_labels(), 0, -1), {}, {}
  local share = math.max(1, math.floor(count / math.max(1, #labels)))
  local function add(ids)
    for _, id in ipairs(ids) do
      sample[#sample + 1] = not seen[id] and id or nil
      seen[id] = true
    end
  end
  for _, label in ipairs(labels) do
    add(redis.call('ZRANGE', key_status(status, label), 0, share - 1))
    add(redis.call('ZRANGE', key_status(status, label), -share, -1))
  end
  return sample
end

local function stands(key, member)
  return redis.call('ZSCORE', key, member) and 1 or 0
end

local found = {}
for _, id in ipairs(sample_status()) do
  local task = redis.call('HMGET', key_task(id), 'status', 'queue', 'worker', 'parked', 'owner', 'kind', 'tool')
  local owner, queue = task[5], task[2] or ''
  if owner then -- else it has expired
    local entry = write_entry(id, owner, queue, label_of(task[6], task[7]))
    found[#found + 1] = { id, redis.call('PTTL', key_task(id)), task[1], queue, task[3] or '', task[4] and 1 or 0,
      stands(key_queue(queue), J .. id), stands(key_leases(), id), stands(key_later(), id),
      task[6] == 'call' and 1 or stands(key_owner(owner), id),
      stands(key_expiry(), entry), is_any_open(id) and 1 or 0 }
  end
end
return found
