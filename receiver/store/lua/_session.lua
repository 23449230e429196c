-- include: now
-- include: subscribers

-- Whether a session lives and is this owner's (H-30, S-01); if so, it goes on living.  idle in ms.
local function touch_session(session, owner, idle, now)
  if redis.call('HGET', key_session(session), 'owner') ~= owner then
    return false
  end
  redis.call('ZADD', key_sessions(owner), int(now), session)
  if redis.call('PTTL', key_session(session)) < idle * 0.9 then
    redis.call('PEXPIRE', key_session(session), idle)
    redis.call('PEXPIRE', key_requests(session), idle)
    redis.call('PEXPIRE', key_talking(session), idle)
    redis.call('PEXPIRE', key_subscribed(session), idle)
    redis.call('PEXPIRE', key_session_outbox(session), idle)
    redis.call('PEXPIRE', key_sessions(owner), idle)
    list_subscriptions(session, now + idle, now)
  end
  return true
end

-- Ends a session everywhere; its tasks are none of its business (X-15).
local function drop_session(session, owner)
  list_subscriptions(session, nil, now_ms())
  redis.call('UNLINK', key_session(session), key_requests(session), key_talking(session), key_hearers(session),
    key_subscribed(session), key_session_outbox(session))
  redis.call('ZREM', key_sessions(owner), session)
  redis.call('ZREM', key_all_sessions(), session)
  redis.call('PUBLISH', key_session_events(session), 'ended')
end
