-- Whether a session is to be told that a list is another one than its client was shown.
local function is_to_be_told(session, kind, digest)
  local shown, told = unpack(redis.call('HMGET', key_session(session), 'shown:' .. kind, 'told:' .. kind))
  return shown and shown ~= digest and told ~= digest
end
