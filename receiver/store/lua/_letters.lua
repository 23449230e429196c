-- include: outbox

-- Whether a session has not ended.
local function lives(session)
  return redis.call('HEXISTS', key_session(session), 'owner') == 1
end

-- Writes to one session, for whichever of its streams is next: it concerns nobody else.  about: the task that it is
-- about, whose streams may bring it too; '' = none.
local function write_to(session, about, message)
  if not lives(session) then
    return
  end
  put(key_session_outbox(session), about .. '\n' .. message, now_ms() + redis.call('PTTL', key_session(session)))
  if about ~= '' then
    redis.call('PUBLISH', key_events(about), 'message')
  end
  redis.call('PUBLISH', key_session_events(session), 'message')
end
