-- What every request passes first, in the script that does its work: its session lives and is its requestor's, and
-- its requestor has not asked for too much.  Takes its own arguments off ARGV, so that the script finds its own.
-- ARGV  1 session ('' = needs none), 2 owner, 3 idle time of a session in ms, 4 whose requests are counted,
--       5 as what, 6 how many are allowed (0 = any number), 7 in how many ms, 8 who asks, for the audit trail
-- include: now
-- include: audit
-- include: session

-- In how many ms a request would be admitted: count were made since the window began, passed ms ago, and before in the
-- window before that, which weigh in proportion to what is left of the present one.
local function time_to_wait(count, before, limit, window, passed)
  if count < limit then -- in this window, when those before weigh less
    return math.max(1, math.ceil(window * (1 - (limit - count - 1) / before) - passed))
  end
  return math.max(1, math.ceil(window - passed + window * (1 - (limit - 1) / count)))
end

-- Counts a request, unless it is one too many.
local function check_rate(what, limit, window, now)
  local number, passed = math.floor(now / window), now % window
  local current = key_rate(what .. ':' .. int(number))
  local counts = redis.call('MGET', current, key_rate(what .. ':' .. int(number - 1)))
  local count, before = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
  if count + 1 + before * (1 - passed / window) > limit then
    return { 'refused', 'rate_limited', int(time_to_wait(count, before, limit, window, passed)) } -- T-91
  end
  if redis.call('INCR', current) == 1 then
    redis.call('PEXPIRE', current, 2 * window)
  end
end

local function admit(session, owner, idle, who, what, limit, window)
  local now = now_ms()
  if session ~= '' and not touch_session(session, owner, tonumber(idle), now) then
    return { 'refused', 'session' }
  end
  if limit ~= '0' then
    return check_rate(who .. ':' .. what, tonumber(limit), tonumber(window), now)
  end
end

local refused = admit(unpack(ARGV, 1, 7))
if refused then
  return refused
end
caller = ARGV[8]
local ARGV = { unpack(ARGV, 9) }
