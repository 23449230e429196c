-- Walks through several indexes at once, newest entries first.  after and last_id: the position behind which to begin;
-- since: the time at which to end.  They are the script's own.
local BATCH = 20
local sources = {}

local function add_source(key)
  table.insert(sources, { key = key, entries = {}, at = 1, from = 0 })
end

-- The time and the id of the next entry of a source; nil at its end.
local function head(source)
  while not source.is_over do
    local id, time = source.entries[source.at], source.entries[source.at + 1]
    if not id then
      local limit = { 'LIMIT', source.from, BATCH }
      source.entries = redis.call('ZREVRANGEBYSCORE', source.key, after, since, 'WITHSCORES', unpack(limit))
      source.from, source.at, source.is_over = source.from + BATCH, 1, #source.entries == 0
    elseif time == after and id >= last_id then -- entries of one millisecond stand in the order of their ids
      source.at = source.at + 2
    else
      return time, id
    end
  end
end

-- Takes the newest of all; nil when there is none.
local function take_newest()
  local newest, newest_time, newest_id
  for _, source in ipairs(sources) do
    local time, id = head(source)
    local number = tonumber(time)
    if id and (not newest or number > newest_time or (number == newest_time and id > newest_id)) then
      newest, newest_time, newest_id = source, number, id
    end
  end
  if newest then
    newest.at = newest.at + 2
    return newest.entries[newest.at - 1], newest_id
  end
end
