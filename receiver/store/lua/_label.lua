-- include: now

-- How operators tell tasks apart: by what they are, and what they run.
local function label_of(kind, tool)
  return kind .. ':' .. (tool or '')
end

-- How a task stands in the index of ends: with all that has to be known of it when the record is gone.
local function write_entry(id, owner, queue, label)
  return table.concat({ owner, id, queue, label }, '/')
end

-- The same read: owner, id, queue and label, which alone may hold slashes.
local function read_entry(entry)
  return string.match(entry, '^([^/]*)/([^/]*)/([^/]*)/(.*)$')
end

-- Enters a new task where operators and the janitor find it.
local function enter(id, owner, queue, label, now, expires)
  redis.call('ZADD', key_status('working', label), int(now), id)
  redis.call('ZADD', key_labels(), 'GT', int(expires), label)
  redis.call('ZADD', key_expiry(), int(expires), write_entry(id, owner, queue, label))
end
