-- How a stream parts with what it heard.
-- include: streams

-- Lets go of a stream.  If it is unwanted, its client may try to go on with it all the same (L-07), and so may an older
-- connection if it was taken over.
local function drop_stream(stream, unwanted, taken, lease)
  if unwanted or taken then
    redis.call('HSET', key_stream(stream), 'connection', '')
    redis.call('PEXPIRE', key_stream(stream), int(10 * lease))
  else
    redis.call('UNLINK', key_stream(stream))
  end
end

-- Takes a stream out of those that hear a task, and out of the requests that can be cancelled if its own is over.
local function leave_task(stream, session, id, request, is_over, lease, now)
  local rest = redis.call('PTTL', key_task(id))
  if rest > 0 then
    leave_set(key_listeners(id), stream, now, lease)
    redis.call('PEXPIRE', key_listeners(id), rest, 'LT')
    redis.call('PEXPIRE', key_replay(stream), rest, 'LT')
  else
    redis.call('UNLINK', key_listeners(id), key_replay(stream)) -- T-94
  end
  if is_over and redis.call('HGET', key_requests(session), request) == stream .. '/' .. id then
    redis.call('HDEL', key_requests(session), request)
  end
end
