#!lua flags=allow-oom
-- What is new of a session for one of its GET streams, which it renews: that the lists of this node are not those that
-- its client was shown, what is for this session alone, and messages and questions of all of its tasks that no stream
-- of their own hears.  The same call sent again is given the same again.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 stream, 2 connection, 3 '1' when the connection is new, 4 lease of a stream in ms, 5 session, 6 owner,
--       7 idle time of a session in ms, 8 position behind which messages are new, 9 what the client can be asked,
--       10 a mark of this call, 11... of each list of this node: kind, digest, the notification that it changed
-- Returns {{{position, message}...}, questions} | {-1} the session ended
--       | {-2} its client goes on with the stream by another connection
-- include: now
-- include: session
-- include: replay
-- include: questions
-- include: lists
local stream, begins, lease, session = ARGV[1], ARGV[3] == '1', tonumber(ARGV[4]), ARGV[5]
local now, questions = now_ms(), {}
if not touch_session(session, ARGV[6], tonumber(ARGV[7]), now) then
  return { -1 }
elseif not renew_stream(stream, ARGV[2], begins, key_hearers(session), now, lease) then
  return { -2 }
end
local kept = read_kept(stream, ARGV[8])
for i = 11, #ARGV, 3 do
  local kind, digest = ARGV[i], ARGV[i + 1]
  if is_to_be_told(session, kind, digest) then
    redis.call('HSET', key_session(session), 'told:' .. kind, digest)
    keep(kept, stream, ARGV[i + 2], lease)
  end
end

-- Takes the questions of a task; returns whether any is open.
local function take(id, addressed)
  local taken, is_any_open = take_questions(id, stream, ARGV[2], ARGV[10], session, ARGV[9], addressed)
  for _, question in ipairs(taken) do
    questions[#questions + 1] = question
  end
  return is_any_open
end

local is_all = take_letters(kept, stream, session, nil, lease)
for _, id in ipairs(redis.call('SMEMBERS', key_talking(session))) do
  if is_open(key_listeners(id), now) then
    take(id, true) -- the streams of the task may be those of another session
  else
    is_all = is_all and take_messages(kept, stream, key_outbox(id), lease)
    if not is_all then
      break
    elseif not take(id, false) then
      redis.call('SREM', key_talking(session), id)
    end
  end
end
if not is_all then
  redis.call('PUBLISH', key_session_events(session), 'message')
end
return { kept, questions }
