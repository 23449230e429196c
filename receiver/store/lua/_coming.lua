-- What a plain call says is for its own stream and no other (H-16): while that is about to open, it waits.

local COMING = 'coming' -- in a set of streams: stands for one that will open within COMING_MS, if ever
local COMING_MS = 10000

local function expect_stream(id, now)
  redis.call('ZADD', key_listeners(id), int(now + COMING_MS), COMING)
  if redis.call('PTTL', key_listeners(id)) < COMING_MS then
    redis.call('PEXPIRE', key_listeners(id), COMING_MS)
  end
end

-- Has a plain call be known by its request from now on, as '/id': it may be cancelled before its stream opens (L-07).
local function name_request(id)
  local session, request = unpack(redis.call('HMGET', key_task(id), 'session', 'request'))
  local rest = session and request and redis.call('PTTL', key_session(session)) or 0
  if rest > 0 then
    redis.call('HSET', key_requests(session), request, '/' .. id)
    redis.call('PEXPIRE', key_requests(session), rest)
  end
end

-- The same where one of the messages behind the first few ends the connection for its client to come back.
local function expect_next(kept, before, id, now)
  for i = before + 1, #kept do
    if kept[i][2] == 'close' then
      expect_stream(id, now)
    end
  end
end

-- Whether a stream that begins now was expected; it is not any more.
local function was_expected(id)
  return redis.call('ZREM', key_listeners(id), COMING) == 1
end
