-- A stream lives while its connection renews it.  What it took is its own as long as it lives.  A client that lost the
-- connection goes on with the stream by another one, on any node; the old one, whose node may not know that it is dead,
-- gets nothing from then on.
-- include: outbox

local LOG = 2 * OUTBOX -- messages kept of a stream; the oldest go first

-- Renews a stream, in the set of those that hear a task, or a session; false if another connection has it by now.
-- begins: this connection is new.
local function renew_stream(stream, connection, begins, set, now, lease)
  local holder = redis.call('HGET', key_stream(stream), 'connection')
  if holder and holder ~= connection then
    if not begins then
      return false
    end
    redis.call('HSET', key_stream(stream), 'taken_over', '1')
  end
  redis.call('HSET', key_stream(stream), 'connection', connection)
  redis.call('PEXPIRE', key_stream(stream), int(lease))
  if set then
    redis.call('ZADD', set, int(now + lease), stream)
    redis.call('PEXPIRE', set, int(lease))
  end
  return true
end

-- Takes a stream out of its set.  Messages are kept for it for as long as it could have lived.
local function leave_set(set, stream, now, lease)
  redis.call('ZREM', set, stream)
  redis.call('ZADD', set, int(now + lease), LEFT)
  redis.call('PEXPIRE', set, int(lease))
end

-- What was kept for a stream behind a position ('' = all): {position, message} for each.
local function read_kept(stream, position)
  local kept = {}
  for i, entry in ipairs(redis.call('XRANGE', key_replay(stream), position == '' and '-' or ('(' .. position), '+')) do
    kept[i] = { entry[1], entry[2][2] }
  end
  return kept
end

-- Puts a message at the end of kept.  It is kept for the stream: client or node may lose it on its way.
local function keep(kept, stream, message, lease)
  local position = redis.call('XADD', key_replay(stream), 'MAXLEN', LOG, '*', 'message', message)
  redis.call('PEXPIRE', key_replay(stream), int(10 * lease))
  kept[#kept + 1] = { position, message }
end

-- Moves an outbox to the end of kept.  Returns false, and leaves it, where it would be more than is kept.
local function take_messages(kept, stream, outbox, lease)
  if #kept >= OUTBOX then
    return false
  end
  for _, message in ipairs(redis.call('LRANGE', outbox, 0, -1)) do
    keep(kept, stream, message, lease)
  end
  redis.call('DEL', outbox)
  return true
end
