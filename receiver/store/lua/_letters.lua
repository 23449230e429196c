-- include: outbox

-- Writes to one session, for whichever of its streams is next: it concerns nobody else.  about: the task that it is
-- about, whose streams may bring it too; '' = none.
local function write_to(session, about, message)
  local rest = redis.call('PTTL', key_session(session))
  if rest <= 0 then
    return
  end
  put(key_session_outbox(session), about .. '\n' .. message, rest + now_ms())
  if about ~= '' then
    redis.call('PUBLISH', key_events(about), 'message')
  end
  redis.call('PUBLISH', key_session_events(session), 'message')
end
