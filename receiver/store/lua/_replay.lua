-- What streams were given is kept for a while: a client that lost a stream goes on with it.
-- include: streams

local LOG = 2 * OUTBOX -- messages kept of a stream; the oldest go first

-- What was kept for a stream behind a position ('' = all): {position, message} for each.
local function read_kept(stream, position)
  local kept = {}
  for i, entry in ipairs(redis.call('XRANGE', key_replay(stream), position == '' and '-' or ('(' .. position), '+')) do
    kept[i] = { entry[1], entry[2][2] }
  end
  return kept
end

-- Keeps a message for the stream: its client may lose it on its way, and its node the answer of this script.
local function keep(kept, stream, message, lease)
  local position = redis.call('XADD', key_replay(stream), 'MAXLEN', LOG, '*', 'message', message)
  redis.call('PEXPIRE', key_replay(stream), int(10 * lease))
  kept[#kept + 1] = { position, message }
end

-- Moves an outbox to the end of kept.  Returns false, and leaves it, where it would be more than is kept.
local function take_messages(kept, stream, outbox, lease)
  if #kept >= OUTBOX then
    return false
  end
  for _, message in ipairs(redis.call('LRANGE', outbox, 0, -1)) do
    keep(kept, stream, message, lease)
  end
  redis.call('DEL', outbox)
  return true
end

-- Moves what was written to a session to the end of kept: about one task, or all of it where id is nil.  Returns false
-- where it would be more than is kept.
local function take_letters(kept, stream, session, id, lease)
  for _, letter in ipairs(redis.call('LRANGE', key_session_outbox(session), 0, -1)) do
    local about, message = string.match(letter, '^([^\n]*)\n(.*)$')
    if not id or about == id then
      if #kept >= OUTBOX then
        return false
      end
      redis.call('LREM', key_session_outbox(session), 1, letter)
      keep(kept, stream, message, lease)
    end
  end
  return true
end
