#!lua flags=no-writes
-- A page of what operators look for, newest first: by updated_at, or of one owner by created_at.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 size, 2 time of the position behind which the page begins ('+inf' = from the start), 3 its id, 4 the time at
--       which to end ('-inf' = never), 5 owner ('' = any), 6 statuses, with spaces between, 7 how many labels,
--       8... labels, then fields, of which the first are status, kind, tool
-- Returns {time, id of the position where the next page begins ('' = there is none), {id, values}...}
-- include: label
local LOOKED_AT = 2000 -- entries at most for one page: others want the store too
local size, after, last_id, since, owner = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local first_field = 8 + ARGV[7]
-- include: newest

local statuses, labels = {}, {}
for status in string.gmatch(ARGV[6], '%S+') do
  statuses[status] = true
end
for i = 8, first_field - 1 do
  labels[ARGV[i]] = true
end
if owner ~= '' then
  add_source(key_owner(owner))
else
  for label in pairs(labels) do
    for status in pairs(statuses) do
      add_source(key_status(status, label))
    end
  end
end

-- An expired task may not be swept yet, and an owner's are of all kinds.
local function is_wanted(values)
  return values[1] and statuses[values[1]] and labels[label_of(values[2], values[3])]
end

local found, last = {}, { '', '' }
for looked = 1, LOOKED_AT + 1 do
  local time, id = take_newest()
  if not id then
    return { '', '', found }
  elseif looked > LOOKED_AT then
    break
  end
  local values = redis.call('HMGET', key_task(id), unpack(ARGV, first_field))
  if is_wanted(values) then
    if #found == size then break end
    table.insert(found, { id, values })
  end
  last = { time, id }
end
return { last[1], last[2], found }
