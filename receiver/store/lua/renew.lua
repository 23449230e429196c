#!lua flags=allow-oom
-- Renews streams of a node that did not look for a while, and says which of them have to.
-- KEYS  1 prefix, 2 job prefix
-- ARGV  1 lease of a stream in ms, 2 idle time of a session in ms, 3 how many lists this node has, then kind and digest
--       of each, then of each stream: id, connection, session, owner, id of its task ('' = a stream of its session),
--       '1' if its client takes messages
-- Returns the ids of the streams that have to look
-- include: now
-- include: session
-- include: streams
-- include: lists
local lease, idle, now = tonumber(ARGV[1]), tonumber(ARGV[2]), now_ms()
local first_stream = 4 + 2 * ARGV[3]

local function is_any_list_new(session)
  for i = 4, first_stream - 1, 2 do
    if is_to_be_told(session, ARGV[i], ARGV[i + 1]) then
      return true
    end
  end
  return false
end

-- Whether there is nothing for a stream of a task.  Who looks is asked questions too.
local function is_task_quiet(id, session, listens)
  local status, unwanted = unpack(redis.call('HMGET', key_task(id), 'status', 'unwanted'))
  return status == 'working' and not unwanted
    and (not listens or redis.call('EXISTS', key_outbox(id), key_session_outbox(session)) == 0)
end

-- The same for a stream of a session.
local function is_session_quiet(session)
  return redis.call('EXISTS', key_talking(session), key_session_outbox(session)) == 0 and not is_any_list_new(session)
end

local looking = {}
for i = first_stream, #ARGV, 6 do
  local stream, connection, session, owner, id, listens = unpack(ARGV, i, i + 5)
  local holder, unwanted = unpack(redis.call('HMGET', key_stream(stream), 'connection', 'unwanted'))
  local lives = touch_session(session, owner, idle, now)
  local set, is_quiet
  if id == '' then
    set, is_quiet = key_hearers(session), lives and is_session_quiet(session)
  else
    set, is_quiet = listens == '1' and key_listeners(id), is_task_quiet(id, session, listens == '1')
  end
  if is_quiet and holder == connection and not unwanted then
    extend_stream(stream, set, now, lease)
  else
    looking[#looking + 1] = stream
  end
end
return looking
