#!lua flags=allow-oom
-- Ends the subscription of a session to a resource, if there is one: from now on it is not told of it.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 session, 2 uri, 3 the notification that this resource was updated
-- Returns 1
-- include: subscribers
local session, uri = ARGV[1], ARGV[2]
redis.call('SREM', key_subscribed(session), uri)
list_subscriber(uri, session, nil, now_ms())
redis.call('LREM', key_session_outbox(session), 0, '\n' .. ARGV[3])
return 1
