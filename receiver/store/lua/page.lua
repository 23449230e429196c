#!lua flags=allow-oom
-- One page of an owner's tasks, newest first, from behind a position; the position need no longer exist.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 owner, 2 size, 3 created_at of the position ('+inf' = from the start), 4 id of the position, 5... fields
-- Returns {more (0 | 1), {id, values}...} | {-1, {}}: ask again; what was expired was so much that others had to wait
local LAPSED = 1000
local index, size = key_owner(ARGV[1]), tonumber(ARGV[2])
local found, offset, removed = {}, 0, 0

-- Entries of the same millisecond stand in the order of their ids.
local function is_behind(id, score)
  return score ~= ARGV[3] or id < ARGV[4]
end

while #found <= size do
  local entries = redis.call('ZREVRANGEBYSCORE', index, ARGV[3], '-inf', 'WITHSCORES', 'LIMIT', offset, size + 1)
  if #entries == 0 then break end
  if removed >= LAPSED then return { -1, {} } end
  for i = 1, #entries, 2 do
    local id, gone = entries[i], 0
    if #found <= size and is_behind(id, entries[i + 1]) then
      local values = redis.call('HMGET', key_task(id), unpack(ARGV, 5))
      if values[1] then
        table.insert(found, { id, values })
      else
        gone = redis.call('ZREM', index, id) -- expired, and not yet swept (X-7)
      end
    end
    offset, removed = offset + 1 - gone, removed + gone
  end
end
local more = #found > size and 1 or 0
found[size + 1] = nil
return { more, found }
