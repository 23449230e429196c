-- What a stream of a task takes.
-- include: replay
-- include: coming
-- include: questions

-- What is new of a task for a stream behind a position, for a client that takes messages.  call marks the call, asker
-- is the session that created the task.  Returns messages, questions, and whether that was all.
local function take_news(stream, connection, call, session, able, id, asker, position, lease, now)
  local kept = read_kept(stream, position)
  local before = #kept
  if not take_letters(kept, stream, session, id, lease) or not take_messages(kept, stream, key_outbox(id), lease) then
    redis.call('PUBLISH', key_events(id), 'message')
    return kept, {}, false
  end
  local questions, is_any_open = take_questions(id, stream, connection, call, session, able)
  if not is_any_open then
    redis.call('SREM', key_talking(session), id)
    redis.call('SREM', key_talking(asker or session), id)
  end
  expect_next(kept, before, id, now)
  return kept, questions, true
end
