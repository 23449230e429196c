#!lua flags=allow-oom
-- Ends a session for its owner.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 session, 2 owner, 3 nonce
-- Returns 1 (also for the same call sent again), or 0 if this owner has no such session
-- include: session
local session, owner, nonce = ARGV[1], ARGV[2], ARGV[3]
local found = redis.call('HMGET', key_session(session), 'owner', 'ended')
if found[2] == nonce then
  return 1
elseif found[1] ~= owner then
  return 0
end
drop_session(session, owner)
redis.call('HSET', key_session(session), 'ended', nonce)
redis.call('PEXPIRE', key_session(session), 60000)
return 1
