-- What a run says waits in its outbox, what belongs to no task in that of a session, until a stream takes it: each goes
-- out on one stream alone (H-27).  It is JSON, or 'status' and the lines of the task as it was then, or 'close' (H-10).
-- include: audience

local OUTBOX = 256 -- messages kept; the oldest go first
local OUTBOX_MS = 60000 -- how long they wait for a client that comes back

-- Has the open streams look: those of the task, and those of the session that asked for it.
local function call_streams(id, session)
  redis.call('PUBLISH', key_events(id), 'message')
  -- Who opens a stream of the session later only wants to know what is asked.
  local matters = session and (redis.call('EXISTS', key_hearers(session)) == 1
    or redis.call('HGET', key_task(id), 'status') == 'input_required')
  if matters and redis.call('HEXISTS', key_session(session), 'owner') == 1 then
    redis.call('SADD', key_talking(session), id)
    redis.call('PEXPIRE', key_talking(session), math.max(1, redis.call('PTTL', key_session(session))))
    redis.call('PUBLISH', key_session_events(session), 'message')
  end
end

local function put(outbox, message, until_ms)
  redis.call('RPUSH', outbox, message)
  redis.call('LTRIM', outbox, -OUTBOX, -1)
  redis.call('PEXPIREAT', outbox, int(until_ms))
end

-- Puts a message into the outbox of a task, if anybody listens: it would be of no use to who comes later.  Who makes a
-- plain call listens to it.  A function is asked for the message then.
local function say(id, message, now)
  local task = redis.call('HMGET', key_task(id), 'session', 'expires_at', 'kind')
  local session = task[1]
  local heard = task[3] == 'call' or is_awaited(key_listeners(id), now)
  if not heard and not (session and is_awaited(key_hearers(session), now)) then
    return
  end
  put(key_outbox(id), type(message) == 'function' and message() or message, math.min(task[2], now + OUTBOX_MS))
  call_streams(id, session)
end

-- Says what a task has become.  It says so as of now: a stream that comes later must not tell of a later state before
-- the messages that led to it (T-61).
local function say_status(id, now)
  say(id, function()
    local task = redis.call(
      'HMGET', key_task(id), 'status', 'status_message', 'created_at', 'updated_at', 'ttl', 'poll_interval')
    for i = 1, 6 do
      task[i] = task[i] or ''
    end
    return 'status\n' .. id .. '\n' .. table.concat(task, '\n')
  end, now)
end
