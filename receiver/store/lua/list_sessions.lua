#!lua flags=no-writes
-- A page of the sessions that live, of one owner or of all, from behind a position, which need no longer exist.
-- Those that end last, as far as is known, come first; of one owner, those heard of last.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 owner ('' = all), 2 size, 3 score of the position ('+inf' = from the start), 4 session of the position
-- Returns {more (0 | 1), position's score, position's session, {session, ms that it lives, last heard of, open streams,
--       requests under way, subscriptions, owner, created_at, protocol, client, log_level}...}
local FIELDS = { 'owner', 'created_at', 'protocol', 'client', 'log_level' }
local MOST = 2000 -- entries that one call looks at, sessions that ended but were not swept yet among them
local index, size = ARGV[1] == '' and key_all_sessions() or key_sessions(ARGV[1]), tonumber(ARGV[2])
local score, last, found, more = ARGV[3], ARGV[4], {}, 1

local function describe(session)
  local fields = redis.call('HMGET', key_session(session), unpack(FIELDS))
  if fields[1] then
    return { session, redis.call('PTTL', key_session(session)), redis.call('ZSCORE', key_sessions(fields[1]), session),
      redis.call('ZCARD', key_hearers(session)), redis.call('HLEN', key_requests(session)),
      redis.call('SCARD', key_subscribed(session)), unpack(fields) }
  end
end

local start = 0
if last ~= '' and redis.call('ZSCORE', index, last) == score then
  start = redis.call('ZREVRANK', index, last) + 1
elseif last ~= '' then
  start = redis.call('ZCOUNT', index, '(' .. score, '+inf')
end
local stop = start + MOST
while more == 1 and #found < size and start < stop do
  local entries = redis.call('ZREVRANGE', index, start, start + size - 1, 'WITHSCORES')
  more = #entries == 2 * size and 1 or 0
  for i = 1, #entries, 2 do
    if #found == size then
      more = 1
      break
    elseif entries[i + 1] ~= ARGV[3] or entries[i] < ARGV[4] then
      found[#found + 1] = describe(entries[i])
      score, last = entries[i + 1], entries[i]
    end
  end
  start = start + size
end
return { more, score, last, unpack(found) }
