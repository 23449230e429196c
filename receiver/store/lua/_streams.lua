-- A stream lives while its connection renews it.  What it took is its own as long as it lives.  A client that lost the
-- connection goes on with the stream by another one, on any node; the old one, whose node may not know that it is dead,
-- gets nothing from then on.
-- include: outbox

-- Lets a stream live for another lease, in the set of those that hear a task, or a session.
local function extend_stream(stream, set, now, lease)
  redis.call('PEXPIRE', key_stream(stream), int(lease))
  if set then
    redis.call('ZADD', set, int(now + lease), stream)
    redis.call('PEXPIRE', set, int(lease))
  end
end

-- The same for a connection that looks; false if another one has the stream by now.  begins: this one is new.
local function renew_stream(stream, connection, begins, set, now, lease)
  local holder = redis.call('HGET', key_stream(stream), 'connection')
  if holder and holder ~= connection then
    if not begins then
      return false
    end
    redis.call('HSET', key_stream(stream), 'taken_over', '1')
  end
  redis.call('HSET', key_stream(stream), 'connection', connection)
  extend_stream(stream, set, now, lease)
  return true
end

-- Takes a stream out of its set.  Messages are kept for it for as long as it could have lived.
local function leave_set(set, stream, now, lease)
  redis.call('ZREM', set, stream)
  redis.call('ZADD', set, int(now + lease), LEFT)
  redis.call('PEXPIRE', set, int(lease))
end
