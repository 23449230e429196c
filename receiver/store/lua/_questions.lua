-- Whether a client can be asked (L-02, E-01).  needs and able: names of capabilities, with spaces between.
local function can_be_asked(needs, able)
  for need in string.gmatch(needs, '%S+') do
    if not string.find(' ' .. able .. ' ', ' ' .. need .. ' ', 1, true) then
      return false
    end
  end
  return true
end

-- Whether a question is with a connection that lives.  given: 'stream/connection/call'; a call that is sent again is
-- given the same again.
local function is_held(given, call)
  local stream, connection, before = string.match(given or '', '^(.*)/(.*)/(.*)$')
  return stream and before ~= call and redis.call('HGET', key_stream(stream), 'connection') == connection
end

-- Questions in the order of their numbers, those of one method together.
local function comes_before(one, other)
  local method, number = string.match(one, '^(.*)#(%d+)')
  local other_method, other_number = string.match(other, '^(.*)#(%d+)')
  if method ~= other_method then
    return method < other_method
  end
  return tonumber(number) < tonumber(other_number)
end

-- The open questions of a task that no living connection was given: this one of a session takes them.  A poll of a
-- client's task goes to the session that has this task, and to no other.  addressed: takes nothing but polls.
-- Returns what it took, and whether anything is open.
local function take_questions(id, stream, connection, call, session, able, addressed)
  if redis.call('HGET', key_task(id), 'status') ~= 'input_required' then
    return {}, false -- a task that has ended asks no more
  end
  local names, taken, inputs, flat = {}, {}, {}, redis.call('HGETALL', key_inputs(id))
  for i = 1, #flat, 2 do
    inputs[flat[i]] = flat[i + 1]
  end
  for name, state in pairs(inputs) do
    names[#names + 1] = (state == 'open' or state == 'polling') and string.match(name, '^(.+):state$') or nil
  end
  table.sort(names, comes_before)
  for _, question in ipairs(names) do
    local to = inputs[question .. ':to']
    local is_ours = not to and not addressed or to == session
    if is_ours and not is_held(inputs[question .. ':given'], call) and can_be_asked(inputs[question .. ':needs'], able)
    then
      redis.call('HSET', key_inputs(id), question .. ':given', stream .. '/' .. connection .. '/' .. call,
        question .. ':session', session)
      redis.call('HSET', key_ask(inputs[question .. ':id']), 'asked:' .. session, '1')
      taken[#taken + 1] = inputs[question .. ':request']
    end
  end
  return taken, #names > 0
end
