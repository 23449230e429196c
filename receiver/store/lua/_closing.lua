-- Questions that end.  A question is open until it is answered, accepted while a task of the client's works on its
-- answer, then answered; or closed, when the answer is not wanted any more.
-- include: letters

local function is_open_state(state)
  return state == 'open' or state == 'accepted'
end

-- Whether a task still waits for any answer.
local function is_any_open(id)
  local flat = redis.call('HGETALL', key_inputs(id))
  for i = 1, #flat, 2 do
    if string.find(flat[i], ':state$') and is_open_state(flat[i + 1]) then
      return true
    end
  end
  return false
end

-- Forgets how a client's task was polled.
local function drop_poll(id, question)
  local poll = question .. '/poll'
  redis.call('HDEL', key_inputs(id), poll .. ':state', poll .. ':id', poll .. ':request', poll .. ':needs',
    poll .. ':to', poll .. ':given', poll .. ':session', poll .. ':answer')
end

-- Closes an open question.  Who was given it is told: a plain request is taken back, a task of the client's is
-- cancelled (T-73); one that may still begin is cancelled when that is heard of.
local function close_question(id, question)
  local fields = { question .. ':state', question .. ':session', question .. ':withdrawal', question .. ':cancel' }
  local state, session, withdrawal, cancel = unpack(redis.call('HMGET', key_inputs(id), unpack(fields)))
  redis.call('HSET', key_inputs(id), question .. ':state', 'closed')
  drop_poll(id, question)
  local message = state == 'open' and withdrawal or state == 'accepted' and cancel
  if session and message and message ~= '' then
    write_to(session, id, message)
  end
end

-- Closes all that are open.
local function close_questions(id)
  local flat = redis.call('HGETALL', key_inputs(id))
  for i = 1, #flat, 2 do
    local question = string.match(flat[i], '^(.+):state$')
    if question and is_open_state(flat[i + 1]) then
      close_question(id, question)
    end
  end
end
