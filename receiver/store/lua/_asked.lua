-- The task and question that a request of ours asks about, and '1' if it is a poll of the client's task; nil unless
-- this session of this owner was asked (E-05).
local function find_asked(request, owner, session)
  local ask = redis.call('HMGET', key_ask(request), 'owner', 'task', 'question', 'asked:' .. session, 'poll')
  if ask[1] == owner and ask[4] then
    return ask[2], ask[3], ask[5]
  end
end
